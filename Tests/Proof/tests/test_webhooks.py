# SPDX-License-Identifier: Apache-2.0
"""Spoilt evidence for the rules on webhooks: each line of a table spoils one thing, and the rule
beside it must find it. Beside what it just does not forbid stands what it does."""

import os
import ssl
import tempfile
import unittest
import urllib.request
from datetime import datetime, timezone

from standardwebhooks.webhooks import Webhook

from proof import evidence, hooks, journal, webhooks
from proof.facts import Evidence
from proof.signatures import webhook_problem
from tests.booked import NOW, START, purchase, unit
from tests.moved import (
    FIRST, FRIEND, LEFT, MESSAGES, OPAQUE, OWNER, SECOND, THIRD, asked, came, heard, message, sound,
)
from tests.spoiling import add, both, check_sound, check_spoilt, drop, row

SIGNED = webhooks.webhooks_are_signed
TOLD = webhooks.webhooks_tell_what_was_written
ARRIVED = webhooks.webhooks_arrive
ORDER = webhooks.webhooks_keep_their_order
REPORTED = webhooks.events_are_reported_once
AGAIN = webhooks.replays_arrive


def changed(name, endpoint="ordered", table="hooked", **other):
    """Changes what came, or what is kept, of a message."""
    key = "id" if table == "hooked" else "message_id"

    def spoil(gathered):
        for each in getattr(gathered, table):
            if each[key] == name and each["endpoint"] == endpoint:
                each.update(other)
    return spoil


def forgotten(name):
    """A message was never written, nor sent."""
    def spoil(gathered):
        gathered.ledger_webhooks = [
            each for each in gathered.ledger_webhooks if each["message_id"] != name]
        gathered.hooked = [each for each in gathered.hooked if each["id"] != name]
    return spoil


def unowed(name, endpoint="loose"):
    """A message is not kept for one of its addresses."""
    def spoil(gathered):
        gathered.ledger_webhooks = [
            each for each in gathered.ledger_webhooks
            if (each["message_id"], each["endpoint"]) != (name, endpoint)]
        gathered.hooked = [
            each for each in gathered.hooked if (each["id"], each["endpoint"]) != (name, endpoint)]
    return spoil


def again(event):
    """A second message about the same."""
    name, _, account, number, data = next(each for each in MESSAGES if each[1] == event)
    return add("ledger_webhooks", message("ordered", f"{name}-2", event, account, number + 9, data))


OTHER = {"type": "purchase.updated", "data": {"transactionId": "g2", "account": "8"}}

SPOILT = [
    # webhooks_are_signed
    ("a signature that does not verify", SIGNED, row("hooked", problem="No matching signature")),
    ("a date of another hour", SIGNED, row("hooked", timestamp=NOW / 1000 - 301)),
    ("a date of the future", SIGNED, row("hooked", timestamp=NOW / 1000 + 301)),
    # webhooks_tell_what_was_written
    ("a message of which nothing is known", TOLD, add(
        "hooked", came("ordered", "x1", OTHER["type"], OTHER["data"], 200))),
    ("a message that came with two contents", TOLD, changed("m3", body="other")),
    ("a message of other contents", TOLD, changed("m3", table="ledger_webhooks", body="other")),
    ("a message of another event", TOLD, changed(
        "m3", table="ledger_webhooks", event="purchase.booked")),
    ("a message that one address is not owed", TOLD, unowed("m4")),
    ("a message that an address did not want", TOLD, add(
        "ledger_webhooks", message("loose", *MESSAGES[0]))),
    # webhooks_arrive
    ("a message that waits", ARRIVED, row("ledger_webhooks", sent_at=None)),
    ("a message that never came", ARRIVED, drop("hooked")),
    ("a message that was refused", ARRIVED, row("hooked", status=500)),
    ("a message whose answer was cut", ARRIVED, row("hooked", status=0)),
    # webhooks_keep_their_order
    ("a message before an earlier one", ORDER, changed("m8", at=1)),
    ("a message while an earlier one was refused", ORDER, changed("m6", status=500)),
    ("a message before an earlier one was answered", ORDER, changed("m6", answered_at=99)),
    ("two messages of one number", ORDER, changed("m8", table="ledger_webhooks", number=1)),
    # events_are_reported_once
    ("a booked purchase that is not reported", REPORTED, forgotten("m6")),
    ("a redemption that is not reported", REPORTED, forgotten("m8")),
    ("a spending that is not reported", REPORTED, forgotten("m3")),
    ("a merge that is not reported", REPORTED, forgotten("m5")),
    ("a move that is not reported", REPORTED, forgotten("m4")),
    ("a share that is not reported", REPORTED, forgotten("m7")),
    ("a revocation that is not reported", REPORTED, row("ledger_purchases", revoked_at=START)),
    ("a reversal that is not reported", REPORTED, lambda gathered: [
        each["told"]["data"].update(revocationDate=START) for each in gathered.ledger_webhooks]),
    *((f"{event} that is reported twice", REPORTED, again(event)) for event in webhooks.ABOUT),
    ("a redemption that never happened", REPORTED, drop("ledger_redemptions")),
    ("a spending that never happened", REPORTED, drop("ledger_credit_entries", 1)),
    ("a merge that never happened", REPORTED, drop("ledger_merges")),
    # replays_arrive
    ("a message that did not come again", AGAIN, drop("hooked", -1)),
    ("a message that came again badly", AGAIN, row("hooked", -1, status=500)),
]

