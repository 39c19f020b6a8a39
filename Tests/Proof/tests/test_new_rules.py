# SPDX-License-Identifier: Apache-2.0
"""Spoilt evidence for the rules on money, deliveries, lines and apps: each line
of a table spoils one thing, and the rule named beside it must find it."""

import unittest

from proof import apps, counts, deliveries, lines, money, rules
from tests.sound import (
    BUNDLE, CUSTOMER, bought, charged, fork, heard, kit, purchase_row, received, redemption,
    signed, sound, transaction_row,
)
from tests.spoiling import add, both, check_spoilt, row


def order(**changed):
    """Changes what the processor was asked to charge."""
    return lambda evidence: evidence.processor[0]["order"].update(changed)


def told(**changed):
    """Changes what was signed for the device."""
    return lambda evidence: evidence.heard[0]["signed"].update(changed)


def log(*acts, purchase="p1"):
    """Replaces the processor's log of the purchase."""
    return lambda evidence: evidence.__setattr__(
        "processor", [charged(purchase, act) for act in acts])


def receipt(**changed):
    return row("receipts", **changed)


ONCE = {"price": 990, "isOnce": True, "currency": "USD", "storefront": "USA"}
OWNED = {"transaction": "100", "product": "coins", "quantity": 2}
#: The app is sound: it was told of its payment, and the payment's row carries its tag.
DELIVERED = both(row("purchases", application_username="t1"), add("kits", kit("purchased")))

