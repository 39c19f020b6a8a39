# SPDX-License-Identifier: Apache-2.0
"""Spoilt evidence for the rules on subscriptions, their money, what is announced of them,
and clocks: each line of a table spoils one thing, and the rule beside it must find it."""

import json
import unittest

from proof import announcements, clocks, counts, evidence, fold, refunds, renewals, rules
from proof.facts import Evidence
from proof.fold import DAY, MINUTE
from tests.spoiling import add, both, check_spoilt, drop, row
from tests.terms import (
    BRONZE, CUSTOMER, GOLD, GOLD_END, NOW, REALM, RENEWAL, START, THIRD, charge, charged, deed,
    event, log, owed, period, received, refund, refund_event, ruled, shown, sound, transaction,
    usd,
)


def happened(place, at=None, kind=None, **facts):
    """Changes an event: its date, its kind, or facts of it."""
    def spoil(evidence):
        found = evidence.subscription_events[place]
        body = json.loads(found["body"])
        ((known, before),) = body["change"].items()
        body["at"] = found["happened_at"] = body["at"] if at is None else at
        body["change"] = {kind or known: before | facts}
        found["body"] = json.dumps(body)
    return spoil


def sold(place, **changed):
    """Changes the period that an event sold."""
    def spoil(evidence):
        body = json.loads(evidence.subscription_events[place]["body"])
        (facts,) = body["change"].values()
        facts["period"] |= changed
        evidence.subscription_events[place]["body"] = json.dumps(body)
    return spoil


def jumped_in_30_ms(before):
    """The jump took 30 ms, and a period that ended so many milliseconds before its clock's
    answer is shown as active."""
    return both(row("deeds", 1, asked_at=20 - 30_000_000), add(
        "deeds", deed("look", 35, {"subscriptions": [shown(endDate=START + 15 * DAY - before)]})))


def acknowledged(at):
    """The sale of the third period was acknowledged then."""
    def spoil(evidence):
        for entry in evidence.heard:
            if (entry.get("signed") or {}).get("transactionId") == "202":
                entry["at"] = at
    return spoil


def state(**changed):
    """Changes the stored state."""
    def spoil(evidence):
        kept = json.loads(evidence.subscriptions[0]["state"])
        evidence.subscriptions[0]["state"] = json.dumps(kept | changed)
    return spoil


def ends(until):
    """The stored state ends then."""
    def spoil(evidence):
        kept = json.loads(evidence.subscriptions[0]["state"])
        state(current=kept["current"] | {"end": until})(evidence)
    return spoil


def entry(key, act, **other):
    """One more entry of the processor's."""
    return add("processor", log(key, act, **other))


PERIODS = renewals.periods_follow_each_other
CHARGES = renewals.periods_are_charged_once
FOLD = renewals.events_make_the_state
OFF = renewals.renewals_stop_when_switched_off
ENDS = renewals.entitlements_end_with_what_was_paid
TIME = renewals.events_come_at_their_time
GIVEN = refunds.refunds_are_given_once
UPGRADES = refunds.upgrades_refund_once
MONEY = refunds.money_adds_up
DEEDS = refunds.acknowledged_deeds_are_there
TOLD = announcements.events_are_announced_once
ORDER = announcements.jumps_announce_in_order
DUE = clocks.jumps_leave_nothing_due
AGREE = clocks.clocks_agree
STAY = clocks.answered_jumps_stay
DONE = clocks.jumps_are_done_when_answered

EIGHTH = event(8, 19, START + 13 * DAY, "time", "renewed", period=period(
    203, "gold.month", GOLD_END, fold.later(GOLD_END, "P1M", 25), "P1M", 9990))
SUM = {"total": 280, "currency": "USD"}

