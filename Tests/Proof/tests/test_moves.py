# SPDX-License-Identifier: Apache-2.0
"""Spoilt evidence for the rules on accounts that change: each line of a table spoils one thing,
and the rule beside it must find it. Beside what it just does not forbid stands what it does."""

import unittest
from unittest import mock

from proof import books, counts, evidence, moves
from proof.facts import Evidence
from proof.household import Good, Household
from tests.booked import grant, purchase
from tests.moved import (
    FIRST, FRIEND, LEFT, OPAQUE, OWNER, SECOND, THIRD, TRIED, answered, asked, heard, moved, sound,
)
from tests.spoiling import add, both, check_sound, check_spoilt, drop, row

ANSWERED = moves.moves_are_answered
TAKEN = moves.moves_take_what_they_give
PLACED = moves.purchases_are_where_they_were_sent
SHARED = moves.shares_are_what_was_asked_for
MERGED = moves.merged_accounts_are_empty
GONE = moves.erased_accounts_are_gone
NEWS = moves.news_of_the_erased_is_deleted
TRIED_ONLY = moves.rehearsals_change_nothing
UNITS = moves.units_are_in_one_account
#: The places in the sound evidence.
GIVEN, ERASURE = 2, 7


def share(account, number="p1"):
    return {"account": account, "transaction_id": number, "environment": "Sandbox"}


SPOILT = [
    # moves_are_answered
    ("a claim that is refused", ANSWERED, row(
        "heard", status=400, answer={"code": "textInvalid"})),
    ("a merge of what is not known", ANSWERED, row(
        "heard", 3, status=404, answer={"code": "accountUnknown"})),
    ("an erasure that is refused", ANSWERED, row("heard", ERASURE, status=409, answer={})),
    # moves_take_what_they_give
    ("credits that nobody gave", TAKEN, drop("ledger_credit_entries", 2)),
    ("credits that nobody got", TAKEN, drop("ledger_credit_entries", 3)),
    ("one credit more than was given", TAKEN, row("ledger_credit_entries", 3, wallet=21)),
    ("credits that were not spent by whom they were taken from", TAKEN, row(
        "ledger_credit_entries", 2, spent=0, written_off=-30)),
    ("a move that is told and not in the books", TAKEN, lambda evidence: [
        evidence.ledger_credit_entries.pop() for _ in range(4)]),
    ("a move of another sum than was told", TAKEN, row(
        "heard", GIVEN, answer={
            "outcome": "transferred", "credits": [{"currency": "gems", "amount": 19}]})),
    ("a move to another account than was told", TAKEN, both(
        row("ledger_credit_entries", 3, account=FRIEND),
        row("ledger_credit_entries", 4, account=FRIEND))),
    # purchases_are_where_they_were_sent
    ("a purchase in an account of nobody's", PLACED, row("ledger_purchases", account=FRIEND)),
    ("a purchase that a rehearsal moved", PLACED, row("ledger_purchases", 1, account=TRIED)),
    ("a purchase that was claimed and has no account", PLACED, row(
        "ledger_purchases", 1, account=None)),
    ("a purchase left where it was", PLACED, row("ledger_purchases", account=FIRST)),
    ("a purchase in an account that was merged", PLACED, row("ledger_purchases", account=SECOND)),
    ("a purchase erased unasked", PLACED, row("ledger_purchases", 1, account=OPAQUE)),
    ("a customer's purchase in a household", PLACED, row("ledger_purchases", 3, account=OWNER)),
    # shares_are_what_was_asked_for
    ("a share that nobody asked for", SHARED, add("ledger_shares", share(SECOND))),
    ("a share that a rehearsal made", SHARED, add("ledger_shares", share(TRIED))),
    ("a share of its own", SHARED, both(
        add("asked", asked("restore", OWNER, "p1")), add("ledger_shares", share(OWNER)))),
    ("a share that is lost", SHARED, drop("ledger_shares")),
    ("eleven shares", SHARED, both(
        add("asked", *(asked("restore", f"house-{n}", "p1") for n in range(10))),
        add("ledger_shares", *(share(f"house-{n}") for n in range(10))))),
    # merged_accounts_are_empty
    ("a merge that is lost", MERGED, drop("ledger_merges")),
    ("a merge that nobody asked for", MERGED, add(
        "ledger_merges", {"account": OWNER, "into_account": FRIEND})),
    ("an account that is part of a part", MERGED, both(
        add("asked", asked("merge", THIRD, into=OWNER)),
        add("ledger_merges", {"account": THIRD, "into_account": OWNER}))),
    ("a purchase left in a merged account", MERGED, row("ledger_purchases", account=SECOND)),
    ("a grant left in a merged account", MERGED, row("ledger_grants", account=SECOND)),
    ("a share left to a merged account", MERGED, row("ledger_shares", account=SECOND)),
    ("credits left in a merged account", MERGED, row(
        "ledger_credit_books", 1, wallet=20, issued=-20)),
    ("an entitlement told of a merged account", MERGED, add("audited", answered(
        "entitlements", SECOND, entitlements=[{"name": "pass"}]))),
    ("a balance told of a merged account", MERGED, row("audited", 1, answer={
        "balances": [{"currency": "gems", "balance": 1}]})),
    # erased_accounts_are_gone
    ("a row that names an erased account", GONE, add(
        "ledger_mentions", {"table": "webhooks_out", "name": LEFT})),
    ("a row that names what was part of it", GONE, both(
        add("heard", heard("merge", FRIEND, at=65, into=LEFT)),
        add("ledger_mentions", {"table": "audit", "name": FRIEND}))),
    ("an export of an erased account", GONE, row("heard", 9, status=200)),
    ("a purchase told of an erased account", GONE, row(
        "heard", 10, answer={"purchases": [{"transactionId": "c1"}]})),
    ("an answer about the opaque name", GONE, row("audited", 3, status=200)),
    # news_of_the_erased_is_deleted
    ("a notification that is kept with its contents", NEWS, add(
        "ledger_news", {"notification_id": "n2", "transaction_id": "c1"})),
    # rehearsals_change_nothing
    ("an account that a rehearsal made", TRIED_ONLY, add("ledger_accounts", {"account": TRIED})),
    # units_are_in_one_account
    ("a unit that two accounts may redeem", UNITS, add("audited", answered(
        "unspent", OWNER, purchases=[{"transactionId": "c2"}]))),
    ("a unit of no purchase", UNITS, row(
        "audited", answer={"purchases": [{"transactionId": "c9"}]})),
]

