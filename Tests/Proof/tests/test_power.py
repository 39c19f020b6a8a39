# SPDX-License-Identifier: Apache-2.0
"""A disk whose power is cut, over real processes that write to it."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

from proof.faults import CLOCK, FAILING, LEAVES_LOGS, Faults

#: Writes to a database, and dies before it could close it.
WRITER = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2:]:
    try:
        connection.execute(statement)
    except sqlite3.Error as problem:
        print(type(problem).__name__)
os.kill(os.getpid(), 9)
"""
READER = """
import json, sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute('SELECT number FROM sales')
print(json.dumps(sorted(number for (number,) in rows)))
"""
BEGIN = ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA wal_autocheckpoint = 0")
TABLE = "CREATE TABLE IF NOT EXISTS sales (number INTEGER)"


class PowerTests(unittest.TestCase):
    def setUp(self):
        self.faults = Faults()
        if not self.faults.is_there:
            self.skipTest("there is no C compiler")
        self.folder = tempfile.mkdtemp(prefix="proof-power.")
        self.path = os.path.join(os.path.realpath(self.folder), "a.sqlite")
        self.page = self.faults.page("writer")
        self.disk = self.faults.disk(self.folder)

    def tearDown(self):
        self.faults.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def live(self, *statements):
        """One life of a process that dies by `kill -9`."""
        outcome = subprocess.run(
            [sys.executable, "-c", WRITER, self.path, *BEGIN, *statements],
            env={**os.environ, **self.page.variables, **self.disk.variables}, check=False,
            capture_output=True, text=True)
        self.assertEqual(outcome.returncode, -9, outcome.stderr)

    def left(self, seed):
        """The numbers that a copy of the disk holds after the power failed."""
        self.disk.forget(random.Random(seed))
        outcome = subprocess.run(
            [sys.executable, "-c", READER, self.path],
            check=True, capture_output=True, text=True)
        return json.loads(outcome.stdout)

    def unsynced(self):
        """A sale that an earlier life wrote and did not sync."""
        self.live(TABLE, "INSERT INTO sales VALUES (1)")
        self.live("PRAGMA synchronous = OFF", "INSERT INTO sales VALUES (2)")

    def test_what_was_synced_stays_whoever_lived_since(self):
        for seed in range(8):
            self.live(TABLE, "INSERT INTO sales VALUES (1)")
            self.live("INSERT INTO sales VALUES (2)")
            self.assertEqual(self.left(seed), sorted([1, 2] * (seed + 1)))

    def test_what_an_earlier_life_did_not_sync_can_be_lost(self):
        found = set()
        for seed in range(12):
            self.unsynced()
            # A life that reads it, and syncs nothing.
            self.live("SELECT * FROM sales")
            found.add(2 in self.left(seed))
            os.unlink(self.path)
            for end in ("-wal", "-shm"):
                if os.path.exists(self.path + end):
                    os.unlink(self.path + end)
        self.assertEqual(found, {True, False})

    def test_what_a_later_life_synced_stays(self):
        self.unsynced()
        self.live("INSERT INTO sales VALUES (3)")
        self.assertEqual(self.left(1), [1, 2, 3])

    def test_a_sync_after_one_that_failed_does_not_bring_it_back(self):
        self.live(TABLE, "INSERT INTO sales VALUES (1)")
        self.page.write(FAILING, 1)
        self.live("INSERT INTO sales VALUES (2)")
        self.assertEqual(self.page.read(FAILING), 0)
        self.assertEqual(self.left(1), [1])

    def test_a_process_that_starts_while_clocks_are_wrong_has_the_wrong_clock_too(self):
        self.faults.step_clocks(3600)
        self.assertEqual(self.faults.page("late").read(CLOCK), 3600)

    def test_a_log_whose_syncs_are_left_out_is_lost_by_and_by(self):
        self.live(TABLE, "INSERT INTO sales VALUES (1)")
        self.page.write(LEAVES_LOGS, 1)
        self.live(*[f"INSERT INTO sales VALUES ({number})" for number in range(2, 9)])
        self.assertLess(len(self.left(3)), 8)


if __name__ == "__main__":
    unittest.main()