SPOILT = [
    # periods_follow_each_other
    ("a gap", PERIODS, sold(1, start=START + 8 * DAY, end=START + 15 * DAY)),
    ("an overlap", PERIODS, sold(1, start=START + 6 * DAY, end=START + 13 * DAY)),
    ("a period too long", PERIODS, sold(1, end=START + 15 * DAY)),
    ("a month too short", PERIODS, sold(2, end=GOLD_END - DAY)),
    ("an upgrade of another date", PERIODS, sold(2, start=START + 11 * DAY)),
    ("a first period of another date", PERIODS, sold(0, start=START - DAY, end=START + 6 * DAY)),
    ("two periods of one transaction", PERIODS, sold(1, transaction=200)),
    ("a transaction of no period", PERIODS, add("transactions", transaction(
        period(209, "bronze.week", START, START + 7 * DAY, "P1W", 990), 19, None))),
    ("a period without a transaction", PERIODS, drop("transactions", 1)),
    ("a transaction of another product", PERIODS, row("transactions", 1, product_id="gold.month")),
    ("a transaction of another price", PERIODS, row("transactions", 1, total_price=990)),
    ("a transaction of another start", PERIODS, row("transactions", 1, purchased_at=START)),
    ("a transaction of another end", PERIODS, row("transactions", 1, expires_at=GOLD_END)),
    ("another subscription's", PERIODS, row("transactions", 1, original_transaction_id=201)),
    ("another price", PERIODS, sold(2, price=usd(990))),
    ("a product that is not sold", PERIODS, sold(2, productID="silver")),
    ("a second introductory offer", PERIODS, sold(1, offer=json.loads(
        json.dumps({"kind": "introductory", "mode": "payAsYouGo", "periodsLeft": 1})))),
    ("an offer of another product", PERIODS, sold(2, offer={
        "kind": "introductory", "mode": "free", "periodsLeft": 0})),
    ("a renewal of what had ended", PERIODS, happened(3, kind="expired", reason="cancelled")),
    # periods_are_charged_once
    ("a renewal charged twice", CHARGES, add(
        "processor", charged(RENEWAL[:-1] + "2", 490, "bronze.week"))),
    ("a renewal that was not charged", CHARGES, drop("processor", 2)),
    ("a renewal given back", CHARGES, entry(RENEWAL, "void")),
    ("a renewal without a row of its charge", CHARGES, drop("renewal_charges")),
    ("a renewal of two charges", CHARGES, add("renewal_charges", charge(attempt=2))),
    ("a renewal of another sum", CHARGES, row("renewal_charges", total_price=990)),
    ("a charge recorded as declined", CHARGES, row("renewal_charges", state="declined")),
    ("a charge dropped and kept", CHARGES, add(
        "renewal_charges", charge(attempt=2, state="dropped", transaction_id=None))),
    ("a charge without an answer", CHARGES, add(
        "renewal_charges", charge(attempt=2, state="asked", transaction_id=None))),
    # events_make_the_state
    ("an event that was lost", FOLD, drop("subscription_events", 3)),
    ("an event that counts twice", FOLD, row("subscriptions", events=8)),
    ("another state", FOLD, state(state={"expired": {"reason": "other", "at": NOW}})),
    ("another renewal", FOLD, state(renewal={"isOn": False})),
    ("another status", FOLD, row("subscriptions", status=2)),
    ("another end", FOLD, row("subscriptions", ends_at=NOW)),
    ("another product", FOLD, row("subscriptions", product_id="bronze.week")),
    ("another transaction", FOLD, row("subscriptions", transaction_id=200)),
    ("events without a subscription", FOLD, drop("subscriptions")),
    # renewals_stop_when_switched_off
    ("a renewal while it was off", OFF, both(drop("subscription_events", 6), add(
        "subscription_events", EIGHTH | {"event": 7}))),
    ("a charge while it was off", OFF, both(happened(6, kind="failedAhead"))),
    ("a recovery while it was off", OFF, happened(6, kind="recovered", period=THIRD)),
    # entitlements_end_with_what_was_paid
    ("a state that outlives", ENDS, ends(GOLD_END + 4 * DAY)),
    ("grace that outlives", ENDS, state(state={"unpaid": {"failure": {
        "graceUntil": GOLD_END + 4 * DAY}}})),
    ("a row that outlives", ENDS, row("subscriptions", ends_at=GOLD_END + 1)),
    ("a transaction that outlives", ENDS, row("transactions", 2, expires_at=GOLD_END + 1)),
    ("an answer that outlives", ENDS, add("deeds", deed(
        "look", 60, {"subscriptions": [shown(usableUntil=GOLD_END + 4 * DAY)]}))),
    ("an active period that is revoked", ENDS, row("transactions", 2, revoked_at=NOW)),
    # events_come_at_their_time
    ("a renewal that came late", TIME, happened(1, at=START + 7 * DAY)),
    ("a renewal that came early", TIME, happened(1, at=START + 6 * DAY)),
    ("an end that was not due", TIME, happened(1, kind="expired", reason="other")),
    # refunds_are_given_once
    ("a refund's event that was lost", GIVEN, drop("refund_events", 1)),
    ("a refund granted twice", GIVEN, row("refund_events", 2, body=json.dumps({
        "at": 1, "cause": "operator", "change": {"granted": {
            "grant": {"kind": "full", "sum": usd(1)}}}}))),
    ("a refund taken back by itself", GIVEN, row("refunds", 1, state="granted")),
    ("a refund of another sum", GIVEN, row("refunds", 1, sum=1)),
    ("a refund of another kind", GIVEN, row("refunds", 1, kind="prorated")),
    ("a refund that is lost", GIVEN, drop("refunds", 1)),
    ("a transaction revoked after all", GIVEN, row("transactions", 2, revoked_at=NOW)),
    ("a refund that revokes nothing", GIVEN, both(
        row("refunds", 1, state="granted", events=1), drop("refund_events", 2))),
    # upgrades_refund_once
    ("an upgrade that gives nothing back", UPGRADES, drop("refunds")),
    ("an upgrade that gives something else back", UPGRADES, row("refunds", sum=490)),
    ("an upgrade that gives back twice", UPGRADES, add(
        "refunds", refund(201, "upgrade", 280, "granted", RENEWAL, 1))),
    ("an upgrade that gives too much back", UPGRADES, both(
        happened(2, refund=usd(500)), row("refunds", sum=500))),
    ("an upgrade that gives too little back", UPGRADES, both(
        happened(2, refund=usd(270)), row("refunds", sum=270))),
    ("an upgrade that never was", UPGRADES, add(
        "refunds", refund(202, "upgrade", 1, "granted", GOLD, 1))),
    ("a replaced period that does not say so", UPGRADES, row(
        "transactions", 1, is_upgraded=False)),
    # money_adds_up
    ("more given back than was paid", MONEY, row("refunds", sum=500)),
    ("a refund that the processor never got", MONEY, drop("processor", 6)),
    ("a refund taken back in the store alone", MONEY, drop("processor", 8)),
    ("a refund taken back at the processor alone", MONEY, row("refunds", 1, state="granted")),
    ("a refund of another sum at the processor", MONEY, row("processor", 6, order={"total": 1})),
    ("a refund under another charge", MONEY, row("processor", 6, key=BRONZE)),
    ("a refund that was not granted", MONEY, entry(BRONZE, "refund", refund="200.1", order=SUM)),
    ("a refund before the capture", MONEY, lambda evidence: evidence.processor.insert(
        0, evidence.processor.pop(6))),
    ("a refund asked for with two sums", MONEY, entry(
        RENEWAL, "other refund", refund="201.1", order={"total": 1})),
    ("a refund taken back unasked", MONEY, entry(
        RENEWAL, "take back", refund="201.1", order=SUM)),
    # acknowledged_deeds_are_there
    ("an acknowledged event that is lost", DEEDS, drop("subscription_events", 5)),
    ("an acknowledged refund that is lost", DEEDS, drop("refund_events", 2)),
    ("an acknowledged event of another date", DEEDS, happened(5, at=NOW)),
    # events_are_announced_once
    ("an event without a notification", TOLD, drop("outbox", 1)),
    ("a refund without a notification", TOLD, drop("outbox", 5)),
    ("an event of two notifications", TOLD, add("outbox", owed(
        "SUBSCRIPTION/200.2", "DID_RENEW", None, START + 7 * DAY - MINUTE, 201))),
    ("a notification of another type", TOLD, row("outbox", 1, notification_type="EXPIRED")),
    ("a notification of another subtype", TOLD, row("outbox", 3, subtype="AUTO_RENEW_ENABLED")),
    ("a notification of another date", TOLD, row("outbox", 1, created_at=NOW)),
    ("a notification of no event", TOLD, add("outbox", owed(
        "SUBSCRIPTION/200.9", "EXPIRED", None, NOW, 202))),
    ("an announced refund of an upgrade", TOLD, add("outbox", owed(
        "REFUND/201.1.1", "REFUND", None, START + 10 * DAY, 201))),
    ("another subtype received", TOLD, row("received", 3, payload={"subtype": "UPGRADE"})),
    # jumps_announce_in_order
    ("two renewals received in another order", ORDER, both(
        add("subscription_events", EIGHTH),
        add("outbox", owed("SUBSCRIPTION/200.8", "DID_RENEW", None, START + 13 * DAY, 203)),
        add("received", received(
            owed("SUBSCRIPTION/200.8", "DID_RENEW", None, START + 13 * DAY, 203), -1)))),
    # jumps_leave_nothing_due
    ("a jump left under way", DUE, add("jumps", {"realm": REALM, "target": NOW})),
    ("work left due", DUE, row("due_work", due_at=NOW)),
    ("a step that was forgotten", DUE, drop("due_work")),
    ("a step that comes too early", DUE, row("due_work", due_at=GOLD_END - DAY)),
    ("a renewal that was passed over", DUE, row("clocks", clock_stands_at=GOLD_END)),
    # clocks_agree
    ("clusters of two clocks", AGREE, add("clocks", {
        "realm": REALM, "clock_ahead": 9, "clock_stands_at": NOW, "clock_rate": 1})),
    # answered_jumps_stay
    ("a jump undone", STAY, add("deeds", deed("stand", 60, {"now": START + 16 * DAY}))),
    # jumps_are_done_when_answered
    ("a period that had ended before a jump can have gone there", DONE, jumped_in_30_ms(30)),
    ("a period that had ended before a jump's answer", DONE, add(
        "deeds", deed("look", 60, {"subscriptions": [shown(endDate=START + 14 * DAY)]}))),
    ("a period, bought before a jump, that had ended before its answer", DONE, both(
        acknowledged(18), add("deeds", deed("look", 60, {"subscriptions": [
            shown(endDate=START + 14 * DAY, transactionId="202")]})))),
    ("grace that had ended before a jump's answer", DONE, add("deeds", deed("look", 60, {
        "subscriptions": [shown(status="grace", usableUntil=START + 14 * DAY)]}))),
]