SPOILT = [
    # sums_are_right
    ("another total", money.sums_are_right, row("transactions", total_price=990)),
    ("another unit price", money.sums_are_right, row("transactions", unit_price=1980)),
    ("another quantity", money.sums_are_right, row("transactions", quantity=3)),
    ("another currency", money.sums_are_right, row("transactions", currency="EUR")),
    ("another storefront", money.sums_are_right, row("transactions", storefront="DEU")),
    ("a product that is not sold", money.sums_are_right, row("transactions", product_id="gold")),
    ("another sum charged", money.sums_are_right, order(total=1)),
    ("another currency charged", money.sums_are_right, order(currency="EUR")),
    ("another customer charged", money.sums_are_right, order(customer="8")),
    ("another app charged", money.sums_are_right, order(bundleId="com.example.other")),
    ("another product charged", money.sums_are_right, order(productId="gold")),
    ("another price told", money.sums_are_right, told(price=990)),
    ("another currency told", money.sums_are_right, told(currency="EUR")),
    ("another storefront told", money.sums_are_right, told(storefront="DEU")),
    # non_consumables_are_paid_once
    ("a sale revoked", money.non_consumables_are_paid_once, row("transactions", revoked_at=60)),
    ("a non-consumable sold twice", money.non_consumables_are_paid_once, both(
        row("transactions", product_type="non-consumable"),
        add("transactions", transaction_row(101, "p2", product_type="non-consumable")))),
    ("a non-consumable charged twice", money.non_consumables_are_paid_once, both(
        lambda evidence: evidence.catalogue.update(coins=ONCE),
        add("processor", charged("p2")))),
    # unfinished_is_not_sold_again
    ("a purchase sold again before it was finished", money.unfinished_is_not_sold_again,
     add("transactions", transaction_row(101, "p2", purchased_at=59))),
    ("a purchase sold again that was never finished", money.unfinished_is_not_sold_again, both(
        row("transactions", finished_at=None),
        add("transactions", transaction_row(101, "p2", purchased_at=70)))),
    # charges_stand_in_order
    ("a void before the charge", money.charges_stand_in_order, log("void", "charge")),
    ("a charge after the void", money.charges_stand_in_order, log("charge", "void", "charge")),
    ("a charge asked for after the void", money.charges_stand_in_order,
     log("charge", "void", "late charge")),
    ("a capture after the void", money.charges_stand_in_order, log("charge", "void", "capture")),
    ("a void after the capture", money.charges_stand_in_order, log("charge", "capture", "void")),
    ("a capture before the charge", money.charges_stand_in_order, log("capture", "charge")),
    # sales_are_captured
    ("a sale never captured", money.sales_are_captured, log("charge")),
    ("a capture that the store forgot", money.sales_are_captured,
     row("purchases", captured_at=None)),
    # notifications_are_received
    ("a notification in other bytes", deliveries.notifications_are_received,
     add("received", received(digest="other"))),
    ("a notification that nobody owes", deliveries.notifications_are_received,
     add("received", received("n9"))),
    ("a notification of another app", deliveries.notifications_are_received,
     row("received", payload={"notificationType": "ONE_TIME_CHARGE", "data": {"bundleId": "x"}})),
    ("a notification of another kind", deliveries.notifications_are_received,
     row("received", payload={"notificationType": "TEST", "data": {"bundleId": BUNDLE}})),
    ("a notification of another sale", deliveries.notifications_are_received,
     row("received", signed=signed(101))),
    ("a delivery that never came", deliveries.notifications_are_received,
     lambda evidence: evidence.received.clear()),
    ("a delivery that failed", deliveries.notifications_are_received, row("received", status=500)),
    # notifications_are_attempted
    ("another app in the outbox", deliveries.notifications_are_attempted,
     row("outbox", bundle_id="com.example.other")),
    ("a notification never sent", deliveries.notifications_are_attempted,
     lambda evidence: evidence.notifications.clear()),
    # signatures_verify
    ("a signature that does not verify", deliveries.signatures_verify,
     add("forgeries", {"where": "purchase p1", "problem": "InvalidSignature"})),
    # receipts_hold_what_is_owned
    ("an empty receipt", deliveries.receipts_hold_what_is_owned,
     row("transactions", finished_at=None)),
    ("a receipt without the non-consumable", deliveries.receipts_hold_what_is_owned,
     row("transactions", product_type="non-consumable")),
    ("a receipt with what was finished", deliveries.receipts_hold_what_is_owned,
     receipt(purchases=[OWNED])),
    ("a receipt of another quantity", deliveries.receipts_hold_what_is_owned, both(
        row("transactions", finished_at=None), receipt(purchases=[OWNED | {"quantity": 1}]))),
    ("a purchase twice in a receipt", deliveries.receipts_hold_what_is_owned, both(
        row("transactions", finished_at=None), receipt(purchases=[OWNED, OWNED]))),
    ("a receipt that does not verify", deliveries.receipts_hold_what_is_owned,
     receipt(problem="UNTRUSTED_CHAIN")),
    # revisions_have_no_gaps
    ("a revision without a commit", lines.revisions_have_no_gaps, row("customers", revision=8)),
    ("a commit without a revision", lines.revisions_have_no_gaps, row("customers", revision=6)),
    ("a sale gone with its purchase", lines.revisions_have_no_gaps, both(
        lambda evidence: evidence.purchases.clear(),
        lambda evidence: evidence.transactions.clear())),
    # nothing_is_left_over
    ("an errand that is due", lines.nothing_is_left_over, add("errands", {
        "customer_id": CUSTOMER, "kind": "settle", "subject": "s", "due_at": -1,
        "lease_until": None})),
    ("work that falls due for nothing", lines.nothing_is_left_over, add("due_work", {
        "customer_id": CUSTOMER, "kind": "approval", "subject": f"{BUNDLE}/p1", "due_at": 9})),
    ("a restore under way", lines.nothing_is_left_over,
     add("under_way", {"table": "restores", "finished_at": None})),
    # ledger_accounts_agree
    ("a purchase in another account", lines.ledger_accounts_agree,
     row("ledger_purchases", account="8")),
    ("spent and not redeemed", lines.ledger_accounts_agree, row("ledger_purchases", spent=1)),
    ("redeemed by another account", lines.ledger_accounts_agree,
     row("ledger_redemptions", account="8")),
    ("another price in the ledger", lines.ledger_accounts_agree,
     row("ledger_purchases", price=990)),
    ("another currency in the ledger", lines.ledger_accounts_agree,
     row("ledger_purchases", currency="EUR")),
    ("another app in the ledger", lines.ledger_accounts_agree,
     row("ledger_purchases", bundle_id="com.example.other")),
    # numbers_are_given_out_once
    ("a number given out again by a copy", lines.numbers_are_given_out_once,
     add("forks", fork({"number": "100", "purchase": "p9", "customer": "9", "where": "fork"}))),
    ("a number given out by two copies", lines.numbers_are_given_out_once, add(
        "forks",
        fork({"number": "200", "purchase": "p8", "customer": "8", "where": "first"}),
        fork({"number": "200", "purchase": "p9", "customer": "8", "where": "second"}))),
    ("a customer's number given out twice", lines.numbers_are_given_out_once, add(
        "forks", fork(customers=[{"customer": 9, "name": "a"}]),
        fork(customers=[{"customer": 9, "name": "b"}]))),
    ("a number given out again after a reset", lines.numbers_are_given_out_once, add(
        "side", {"act": "sold", "number": "100", "purchase": "p9", "customer": "9",
                 "where": "side"})),
    # copies_hold_what_was_acknowledged
    ("a copy that lacks a sale", lines.copies_hold_what_was_acknowledged,
     add("forks", fork(transactions=[]))),
    ("a copy that does not sell", lines.copies_hold_what_was_acknowledged,
     add("forks", fork(complaints=["it sells nothing"]))),
    # histories_go_whole
    ("a history that stayed", lines.histories_go_whole,
     add("side", {"act": "complaint", "text": "transaction 100 came back"})),
    # apps_get_what_they_paid
    ("a payment sold twice", apps.apps_get_what_they_paid, both(DELIVERED, add(
        "purchases", purchase_row("p2", 101, application_username="t1")))),
    ("a payment failed and sold", apps.apps_get_what_they_paid,
     both(DELIVERED, add("kits", kit("failed")))),
    ("a payment sold and not delivered", apps.apps_get_what_they_paid,
     both(row("purchases", application_username="t1"), add("kits", kit("purchasing")))),
    ("a payment that never ended", apps.apps_get_what_they_paid, add("kits", kit("purchasing"))),
    ("a payment delivered and lost", apps.apps_get_what_they_paid,
     both(DELIVERED, lambda evidence: evidence.transactions.clear())),
    ("a payment under two numbers", apps.apps_get_what_they_paid,
     both(DELIVERED, add("kits", kit("purchased", transaction="101")))),
    ("a payment delivered as something else", apps.apps_get_what_they_paid,
     both(DELIVERED, add("kits", kit("purchased", quantity=3)))),
    # apps_came_to_rest
    ("an app that did not come to rest", apps.apps_came_to_rest,
     add("kits", kit("complaint", text="it hangs"))),
]

