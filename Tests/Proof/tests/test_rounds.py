# SPDX-License-Identifier: Apache-2.0
"""What becomes of a round that could not be played to its end."""

import argparse
import contextlib
import io
import threading
import unittest
from unittest import mock

from proof import __main__ as main
from proof.programs import Trouble
from proof.supervisor import Act, Supervisor


class Halting:
    """A stage whose server does not start again, with everything else alive."""

    def __init__(self, *_):
        self.told = []

    def play(self, _):
        raise Trouble("a server did not start")

    def __getattr__(self, name):
        return lambda: self.told.append(name)


class RoundTests(unittest.TestCase):
    def test_a_world_that_did_not_come_to_rest_is_not_judged(self):
        stage = Halting()
        arguments = argparse.Namespace(engine="sqlite")
        with mock.patch.object(main, "Stage", lambda *_: stage), \
                mock.patch.object(main, "plan", lambda *_: None), \
                contextlib.redirect_stderr(io.StringIO()), \
                self.assertRaisesRegex(Trouble, "did not start"):
            main.play(arguments, 1, 1, "folder", set())
        self.assertEqual(stage.told, ["halt", "keep", "close"])

    def test_every_second_round_on_postgresql_has_two_clusters(self):
        def drawn(seed, **given):
            arguments = {"engine": "postgres", "plain": False, "clusters": None} | given
            return main.clusters(argparse.Namespace(**arguments), seed)

        self.assertEqual([drawn(seed) for seed in (4, 5, 6)], [1, 2, 1])
        self.assertEqual(drawn(5, clusters=1), 1)
        self.assertEqual([drawn(5, engine="sqlite"), drawn(5, plain=True)], [1, 1])

    def test_an_act_beside_one_that_failed_has_ended_before_anything_goes_on(self):
        ended, may_end = threading.Event(), threading.Event()

        def failing():
            may_end.set()
            raise Trouble("failed")

        def lasting():
            may_end.wait(60)
            ended.set()

        supervisor = Supervisor.__new__(Supervisor)
        supervisor.random = mock.Mock(uniform=lambda *_: 0.05)
        with self.assertRaises(Trouble):
            supervisor._play_both(Act(failing, 1, "one"), Act(lasting, 1, "two"))
        self.assertTrue(ended.is_set())


if __name__ == "__main__":
    unittest.main()