#: Where a rule charges: what is judged there alone.
RULED = {TIME, ORDER}

SOUND = [
    ("a jump that was stopped", add("deeds", deed(
        "stop", 60, {"now": NOW, "jump": {"reached": NOW, "target": NOW + DAY}}))),
    ("a jump beside a stop", both(
        drop("deeds", 3), drop("deeds", 1), add("deeds",
        deed("jump", 60, {"now": NOW}), deed("stop", 60, {"now": NOW}),
        deed("look", 70, {"subscriptions": [shown(endDate=NOW - DAY)]})))),
    ("a period that ended while a jump was answered", jumped_in_30_ms(29)),
    ("a period that was bought beside a jump", both(acknowledged(41), add("deeds", deed(
        "look", 60, {"subscriptions": [shown(endDate=START + 18 * DAY, transactionId="202")]})))),
    ("a jump without an answer", add("deeds", {
        "verb": "jump", "realm": "billed", "asked_at": 60, "path": ""})),
    ("a refund that is still to be made", both(drop("processor", 6), add("errands", {
        "customer_id": CUSTOMER, "kind": "refund", "subject": "201.1", "due_at": NOW + 1,
        "lease_until": None, "realm": REALM}))),
    ("a refund that was taken back before it was made", both(
        drop("processor", 7), row("processor", 7, order=None))),
    ("a charge declined", both(
        add("renewal_charges", charge(attempt=2, state="declined", transaction_id=None,
                                      captured_at=None)),
        row("customers", revision=20))),
]