#: Rules that find one mistake in several ways: here the sentence counts that names it.
SENTENCES = [
    ("transaction 100 has 2 rows", rules.purchases_exist_once,
     lambda evidence: evidence.transactions.extend(list(evidence.transactions))),
    ("'p1') has 2 transactions", rules.purchases_exist_once,
     add("transactions", transaction_row(101))),
    ("was answered 101 and is recorded as 100", rules.acknowledged_purchases_are_there,
     told(transactionId="101")),
    ("transaction 100 was finished and is lost", rules.finishes_stay,
     lambda evidence: evidence.transactions.clear()),
    ("unit 2 of transaction 100 was redeemed 2 times", rules.purchases_are_redeemed_once,
     add("ledger_redemptions", redemption("k3", 2))),
    ("redemption k1 was answered with", rules.purchases_are_redeemed_once, add("heard", heard(
        "redeem", 50, transaction="101", idempotency_key="k1", answer={"unit": 1}))),
    ("unit 2 of transaction 100 was redeemed under", rules.purchases_are_redeemed_once,
     add("heard", heard(
         "redeem", 50, transaction="100", idempotency_key="k3", answer={"unit": 2}))),
    ("transaction 100 is of no product: gold", money.sums_are_right,
     row("transactions", product_id="gold")),
    ("transaction 100 of 7 is in account 8", lines.ledger_accounts_agree,
     row("ledger_purchases", account="8")),
    ("payment t1 was sold and never delivered", apps.apps_get_what_they_paid,
     both(row("purchases", application_username="t1"), add("kits", kit("purchasing")))),
    ("payment t1 was delivered under several numbers", apps.apps_get_what_they_paid,
     both(DELIVERED, add("kits", kit("purchased", transaction="101")))),
    ("payment t1 was finished and is unfinished in the store", apps.apps_get_what_they_paid,
     both(DELIVERED, row("transactions", finished_at=None),
          add("kits", kit("purchased", is_finished=True)))),
]

SOUND = [
    ("a charge given back in order", add("processor", charged("p2"), charged("p2", "void"))),
    ("a repeated void", add(
        "processor", charged("p2"), charged("p2", "void"), charged("p2", "void"))),
    ("a notification that came twice", add("received", received())),
    ("a capture that is still to be tried again", both(
        log("charge"), row("purchases", captured_at=None), row("customers", revision=6),
        add("errands", {
            "customer_id": CUSTOMER, "kind": "capture", "subject": f"{BUNDLE}/p1", "due_at": 9,
            "lease_until": None}))),
    ("a copy from before the sale", add("forks", fork(begun_at=5, transactions=[]))),
    ("the same sale in a copy", add("forks", fork(
        {"number": "200", "purchase": "p8", "customer": "8", "where": "fork"}))),
    ("a payment delivered and delivered again", both(DELIVERED, add("kits", kit("purchased")))),
    ("a payment that failed", add("kits", kit("purchasing", tag="t9"), kit("failed", tag="t9"))),
]


