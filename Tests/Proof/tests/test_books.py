# SPDX-License-Identifier: Apache-2.0
"""Spoilt evidence for the rules on the ledger's books: each line of a table spoils one thing,
and the rule beside it must find it. Beside what it just does not forbid stands what it does."""

import base64
import json
import unittest

from proof import books, counts, entitled, worlds
from proof.facts import Evidence
from proof.fold import DAY
from proof.ledger import Proofs
from tests.booked import (
    CUSTOMER, GRACE, NOW, PASSES, REALM, REVOKED, START, entitlement, entry, grant, heard, proof,
    purchase, sale, signed, sound, spending, unit,
)
from tests.spoiling import add, both, check_sound, check_spoilt, drop, row

PROVEN = books.ledger_holds_what_was_proven
ACCEPTED = books.proofs_are_accepted
STORE = books.ledger_agrees_with_the_store
GRANTED = books.grants_are_those_of_the_products
CREDITS = books.credits_add_up
SPENT = books.spendings_are_done_once
ENTITLED = books.entitlements_are_what_was_proven
ANSWERED = books.answers_have_what_was_acknowledged
RESERVED = books.reservations_end_one_way
PROMISED = books.units_are_promised_once
TAKEN_BACK = books.what_was_taken_back_is_not_spent


def held(key, start=0, end=900_000, **other):
    return unit(key, reserved_at=START + start, expires_at=START + end, **other)


def refunded_coins(at=35):
    """The ledger acknowledges that the coins were refunded."""
    return both(
        add("proofs", proof(signed("c1", "coins", quantity=2, signedDate=NOW + 1, **REVOKED), at)),
        row("transactions", 5, revoked_at=START + DAY),
        row("ledger_purchases", 5, signed_at=NOW + 1, revoked_at=START + DAY, revocation_reason=1))