class SpoiltTests(unittest.TestCase):
    def test_each_rule_finds_what_was_spoilt(self):
        check_spoilt(self, SPOILT, lambda rule: ruled() if rule in RULED else sound())

    def test_no_rule_finds_what_is_sound(self):
        self.assertEqual(rules.judge(sound()), {})
        self.assertEqual(rules.judge(ruled()), {})
        for name, change in SOUND:
            with self.subTest(name):
                evidence = sound()
                change(evidence)
                self.assertEqual(rules.judge(evidence), {})

    def test_every_rule_is_spoilt_here(self):
        tried = {rule for _, rule, _ in SPOILT}
        for rule in renewals.RULES + refunds.RULES + announcements.RULES + clocks.RULES:
            self.assertIn(rule, tried)

    def test_a_period_that_was_given_back_whole_is_sold_again(self):
        # 280 were given back before.
        for total, wanted in ((210, []), (209, 1)):
            evidence = sound()
            add("processor", charged(RENEWAL[:-1] + "2", 490, "bronze.week"))(evidence)
            entry(RENEWAL, "refund", refund="201.9", order={"total": total, "currency": "USD"})(
                evidence)
            found = list(CHARGES(evidence))
            self.assertEqual(found if wanted == [] else len(found), wanted)

    def test_the_order_is_unknown_while_the_machines_clock_was_wrong(self):
        evidence = ruled()
        next(spoil for _, rule, spoil in SPOILT if rule is ORDER)(evidence)
        evidence.seconds_stepped = 60
        self.assertEqual(list(ORDER(evidence)), [])

    def test_a_revision_of_a_renewal_is_missed(self):
        for change in (drop("renewal_charges"), drop("refunds"), row("customers", revision=19)):
            evidence = sound()
            change(evidence)
            self.assertIn("revisions_have_no_gaps", rules.judge(evidence))

    def test_what_happened_is_counted(self):
        found = counts.events(sound())
        wanted = {"renewals": 1, "upgrades": 1, "refunds": 1, "reversals": 1, "jumps": 2}
        self.assertEqual({name: found[name] for name in wanted}, wanted)