class SpoiltTests(unittest.TestCase):
    def test_each_rule_finds_what_was_spoilt(self):
        check_spoilt(self, SPOILT, lambda _: sound())

    def test_each_rule_names_what_was_spoilt(self):
        for sentence, rule, spoil in SENTENCES:
            with self.subTest(sentence):
                evidence = sound()
                spoil(evidence)
                self.assertIn(sentence, "; ".join(rule(evidence)))

    def test_no_rule_finds_what_is_sound(self):
        rules = money.RULES + deliveries.RULES + lines.RULES + apps.RULES
        for name, change in SOUND:
            with self.subTest(name):
                evidence = sound()
                change(evidence)
                self.assertEqual([found for rule in rules for found in rule(evidence)], [])

    def test_a_stopped_jump_leaves_revisions_to_say_what_came_first(self):
        for verb, moving, sold, dated, finished, wanted in (
            # The clock went back between the first sale's finish and the second sale.
            ("stop", {"moved"}, 9, 59, 60, 0), ("stop", {"moved"}, 9, 1, 60, 0),
            ("jump", {"moved"}, 9, 59, 60, 1), ("stop", {"other"}, 9, 59, 60, 1),
            # The first one was finished in a later revision than that of the second sale.
            ("stop", {"moved"}, 3, 59, 60, 1), ("stop", {"moved"}, 9, 59, None, 1),
        ):
            evidence = sound()
            evidence.transactions = [
                transaction_row(100, "p1", 5, purchased_at=50, finished_at=finished, realm="moved"),
                transaction_row(101, "p2", 12, purchased_at=dated, finished_at=70, realm="moved"),
            ]
            evidence.purchases = [
                {"transaction_id": 100, "revision": 2}, {"transaction_id": 101, "revision": 11},
                {"transaction_id": 101, "revision": sold},
            ]
            evidence.moving = moving
            evidence.deeds.append({"verb": verb})
            found = list(money.unfinished_is_not_sold_again(evidence))
            self.assertEqual(len(found), wanted, (verb, moving, sold, dated, finished))

    def test_every_new_rule_is_spoilt_here(self):
        tried = {rule for _, rule, _ in SPOILT}
        for rule in money.RULES + deliveries.RULES + lines.RULES + apps.RULES:
            self.assertIn(rule, tried)


EXCEPT_RENEWALS = set(counts.EVENTS) - {"renewals"}


class CountTests(unittest.TestCase):
    """A round that had too little of something proves nothing."""

    def setUp(self):
        self.enough = {f"event: {name}": 1000 for name in counts.EVENTS}

    def test_enough_of_everything(self):
        self.assertEqual(list(counts.shortfalls(self.enough, 10)), [])

    def test_each_kind_of_event_is_missed(self):
        for name in counts.EVENTS:
            found = list(counts.shortfalls(self.enough | {f"event: {name}": 0}, 10))
            self.assertEqual(len(found), 1, name)
            self.assertIn(name, found[0])

    def test_a_round_in_which_everything_is_refused(self):
        refused = sound()
        refused.heard = [bought(10, state="refused")]
        self.assertTrue(list(counts.shortfalls(counted(refused), 10)))

    def test_postgres_renews_less(self):
        few = self.enough | {"event: renewals": 300}
        self.assertEqual(list(counts.shortfalls(few, 1200, EXCEPT_RENEWALS, (), "postgres")), [])
        self.assertTrue(list(counts.shortfalls(few, 1200, EXCEPT_RENEWALS)))
        few["event: renewals"] = 299
        self.assertTrue(list(counts.shortfalls(few, 1200, EXCEPT_RENEWALS, (), "postgres")))

    def test_what_options_rule_out_is_not_missed(self):
        nothing = {name: 0 for name in self.enough}
        self.assertEqual(list(counts.shortfalls(nothing, 10, absent=set(counts.EVENTS))), [])

    def test_a_fault_that_was_never_played(self):
        played = self.enough | {"disturbances: kill server": 1}
        found = list(counts.shortfalls(played, 10, acts=["kill server", "stop server"]))
        self.assertEqual(found, ["the fault `stop server` was never played"])

    def test_events_are_counted(self):
        found = counts.events(sound())
        for name in ("sold", "finished", "redeemed", "captured", "notified", "receipts"):
            self.assertGreater(found[name], 0, name)
        self.assertEqual(found["redeemed"], 2)


def counted(evidence):
    return {f"event: {name}": count for name, count in counts.events(evidence).items()}


if __name__ == "__main__":
    unittest.main()