SOUND = [
    ("a restore whose answer is lost", both(
        drop("heard", GIVEN), add("asked", asked("restore", FRIEND, "g1")))),
    ("a restore that came late, after another", both(
        row("heard", GIVEN, calm=False), row("ledger_purchases", account=FIRST),
        row("ledger_grants", account=FIRST))),
    ("a share that moved with a merge", both(
        add("heard", heard("merge", FRIEND, at=95, into=OWNER)),
        add("asked", asked("merge", FRIEND, into=OWNER)),
        add("ledger_merges", {"account": FRIEND, "into_account": OWNER}),
        drop("ledger_shares"))),
    ("a share of what was moved later", both(
        drop("ledger_shares"), add("asked", asked("restore", THIRD, "p1")),
        add("heard", heard("restore", THIRD, "p1", 58, outcome="transferred")))),
    ("an erased account with a part of it", both(
        drop("ledger_merges"), row("ledger_purchases", account=OPAQUE),
        row("ledger_grants", account=OPAQUE), row("ledger_credit_entries", 5, account=OPAQUE),
        row("ledger_credit_books", 2, account=OPAQUE), drop("ledger_news"),
        add("asked", asked("erase", THIRD)), add("heard", heard("erase", THIRD, at=95)))),
    ("an erasure that found nothing left", row(
        "heard", ERASURE, status=404, answer={"code": "accountUnknown"})),
]


class SpoiltTests(unittest.TestCase):
    def test_each_rule_finds_what_was_spoilt(self):
        check_spoilt(self, SPOILT, lambda _: sound())

    def test_no_rule_finds_what_is_sound(self):
        check_sound(self, moves.RULES, SOUND, sound)

    def test_every_rule_is_spoilt_here(self):
        self.assertEqual({rule for _, rule, _ in SPOILT}, set(moves.RULES))

    def test_without_a_ledger_nothing_is_judged(self):
        for rule in moves.RULES:
            self.assertEqual(list(rule(Evidence())), [])

    def test_what_happened_is_counted(self):
        found = counts.moved(sound())
        wanted = {
            "purchases moved": 1, "purchases shared": 1, "moves refused": 1, "moves tried": 1,
            "accounts merged": 1, "accounts erased": 1,
        }
        self.assertEqual({name: found[name] for name in wanted}, wanted)


class BookTests(unittest.TestCase):
    """The rules on books where purchases change hands."""

    RULES = [
        books.credits_add_up, books.grants_are_those_of_the_products,
        books.spendings_are_done_once, books.entitlements_are_what_was_proven]

    def test_what_was_spent_goes_with_the_purchase(self):
        for rule in self.RULES:
            self.assertEqual(list(rule(sound())), [])

    def test_a_move_that_leaves_what_was_spent_is_found(self):
        evidence = sound()
        row("ledger_credit_entries", 2, spent=0, issued=20)(evidence)
        row("ledger_credit_books", spent=30, issued=-30)(evidence)
        self.assertTrue(list(books.credits_add_up(evidence)))

    def test_a_spending_keeps_its_key_when_its_account_is_erased(self):
        evidence = sound()
        row("ledger_credit_entries", 1, account=OPAQUE)(evidence)
        self.assertEqual(list(books.spendings_are_done_once(evidence)), [])
        drop("ledger_credit_entries", 1)(evidence)
        self.assertTrue(list(books.spendings_are_done_once(evidence)))

    def test_who_shares_a_purchase_has_its_entitlement(self):
        evidence = sound()
        add("audited", answered("entitlements", FRIEND, entitlements=[]))(evidence)
        self.assertTrue(list(books.entitlements_are_what_was_proven(evidence)))
        drop("ledger_shares")(evidence)
        self.assertEqual(list(books.entitlements_are_what_was_proven(evidence)), [])