class DiaryTests(unittest.TestCase):
    """What a clerk or a jumper wrote down, as the checker reads it."""

    PATH = "/realms/billed/control/v1/clock"

    def ask(self, call):
        return {"act": "ask", "call": call, "verb": "jump", "path": self.PATH, "at": call}

    def test_an_answer_belongs_to_its_request(self):
        gathered = Evidence()
        evidence.add_deeds(gathered, [
            self.ask(1), self.ask(2), self.ask(3),
            {"act": "heard", "call": 2, "status": 200, "answer": {"now": 5}, "at": 9},
            {"act": "lost", "call": 1, "why": "TimeoutError", "at": 9},
            {"act": "unsent", "call": 3, "at": 9},
        ])
        lost, answered = gathered.deeds
        self.assertNotIn("status", lost)
        self.assertEqual(
            (answered["realm"], answered["asked_at"], answered["at"], answered["answer"]),
            ("billed", 2, 9, {"now": 5}))


def instant(text):
    date = fold.datetime.fromisoformat(text).replace(tzinfo=fold.timezone.utc)
    return (date - fold.EPOCH) // fold.timedelta(milliseconds=1)


class FoldTests(unittest.TestCase):
    """The proof's own calendar, and what it expects next."""

    def test_periods_keep_the_day_on_which_they_began(self):
        for start, length, anchor, end in (
            ("2027-01-31", "P1M", 31, "2027-02-28"), ("2027-02-28", "P1M", 31, "2027-03-31"),
            ("2027-11-30", "P1M", 30, "2027-12-30"), ("2027-12-15", "P1M", 15, "2028-01-15"),
            ("2028-02-29", "P1Y", 29, "2029-02-28"), ("2027-12-28", "P1W", 28, "2028-01-04"),
        ):
            self.assertEqual(fold.later(instant(start), length, anchor), instant(end))

    def failed(self, **facts):
        whole = fold.folded(sound().subscription_events)
        whole.apply("failed", facts, GOLD_END, "time")
        return whole

    def test_a_failed_charge_is_repeated_and_then_given_up(self):
        whole = self.failed()
        for day in fold.RETRY_DAYS:
            self.assertEqual(
                whole.demanded(), ({"recovered", "failedAgain"}, GOLD_END + day * DAY))
            whole.apply("failedAgain", {}, GOLD_END + day * DAY, "time")
        self.assertEqual(whole.demanded(), ({"expired"}, GOLD_END + 60 * DAY))
        whole.apply("expired", {"reason": "billing"}, GOLD_END + 60 * DAY, "time")
        self.assertIsNone(whole.demanded())

    def test_grace_ends_between_two_attempts(self):
        whole = self.failed(graceUntil=GOLD_END + 3 * DAY)
        self.assertEqual((whole.status, whole.usable_until), (4, GOLD_END + 3 * DAY))
        for day in (1, 2):
            whole.apply("failedAgain", {}, GOLD_END + day * DAY, "time")
        self.assertEqual(whole.demanded(), ({"graceEnded"}, GOLD_END + 3 * DAY))
        whole.apply("graceEnded", {}, GOLD_END + 3 * DAY, "time")
        self.assertEqual((whole.status, whole.usable_until), (3, None))

    def test_a_tests_attempt_takes_none_from_those_of_time(self):
        whole = self.failed()
        before = whole.demanded()
        whole.apply("failedAgain", {}, GOLD_END + 1, "tester")
        self.assertEqual(whole.demanded(), before)


if __name__ == "__main__":
    unittest.main()