SPOILT = [
    # ledger_holds_what_was_proven
    ("an acknowledged purchase that is lost", PROVEN, drop("ledger_purchases")),
    ("a purchase that nobody proved", PROVEN, drop("proofs")),
    ("a revocation that was forgotten", PROVEN, row("ledger_purchases", 1, revoked_at=None)),
    ("a revocation of another reason", PROVEN, row("ledger_purchases", 1, revocation_reason=0)),
    ("an older state that came later", PROVEN, row(
        "ledger_purchases", 1, signed_at=NOW, revoked_at=None, revocation_reason=None)),
    ("a date that nobody signed", PROVEN, row("ledger_purchases", signed_at=NOW + 9)),
    ("another end of a period", PROVEN, row("ledger_terms", expires_at=START)),
    ("an upgrade that nobody signed", PROVEN, row("ledger_terms", is_upgraded=True)),
    ("another account", PROVEN, row("ledger_purchases", account="8")),
    ("another grace", PROVEN, row("ledger_renewals", grace_until=GRACE + 1)),
    ("a grace of an earlier date", PROVEN, row("ledger_renewals", signed_at=NOW - 1)),
    # proofs_are_accepted
    ("a proof that is refused", ACCEPTED, row(
        "proofs", status=409, answer={"code": "purchaseContradicts"})),
    ("a sandbox's proof from the future", ACCEPTED, row(
        "proofs", status=400, answer={"code": "proofInvalid"})),
    # ledger_agrees_with_the_store
    ("a refund that the ledger did not hear of", STORE, row("transactions", revoked_at=NOW)),
    ("a refund taken back that it did not hear of", STORE,
     row("transactions", 1, revoked_at=None)),
    ("an extension that it did not hear of", STORE, row("transactions", 4, expires_at=NOW)),
    ("an upgrade that it did not hear of", STORE, row("transactions", 4, is_upgraded=True)),
    ("the same where another clock was set back", STORE, both(
        add("deeds", {"verb": "stop", "realm": "ruled", "status": 200}),
        row("transactions", revoked_at=NOW))),
    ("the same where no jump was to be stopped", STORE, both(
        add("deeds", {"verb": "stop", "realm": "billed", "status": 409}),
        row("transactions", revoked_at=NOW))),
    ("a renewal that it did not hear of", STORE, add("transactions", sale("s2"))),
    # grants_are_those_of_the_products
    ("a purchase that granted nothing", GRANTED, drop("ledger_grants")),
    ("a grant that stands twice", GRANTED,
     add("ledger_grants", grant("g1", "credits", "gems", 50))),
    ("a grant of no purchase", GRANTED, add("ledger_grants", grant("g9", "credits", "gems", 50))),
    ("a grant of another amount", GRANTED, row("ledger_grants", amount=51)),
    ("a grant for one unit of two", GRANTED, row("ledger_purchases", quantity=2)),
    ("a grant to another account", GRANTED, row("ledger_grants", account="8")),
    ("a grant of another date", GRANTED, row("ledger_grants", 2, purchased_at=START + 1)),
    ("a grant that was not reversed", GRANTED, row("ledger_grants", 1, is_reversed=False)),
    ("a grant reversed for nothing", GRANTED, row("ledger_grants", is_reversed=True)),
    ("a grant of another policy", GRANTED, row("ledger_grants", on_reversal="keep")),
    ("a grant without an account", GRANTED, row("ledger_purchases", 2, account=None)),
    # credits_add_up
    ("an entry that is lost", CREDITS, drop("ledger_credit_entries", 2)),
    ("an entry numbered twice", CREDITS, row("ledger_credit_entries", 2, number=2)),
    ("legs that do not come to zero", CREDITS, row("ledger_credit_entries", written_off=1)),
    ("another balance beside an entry", CREDITS, row("ledger_credit_entries", 2, balance=99)),
    ("a book that is not its entries", CREDITS, row("ledger_credit_books", wallet=21, issued=-51)),
    ("entries without a book", CREDITS, drop("ledger_credit_books")),
    ("spent credits that no purchase gave", CREDITS, row("ledger_grants", consumed=29)),
    ("a reversal that took nothing", CREDITS, row("ledger_grants", is_reversed=True)),
    ("a debt that was not one", CREDITS, both(
        row("ledger_credit_books", wallet=-10, written_off=30),
        row("ledger_credit_entries", 3, wallet=-110, balance=-10, written_off=30),
        row("ledger_grants", 1, amount=50, on_reversal="remove"))),
    # spendings_are_done_once
    ("an acknowledged spending that is lost", SPENT, drop("ledger_credit_entries", 1)),
    ("a spending that was done twice", SPENT, add("ledger_credit_entries", entry(
        5, "spending", -10, -30, 0, 30, idempotency_key="s1"))),
    ("a spending of another amount", SPENT, row("ledger_credit_entries", 1, spent=31)),
    ("a spending that nobody asked for", SPENT, drop("asked")),
    ("a repeat with another balance", SPENT, add("heard", spending(33, balance=19))),
    ("a key that took another amount", SPENT, add("heard", spending(
        33, verb="spend otherwise", asked={"amount": 31}))),
    ("a spending refused without a reason", SPENT, add("heard", heard(
        "spend", 33, "s3", 400, answer={"code": "textInvalid"}, asked={"amount": 1}))),
    # entitlements_are_what_was_proven
    ("an entitlement that lasts too long", ENTITLED, row("audited", answer={"entitlements": [
        entitlement("pass", PASSES + 1), entitlement("gold", GRACE)]})),
    ("an entitlement that ended too early", ENTITLED, row("audited", answer={"entitlements": [
        entitlement("pass", PASSES, False), entitlement("gold", GRACE)]})),
    ("an entitlement that is not told", ENTITLED, row("audited", answer={"entitlements": [
        entitlement("pass", PASSES)]})),
    ("an entitlement of nothing", ENTITLED, row("audited", answer={"entitlements": [
        entitlement("pass", PASSES), entitlement("gold", GRACE), entitlement("ape", NOW)]})),
    ("a period that was revoked", ENTITLED, row("ledger_purchases", 2, revoked_at=START + DAY)),
    ("a grace that is over", ENTITLED, row("ledger_renewals", grace_until=NOW)),
    ("an answer that is refused", ENTITLED, row("audited", status=500)),
    ("a balance that is not the book's", ENTITLED, row(
        "audited", 1, answer={"balances": [{"currency": "gems", "balance": 21}]})),
    # answers_have_what_was_acknowledged
    ("an answer without what was acknowledged before", ANSWERED, add("heard", heard(
        "entitlements", 50, answer={"entitlements": [entitlement("pass", PASSES)]}))),
    # reservations_end_one_way
    ("a reservation that is lost", RESERVED, drop("ledger_reservations", 1)),
    ("a reservation of another purchase", RESERVED, row(
        "ledger_reservations", 1, transaction_id="c2")),
    ("a confirmation that is lost", RESERVED, row(
        "ledger_reservations", unit=None, redeemed_at=None)),
    ("a release that is lost", RESERVED, row("ledger_reservations", 1, released_at=None)),
    ("confirmed and released", RESERVED, row("ledger_reservations", released_at=START + 9)),
    ("told confirmed and told released", RESERVED, add("heard", heard("release", 28, "r1"))),
    ("a reservation of other seconds", RESERVED, row(
        "ledger_reservations", 1, expires_at=START + 899_999)),
    # units_are_promised_once
    ("one unit held three times", PROMISED, add(
        "ledger_reservations", held("h1"), held("h2"))),
    ("a unit held that was spent", PROMISED, add(
        "ledger_reservations", held("h1", 5), held("h2", 6))),
    # what_was_taken_back_is_not_spent
    ("a unit spent after its refund", TAKEN_BACK, both(
        refunded_coins(), add("heard", heard("redeem", 60, "r9")))),
    ("a unit reserved after its refund", TAKEN_BACK, both(
        refunded_coins(), add("heard", heard("reserve", 60, "r9")))),
]