class GatheringTests(unittest.TestCase):
    """What the checker reads of households."""

    def handed(self, verb, status):
        gathered = Evidence()
        entries = [{"act": "ask", "call": 1, "verb": verb, "at": 1, "asked": {
            "signedTransaction": "e30.e30.e30", "account": FIRST}}]
        if status is not None:
            entries.append({"act": "heard", "call": 1, "at": 2, "status": status, "answer": "{}"})
        evidence.add_taken(gathered, entries)
        return [(proof["account"], proof["status"]) for proof in gathered.proofs]

    def test_what_a_household_hands_in_is_a_proof_of_no_account(self):
        self.assertEqual(self.handed("take", 409), [(FIRST, 409)])
        for verb in ("claim", "restore", "show"):
            self.assertEqual(self.handed(verb, 200), [(None, 200)])
            self.assertEqual(self.handed(verb, None), [(None, None)])
            self.assertEqual(self.handed(verb, 409), [])
        self.assertEqual(self.handed("rehearse", 200), [])

    def test_a_table_that_names_an_erased_account_is_found(self):
        tables = {
            "webhooks_out": [{"account": "8", "body": f"{{\"account\": \"{LEFT}\"}}"}],
            "notifications_in": [
                {"notification_id": "n1", "payload": "erased"},
                {"notification_id": "n2", "payload": "e30.e30.e30"}],
        }
        gathered = Evidence(asked=[asked("erase", LEFT), asked("merge", FRIEND, into=LEFT)])
        evidence.add_accounts(gathered, lambda name: tables.get(name, []))
        self.assertEqual(gathered.ledger_mentions, [{"table": "webhooks_out", "name": LEFT}])
        self.assertEqual([each["notification_id"] for each in gathered.ledger_news], ["n2"])


class HouseholdTests(unittest.TestCase):
    """What a household believes after an answer."""

    def setUp(self):
        world = {"asksToBuy": False, "environment": "Sandbox", "bundle": "b"}
        self.answers = []
        ledger = mock.Mock(ask=lambda *_, **__: self.answers.pop(0))
        lot = mock.Mock(getrandbits=lambda _: 7, randrange=lambda _: 1)
        self.household = Household("d1", lot, [], [], mock.Mock(), world, ledger)
        self.good = Good("g1", "signed", "gems.50", 1)
        self.household._goods.append(self.good)
        self.good.home = FIRST

    def test_an_errand_without_an_answer_is_repeated(self):
        self.answers = [[None], [(200, {"outcome": "transferred"})]]
        self.household._give(self.good, SECOND)
        self.assertEqual((self.good.home, len(self.household._errands)), (FIRST, 1))
        self.household._keep_house()
        self.assertEqual((self.good.home, self.household._errands), (SECOND, []))

    def test_the_last_state_of_all_is_shown_at_the_end(self):
        self.household._states, self.household._news = {"g1": "last"}, ["g1"]
        self.answers = [[None], [(200, {})]]
        with mock.patch.object(Household, "follow", lambda _: True), \
                mock.patch.object(Household, "fetch_receipt", lambda _: True):
            self.assertTrue(self.household.read_on(2))
        self.assertEqual((self.household._news, self.answers), ([], []))

    def test_a_purchase_stays_where_it_is_kept_or_shared(self):
        for outcome in ("kept", "shared"):
            self.answers = [[(200, {"outcome": outcome})]]
            self.household._give(self.good, SECOND)
            self.assertEqual(self.good.home, FIRST)

    def test_a_merged_account_is_left_and_an_erased_one_remembered(self):
        self.household._homes = [FIRST, SECOND, THIRD]
        self.answers = [[(200, {})], [(404, {}), (200, {})]]
        self.household._merge(FIRST, SECOND)
        self.assertEqual((self.good.home, self.household._homes), (SECOND, [SECOND, THIRD]))
        self.household._erase(SECOND)
        self.assertEqual(self.household._goods, [])
        self.assertEqual(self.household._gone, [SECOND, FIRST])
        self.assertEqual(len(self.household._homes), 2)


if __name__ == "__main__":
    unittest.main()