SOUND = [
    ("a server that wanted none", both(changed("m6", status=410), add(
        "hooked", came("ordered", "m6", MESSAGES[5][1], MESSAGES[5][4], 300)))),
    ("a redemption of an account that was erased", both(
        forgotten("m8"), row("ledger_redemptions", account=OPAQUE))),
    ("a revocation that is reported", both(
        row("ledger_purchases", revoked_at=START),
        changed("m2", "loose", "ledger_webhooks", told={"type": "purchase.updated", "data": {
            "transactionId": "g1", "account": FIRST, "revocationDate": START}}))),
    ("a message again without an answer", both(drop("hooked", -1), row("replays", changed=None))),
    ("a message again that was not there", both(drop("hooked", -1), row("replays", changed=0))),
    ("a merge into an account that was erased", both(
        drop("ledger_merges"), forgotten("m5"),
        add("asked", asked("erase", THIRD)), add("heard", heard("erase", THIRD, at=95)))),
]


class SpoiltTests(unittest.TestCase):
    def test_each_rule_finds_what_was_spoilt(self):
        check_spoilt(self, SPOILT, lambda _: sound())

    def test_no_rule_finds_what_is_sound(self):
        check_sound(self, webhooks.RULES, SOUND, sound)

    def test_every_rule_is_spoilt_here(self):
        self.assertEqual({rule for _, rule, _ in SPOILT}, set(webhooks.RULES))

    def test_without_a_server_nothing_is_judged(self):
        gathered = sound()
        gathered.hooked, gathered.ledger_webhooks = None, []
        for rule in webhooks.RULES:
            self.assertEqual(list(rule(gathered)), [])

    def test_a_stepped_clock_excuses_dates_and_what_it_made_too_old(self):
        gathered = sound()
        row("hooked", timestamp=0)(gathered)
        changed("m6", status=500)(gathered)
        gathered.seconds_stepped = 2 * 86_400
        self.assertEqual(list(SIGNED(gathered)) + list(ORDER(gathered)), [])
        changed("m8", at=1)(gathered)
        self.assertTrue(list(ORDER(gathered)))


class SignatureTests(unittest.TestCase):
    SECRET = "whsec_" + "QUJD" * 8

    def problem(self, **other):
        headers = {
            "webhook-id": "m1", "webhook-timestamp": "1000", "webhook-signature": Webhook(
                self.SECRET).sign("m1", datetime.fromtimestamp(1000, tz=timezone.utc), "{}")}
        facts = {"secret": self.SECRET, "headers": headers, "body": "{}"} | other
        facts["headers"] = headers | facts["headers"]
        return webhook_problem(**facts)

    def test_the_librarys_verdict_counts_at_any_time(self):
        self.assertIsNone(self.problem())

    def test_anything_else_is_a_problem(self):
        for other in (
            {"secret": "whsec_" + "QUJE" * 8}, {"body": "{} "},
            {"headers": {"webhook-id": "m2"}}, {"headers": {"webhook-timestamp": "1001"}},
            {"headers": {"webhook-timestamp": "soon"}}, {"headers": {"webhook-signature": None}},
            {"headers": {"webhook-signature": "v1,?"}},
        ):
            with self.subTest(other):
                self.assertIsNotNone(self.problem(**other))


class ReceiverTests(unittest.TestCase):
    """The server, over its encrypted connection, and what the checker reads of it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.receiver = hooks.HookReceiver(self.folder, 7)
        self.addCleanup(self.receiver.close)

    def post(self, mischief=None):
        self.receiver.mischief = lambda: mischief
        request = urllib.request.Request(
            self.receiver.url("ordered"), b'{"type": "t", "data": {}}',
            {"webhook-id": "m1", "webhook-timestamp": "5", "webhook-signature": "v1,x"})
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(
                context=ssl.create_default_context(cafile=self.receiver.certificate)))
        try:
            with opener.open(request, timeout=30) as answer:
                return answer.status
        except urllib.request.HTTPError as refused:
            return refused.code
        except OSError:
            return None

    def test_what_came_is_written_down_with_its_answer(self):
        for mischief, wanted in ((None, 204), ("fail", 500), ("gone", 410), ("hang up", None)):
            self.assertEqual(self.post(mischief), wanted)
        came, answered = (
            [each for each in journal.read(os.path.join(self.folder, "hooked.log"))
             if each["act"] == act] for act in ("came", "answered"))
        self.assertEqual([each["status"] for each in answered], [204, 500, 410, 0])
        self.assertEqual([each["came"] for each in answered], [each["at"] for each in came])

    def test_the_checker_reads_it(self):
        self.post()
        sources = evidence.Sources(self.folder, [], None, [])
        url = self.receiver.url("ordered")
        sources.webhooks = {url: ("ordered", self.receiver.secrets["ordered"])}
        sources.ledger = lambda _: [{"url": url, "body": '{"type": "t"}'}]
        gathered = Evidence()
        evidence.add_webhooks(gathered, sources)
        (arrival,), (kept,) = gathered.hooked, gathered.ledger_webhooks
        self.assertEqual(
            (arrival["id"], arrival["status"], arrival["timestamp"]), ("m1", 204, 5.0))
        self.assertIsNotNone(arrival["problem"])
        self.assertEqual((kept["endpoint"], kept["told"]), ("ordered", {"type": "t"}))

    def test_the_ledgers_file_names_both_addresses(self):
        lines = list(self.receiver.settings(self.folder))
        for name in hooks.ENDPOINTS:
            self.assertIn(f"  - url: {self.receiver.url(name)}", lines)
            with open(os.path.join(self.folder, f"{name}.secret"), encoding="utf-8") as file:
                self.assertEqual(file.read(), self.receiver.secrets[name] + "\n")


if __name__ == "__main__":
    unittest.main()