SOUND = [
    ("a proof without an answer", add(
        "proofs", proof(signed("g1", "gems.50", signedDate=NOW + 5), status=None, at=0))),
    ("production's proof from the future", add("proofs", proof(
        signed("g1", "gems.50", environment="Production"), status=400,
        answer={"code": "proofInvalid"}))),
    ("a purchase of no account, which grants nothing", both(
        row("ledger_purchases", 2, account=None), row("ledger_purchases", 3, account=None),
        lambda evidence: [evidence.ledger_grants.pop(2) for _ in range(2)],
        lambda evidence: [each.update(account=None) for each in evidence.proofs],
        row("audited", answer={"entitlements": [entitlement("gold", GRACE)]}))),
    ("a realm whose clock was set back", both(
        add("deeds", {"verb": "stop", "realm": "billed"}), row("transactions", revoked_at=NOW))),
    ("a realm whose clock was set back, as was told", both(
        add("deeds", {"verb": "stop", "realm": "billed", "status": 200}),
        row("transactions", revoked_at=NOW))),
    ("a spending refused and done later", both(
        lambda evidence: evidence.heard.__setitem__(5, heard(
            "spend", 29, "s1", 409, answer={"code": "creditsMissing"}, asked={"amount": 30})))),
    ("another amount refused", add("heard", heard(
        "spend otherwise", 33, "s1", 409, answer={"code": "spendingContradicts"},
        asked={"amount": 31}))),
    ("an answer from before the acknowledgement", add("heard", heard(
        "entitlements", 10, answer={"entitlements": []}))),
    ("an end between the audit's two instants", both(
        row("ledger_renewals", grace_until=NOW + 3),
        row("renewal_proofs", signed={
            "originalTransactionId": "s1", "signedDate": NOW, "gracePeriodExpiresDate": NOW + 3}),
        row("audited", answer={"entitlements": [
            entitlement("pass", PASSES), entitlement("gold", NOW + 3)]}))),
    ("a reservation that expired before the next one", both(
        add("ledger_reservations", held("h1", 10, 20), held("h2", 20, 30)),
        add("asked", *({"verb": "reserve", "customer": CUSTOMER, "idempotency_key": key,
                        "asked": {"seconds": 0.01}} for key in ("h1", "h2"))))),
    ("a reservation confirmed after its refund", both(
        refunded_coins(), add("heard", heard("confirm", 60, "r1")))),
    ("a repeat after the refund", both(
        refunded_coins(), add("heard", heard("reserve", 60, "r1")))),
    ("a unit spent after a refund that may have been taken back", both(
        refunded_coins(), add("proofs", proof(
            signed("c1", "coins", signedDate=NOW + 2), status=None)),
        add("heard", heard("redeem", 60, "r9")))),
]


class SpoiltTests(unittest.TestCase):
    def test_each_rule_finds_what_was_spoilt(self):
        check_spoilt(self, SPOILT, lambda _: sound())

    def test_no_rule_finds_what_is_sound(self):
        check_sound(self, books.RULES, SOUND, sound)

    def test_without_a_ledger_nothing_is_judged(self):
        for rule in books.RULES:
            self.assertEqual(list(rule(Evidence(transactions=[sale("g1")], moving={REALM}))), [])

    def test_every_rule_is_spoilt_here(self):
        tried = {rule for _, rule, _ in SPOILT}
        self.assertEqual(tried, set(books.RULES))

    def test_units_are_not_judged_while_a_clock_was_stepped(self):
        evidence = sound()
        add("ledger_reservations", held("h1"), held("h2"))(evidence)
        evidence.seconds_stepped = 60
        self.assertEqual(list(PROMISED(evidence)), [])

    def test_a_revocation_counts_until_it_is_taken_back(self):
        for back, wanted in ((NOW + 1, 0), (NOW + 2, 0), (NOW, 1)):
            evidence = sound()
            refunded_coins()(evidence)
            add("proofs", proof(signed("c1", "coins", signedDate=back), 23))(evidence)
            add("heard", heard("redeem", 60, "r9"))(evidence)
            self.assertEqual(len(list(TAKEN_BACK(evidence))), wanted, back)

    def test_what_happened_is_counted(self):
        found = counts.booked(sound())
        wanted = {
            "granted": 5, "spendings": 1, "revocations booked": 1, "reservations confirmed": 1,
            "reservations released": 1, "reservations expired": 0,
        }
        self.assertEqual({name: found[name] for name in wanted}, wanted)


