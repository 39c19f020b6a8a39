# SPDX-License-Identifier: Apache-2.0
"""Who disturbs: kills servers, breaks connections, fills disks, as a seed says."""

import json
import os
import random
import signal
from collections import Counter

from .disk import Quota
from .programs import Trouble

START_TRIES = 5
POWER_SECONDS = 120


class Supervisor:
    """`stage` has `servers`, `ledgers`, `processor`, `load`, `disk` and `cluster`."""

    def __init__(self, stage, seed):
        self.stage = stage
        self.random = random.Random(seed)
        self.done = Counter()
        self.acts = [(self.kill_server, 8), (self.stop_server, 1), (self.break_connections, 3)]
        if stage.ledgers:
            self.acts.append((self.kill_ledger, 2))
        if stage.processor:
            self.acts.append((self.kill_processor, 2))
        if stage.disk and stage.disk.is_mounted:
            self.acts.append((self.fill_disk, 2))
        if stage.disk:
            self.acts.append((self.bound_files, 2))
        if stage.cluster:
            self.acts += stage.cluster.acts(self)
        if stage.plan.power:
            self.acts.append((self.cut_power, 6))
        if stage.plan.acts:
            self.acts = [each for each in self.acts if each[0].__name__ in stage.plan.acts]
        #: Each is done once before the lot decides.
        self.due = [act for act, _ in self.acts]
        self.random.shuffle(self.due)

    def disturb(self):
        """One disturbance, once the devices have heard some more."""
        self.let_be(self.random.randint(5, 60), 1.5)
        self.revive()
        if self.due:
            act = self.due.pop()
        else:
            (act,) = self.random.choices(
                [act for act, _ in self.acts], [weight for _, weight in self.acts]
            )
        act()
        self.done[act.__name__.replace("_", " ")] += 1

    def revive(self):
        """A database that ended by itself is started again."""
        if self.stage.cluster and (count := self.stage.cluster.revive()):
            self.done["database started again"] += count

    def let_be(self, answers, seconds):
        """Waits until so many more answers were heard, for so long at most."""
        target = heard(self.stage.load.lines) + answers
        self.stage.load.wait_until(lambda lines: heard(lines) >= target, seconds)

    def one(self):
        return self.random.choice(self.stage.servers)

    def kill_server(self):
        server = self.one()
        server.kill()
        self.start(server)

    def stop_server(self):
        server = self.one()
        server.stop()
        self.start(server)

    def cut_power(self):
        """The server's disk forgets what was not synced, and it dies of that.
        It must not be killed in the middle: what is left would be no disk's."""
        server = self.one()
        server.program.kill(signal.SIGUSR1)
        if server.program.ended(POWER_SECONDS) != -signal.SIGKILL:
            raise Trouble("a server whose power was cut did not die of it")
        self.start(server)

    def kill_ledger(self):
        ledger = self.random.choice(self.stage.ledgers)
        ledger.kill()
        self.start(ledger)

    def start(self, server):
        """Starts it again; a database that is away for a moment is tried again."""
        for attempt in range(START_TRIES):
            try:
                server.start()
                break
            except Trouble:
                if attempt == START_TRIES - 1:
                    raise
        server.proxy.target = server.port

    def break_connections(self):
        self.one().proxy.drop_all()

    def kill_processor(self):
        self.stage.processor.kill()

    def fill_disk(self):
        """The disk is full for a while; sometimes the server is killed meanwhile."""
        dies = self.random.randrange(3) == 0
        self.stage.disk.fill()
        self.let_be(10, 0.7)
        server = self.one()
        if dies:
            server.kill()
        self.stage.disk.free()
        if dies:
            self.start(server)

    def bound_files(self):
        """No file of a server may grow, for a while."""
        server = self.one()
        log = max(
            (os.path.getsize(path) for path in self.stage.logs()), default=0
        )
        quota = Quota(server.program.child.pid)
        quota.bound(self.random.choice([1, log, log + 4096]))
        try:
            self.let_be(10, 0.7)
        finally:
            quota.lift()


def heard(lines):
    """How many answers the load has told of."""
    for line in reversed(lines):
        fact = json.loads(line)
        if fact["word"] == "heard":
            return fact["count"]
    return 0
