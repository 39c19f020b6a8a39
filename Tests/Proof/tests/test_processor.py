# SPDX-License-Identifier: Apache-2.0
"""The proof's own payment processor: what it writes down of charges and voids
that meet."""

import os
import tempfile
import threading
import unittest
import urllib.request

from proof import journal, money, processor
from tests.sound import charged, sound

KEY = charged()["key"]
ORDER = charged()["order"]


class Mischief:
    """Does to the next charge what the test says, and nothing to other calls."""

    def __init__(self):
        self.name = None

    def next(self):
        name, self.name = self.name, None
        return name, False


class ProcessorTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "processor.log")
        self.open()

    def open(self):
        """Starts a process of the processor on the log."""
        self.book = processor.Book(self.path)

    def charge(self, arrival):
        return self.book.charge(KEY, ORDER, False, arrival)

    def void(self):
        self.book.note("void", KEY)
        self.book.acknowledge(KEY)

    def acts(self):
        return [entry["act"] for entry in journal.read(self.path)]

    def breaches(self):
        evidence = sound()
        evidence.processor = journal.read(self.path)
        return list(money.charges_stand_in_order(evidence))

    def test_a_charge_that_arrived_before_the_void_blames_no_store(self):
        delayed = self.book.arrive()
        self.charge(self.book.arrive())
        self.void()

        self.assertEqual(self.charge(delayed)["state"], "declined")
        self.assertEqual(self.acts(), ["charge", "void", "overtaken charge"])
        self.assertEqual(self.breaches(), [])

    def test_a_charge_that_arrived_after_the_void_is_late(self):
        self.charge(self.book.arrive())
        self.void()

        self.assertEqual(self.charge(self.book.arrive())["state"], "declined")
        self.assertEqual(self.acts(), ["charge", "void", "late charge"])
        self.assertEqual(len(self.breaches()), 1)

    def test_a_charge_between_a_void_and_its_answer_is_not_late(self):
        self.charge(self.book.arrive())
        self.book.note("void", KEY)
        crossing = self.book.arrive()
        self.book.acknowledge(KEY)

        self.charge(crossing)
        self.assertEqual(self.acts()[-1], "overtaken charge")

    def test_a_void_repeated_moves_nothing(self):
        self.charge(self.book.arrive())
        self.void()
        late = self.book.arrive()
        self.void()

        self.charge(late)
        self.assertEqual(self.acts()[-1], "late charge")

    def test_a_charge_after_a_restart_is_late(self):
        self.charge(self.book.arrive())
        self.void()
        self.open()

        self.charge(self.book.arrive())
        self.assertEqual(self.acts()[-1], "late charge")


class RefundTests(unittest.TestCase):
    """A refund is given once for its name, and one that was taken back stays so."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "processor.log")
        self.book = processor.Book(self.path)

    def refund(self, total=10):
        return self.book.refund(KEY, "1.1", {"total": total})["state"]

    def take_back(self):
        return self.book.take_back(KEY, "1.1")["state"]

    def acts(self):
        return [entry["act"] for entry in journal.read(self.path)]

    def test_a_repeated_refund_gives_nothing_more(self):
        self.assertEqual([self.refund(), self.refund()], ["refunded", "refunded"])
        self.assertEqual(self.acts(), ["refund"])

    def test_another_sum_under_the_same_name_is_noted(self):
        self.refund()
        self.refund(20)
        self.assertEqual(self.acts(), ["refund", "other refund"])

    def test_a_refund_that_was_taken_back_stays_so(self):
        self.refund()
        self.assertEqual([self.take_back(), self.take_back()], ["takenBack", "takenBack"])
        self.assertEqual(self.refund(), "takenBack")
        self.assertEqual(self.acts(), ["refund", "take back"])

    def test_a_refund_that_was_taken_back_before_is_not_made(self):
        self.take_back()
        self.assertEqual(self.refund(), "takenBack")
        self.assertEqual(self.acts(), ["take back"])

    def test_a_restart_forgets_none(self):
        self.refund()
        self.take_back()
        self.book = processor.Book(self.path)
        self.assertEqual(self.refund(), "takenBack")


class ServedTests(unittest.TestCase):
    """The same over HTTP, with the delay in the middle of a charge."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "processor.log")
        self.server = processor.Server(("127.0.0.1", 0), processor.Handler)
        self.server.book = processor.Book(self.path)
        self.server.mischief = Mischief()
        thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def post(self, *parts, body=b"{}"):
        port = self.server.server_address[1]
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/" + "/".join(("charges", KEY.replace("/", "%2F"), *parts)),
            data=body, method="POST")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def acts(self):
        return [entry["act"] for entry in journal.read(self.path)]

    def test_a_slow_charge_is_overtaken_by_a_void(self):
        arrived, may_go_on = threading.Event(), threading.Event()

        def slow(_):
            arrived.set()
            may_go_on.wait(30)

        self.post()
        self.server.mischief.name = "slow"
        self.server.pause = slow
        delayed = threading.Thread(target=self.post)
        delayed.start()
        self.assertTrue(arrived.wait(30))
        self.post("void")
        may_go_on.set()
        delayed.join(30)

        self.assertEqual(self.acts(), ["charge", "void", "overtaken charge"])

    def test_a_charge_after_the_answer_to_a_void_is_late(self):
        self.post()
        self.post("void")
        self.post()

        self.assertEqual(self.acts(), ["charge", "void", "late charge"])

    def test_refunds_have_addresses_of_their_own(self):
        self.post("refunds", "1.1", body=b'{"total": 10, "currency": "USD"}')
        self.post("refunds", "1.1", "take-back")

        self.assertEqual(self.acts(), ["refund", "take back"])

    def test_a_void_whose_answer_is_lost_is_not_acknowledged(self):
        self.post()
        self.server.mischief.name = "lose answer"
        with self.assertRaises(OSError):
            self.post("void")
        self.post()

        self.assertEqual(self.acts(), ["charge", "void", "overtaken charge"])


if __name__ == "__main__":
    unittest.main()