def bought(number, product, at=START, **other):
    return purchase(number, product, purchased_at=at, **other) | {
        "terms": None, "grace_until": None}


def subscribed(number, at, end, grace=None, is_upgraded=False, **other):
    return purchase(
        number, "gold", purchased_at=at, original_transaction_id="s1", **other) | {
        "terms": {"expires_at": end, "is_upgraded": is_upgraded}, "grace_until": grace}


class EntitledTests(unittest.TestCase):
    """The checker's own reading of how long an entitlement lasts."""

    RULES = {
        "pass.30": [{"kind": "entitlement", "name": "pass", "lasting": "period", "days": 30}],
        "gold": [{"kind": "entitlement", "name": "gold", "lasting": "grace"}],
        "pro": [{"kind": "entitlement", "name": "pro", "lasting": "forever"}],
    }

    def until(self, now, *facts):
        (spans,) = entitled.spans_of(facts, self.RULES).values()
        return entitled.reach(spans, now)

    def test_periods_follow_each_other(self):
        first, second = bought("1", "pass.30"), bought("2", "pass.30", START + 5 * DAY)
        self.assertEqual(self.until(START, first, second), START + 60 * DAY)
        self.assertIsNone(self.until(START + 60 * DAY, first, second))
        late = bought("2", "pass.30", START + 31 * DAY, quantity=2)
        self.assertEqual(self.until(START, first, late), START + 30 * DAY)
        self.assertEqual(self.until(START + 40 * DAY, first, late), START + 91 * DAY)
        self.assertIsNone(self.until(START + 30 * DAY, first, late))

    def test_what_follows_a_revoked_period_moves_up(self):
        first = bought("1", "pass.30", revoked_at=START + 10 * DAY)
        second = bought("2", "pass.30", START + 5 * DAY)
        self.assertEqual(self.until(START, first, second), START + 40 * DAY)
        self.assertIsNone(self.until(START, bought("1", "pass.30", revoked_at=START - 1)))

    def test_for_ever_lasts_until_it_is_revoked(self):
        self.assertEqual(self.until(NOW, bought("1", "pro")), entitled.FOREVER)
        self.assertEqual(self.until(NOW - 1, bought("1", "pro", revoked_at=NOW)), NOW)
        self.assertIsNone(self.until(NOW, bought("1", "pro", revoked_at=NOW)))

    def test_a_subscription_lasts_as_signed(self):
        week, next_week = START + 7 * DAY, START + 14 * DAY
        first, second = subscribed("1", START, week), subscribed("2", week, next_week)
        self.assertEqual(self.until(START, first, second), next_week)
        self.assertEqual(self.until(START, subscribed("1", START, week, week + DAY)), week + DAY)
        # Its last period alone has a grace, and only one that is longer.
        graced = subscribed("1", START, week, next_week + 9)
        self.assertEqual(self.until(START, graced, second), next_week)
        self.assertEqual(self.until(START, subscribed("1", START, week, week)), week)

    def test_an_upgrade_ends_a_period_at_the_next(self):
        first = subscribed("1", START, START + 7 * DAY, is_upgraded=True)
        self.assertEqual(self.until(START, first), START + 7 * DAY)
        second = subscribed("2", START + 8 * DAY, START + 9 * DAY)
        self.assertEqual(self.until(START, first, second), START + 7 * DAY)
        second = subscribed("2", START + DAY, START + DAY + 5, revoked_at=START + DAY)
        self.assertEqual(self.until(START, first, second), START + DAY)

    def test_another_product_ends_a_period_that_is_not_marked(self):
        week = START + 7 * DAY
        first, second = subscribed("1", START, week), subscribed("2", START + DAY, week + DAY)
        periods = {("s1",): [first, {**second, "product_id": "other"}]}
        (spans,) = entitled.spans_of([first], self.RULES, periods).values()
        self.assertEqual(spans, [(START, START + DAY)])

    def test_an_upgrade_at_one_date_ends_the_lower_period(self):
        first = subscribed("1", START, START + 7 * DAY, is_upgraded=True)
        second = subscribed("2", START, START + 7 * DAY)
        (spans,) = entitled.spans_of([first, second], self.RULES).values()
        self.assertEqual(spans, [(START, START), (START, START + 7 * DAY)])

    def test_an_upgrade_replaces_what_was_charged_ahead(self):
        week, month = START + 7 * DAY, 30 * DAY
        upgrade = {**subscribed("3", week - 9, week - 9 + month), "product_id": "other"}
        first, ahead = subscribed("1", START, week), subscribed("2", week, week + month)
        periods = {("s1",): [first, ahead, upgrade]}
        (spans,) = entitled.spans_of([first, ahead], self.RULES, periods).values()
        self.assertEqual(spans, [(START, week - 9), (week, week)])
        bought_then = {**ahead, "transaction_id": "4"}
        periods = {("s1",): [first, bought_then, upgrade]}
        (spans,) = entitled.spans_of([first, bought_then], self.RULES, periods).values()
        self.assertEqual(spans, [(START, week - 9), (week, week + month)])

    def test_a_tester_ends_what_was_charged_ahead(self):
        week = START + 7 * DAY
        first, ahead = subscribed("1", START, week), subscribed("2", week, START + DAY)
        (spans,) = entitled.spans_of([first, ahead], self.RULES).values()
        self.assertEqual(spans[0], (START, START + DAY))

    def test_the_ninth_purchase_comes_before_the_tenth(self):
        lower = subscribed("9", START, START + 7 * DAY, is_upgraded=True)
        higher = subscribed("10", START, START + 7 * DAY)
        (spans,) = entitled.spans_of([higher, lower], self.RULES).values()
        self.assertEqual(spans, [(START, START), (START, START + 7 * DAY)])

    def test_periods_of_other_accounts_count(self):
        week = START + 7 * DAY
        first = subscribed("1", START, week, week + DAY)
        upgraded = subscribed("1", START, week, is_upgraded=True)
        for own, wanted in [(first, week), (upgraded, START + DAY)]:
            periods = {("s1",): [own, subscribed("2", START + DAY, week + 2)]}
            (spans,) = entitled.spans_of([own], self.RULES, periods).values()
            self.assertEqual(spans, [(START, wanted)])

    def test_a_subscription_without_an_end_gives_nothing(self):
        self.assertIsNone(self.until(START, bought("1", "gold")))


def text(**facts):
    body = base64.urlsafe_b64encode(json.dumps(facts).encode()).decode().rstrip("=")
    return f"e30.{body}.e30"


class ProofsTests(unittest.TestCase):
    """What a device still has to hand in."""

    def test_the_state_that_was_signed_last_is_handed_in(self):
        proofs, first, second = Proofs(), text(signedDate=1), text(signedDate=2)
        proofs.learn("1", second)
        proofs.learn("1", first)
        proofs.learn("1", second)
        self.assertEqual((proofs.last["1"], proofs.open), (second, ["1"]))
        self.assertIn(("1", first), proofs.stale)

    def test_an_older_state_settles_nothing(self):
        proofs, first, second = Proofs(), text(signedDate=1), text(signedDate=2)
        proofs.learn("1", first)
        proofs.learn("1", second)
        proofs.settle("1", first)
        self.assertEqual(proofs.open, ["1"])
        proofs.settle("1", second)
        self.assertEqual(proofs.open, [])


class FileTests(unittest.TestCase):
    def test_the_ledgers_file_says_what_the_checker_reads(self):
        grants = {name: worlds.words(grant) for name, (grant,) in worlds.GRANTS.items()}
        self.assertEqual(grants["gems.80"], ["credits: gems", "amount: 80", "onReversal: debt"])
        self.assertEqual(grants["pass.30"], ["entitlement: pass", "lasts: P30D"])
        self.assertEqual(
            grants["gold.month"], ["entitlement: gold", "lasts: subscribed", "grace: true"])
        self.assertEqual(grants["bronze.week"], ["entitlement: bronze", "lasts: subscribed"])
        self.assertEqual(grants["no.ads"], ["entitlement: no.ads", "lasts: forever"])


if __name__ == "__main__":
    unittest.main()
