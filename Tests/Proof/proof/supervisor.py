# SPDX-License-Identifier: Apache-2.0
"""The disturber: kills servers, breaks connections, fills disks, by a seed."""

import contextlib
import json
import os
import random
import threading
import time
from collections import Counter

from .disk import Quota
from .faults import SLOW
from .programs import START_SECONDS, Trouble

#: Between two tries to start a server whose database is away.
START_PAUSE = 0.2
SHORT_DUE = 8
# Microseconds that a sync takes while a life only reads.
COMMITS_WAIT = 1_500_000
# So many answers, or seconds, after which each device has read to the end.
READS, READ_SECONDS = 150, 0.5


class Act:
    """A disturbance: what it does, how often it is drawn, and what it touches.
    Two that touch different things may be played at once."""

    def __init__(self, play, weight, touches, is_long=False):
        self.play, self.weight, self.touches, self.is_long = play, weight, touches, is_long
        self.name = play.__name__.replace("_", " ")


class Supervisor:
    """`stage` has `servers`, `ledgers`, `processor`, `load`, `disk` and `cluster`."""

    def __init__(self, stage, seed, is_short):
        self.stage = stage
        self.random = random.Random(seed)
        self.done = Counter()
        self._failures = []
        self.acts = self._all_acts()
        if stage.plan.acts:
            self.acts = [act for act in self.acts if act.play.__name__ in stage.plan.acts]
        self.acts = [
            act for act in self.acts if act.play.__name__ not in stage.plan.without_acts
        ]
        #: Each is done once before the lot decides. In a short round some are, as
        #: the seed says, so that short rounds take turns.
        self.due = list(self.acts)
        self.random.shuffle(self.due)
        if is_short:
            self.acts = [act for act in self.acts if not act.is_long]
            self.due = [act for act in self.due if not act.is_long][:SHORT_DUE]

    def _all_acts(self):
        stage = self.stage
        acts = [
            Act(self.kill_server, 8, "server"), Act(self.stop_server, 1, "server"),
            Act(self.kill_starting_server, 2, "server"), Act(self.kill_everything, 2, "everything"),
            Act(self.break_connections, 3, "network"),
        ]
        if stage.ledgers:
            acts.append(Act(self.kill_ledger, 2, "ledger"))
        if stage.kits:
            acts.append(Act(self.kill_kit, 2, "kit"))
        if stage.processor:
            acts.append(Act(self.kill_processor, 2, "processor"))
        if stage.disk and stage.disk.is_mounted:
            acts.append(Act(self.fill_disk, 2, "server"))
        if stage.disk:
            acts.append(Act(self.bound_files, 2, "server"))
        if stage.cluster:
            acts += [Act(act, weight, "database") for act, weight in stage.cluster.acts(self)]
        if stage.servers[0].power:
            acts += self._power_acts()
        if stage.forks:
            acts += [
                Act(stage.forks.restore_twice, 1, "everything", is_long=True),
                Act(stage.forks.advance_twice, 1, "everything", is_long=True),
            ]
        if stage.movers:
            acts.append(Act(stage.movers.kill_in_a_jump, 4, "server"))
        if stage.side:
            acts += [
                Act(stage.side.clear_history, 2, "server"),
                Act(stage.side.reset_realm, 2, "server"),
                Act(stage.side.rotate_certificates, 1, "server"),
            ]
        return acts + [Act(*each) for each in stage.more_acts(self)]

    def _power_acts(self):
        """Where a disk can forget what was not synced."""
        acts = [
            Act(self.cut_power, 4, "server"), Act(self.kill_then_cut_power, 4, "everything"),
        ]
        if self.stage.ledgers:
            acts.append(Act(self.cut_power_of_ledger, 2, "ledger"))
        return acts

    def disturb(self):
        """One disturbance, once the devices have received some more answers; every third
        time another one at the same moment."""
        self.let_be(self.random.randint(5, 60), 1.5)
        self.revive()
        act = self.due.pop() if self.due else self._drawn(self.acts)
        others = [
            other for other in self.acts
            if "everything" not in (act.touches, other.touches) and other.touches != act.touches
        ]
        if others and self.random.randrange(3) == 0:
            self._play_both(act, self._drawn(others))
        else:
            act.play()
        self.done[act.name] += 1

    def _drawn(self, acts):
        (act,) = self.random.choices(acts, [act.weight for act in acts])
        return act

    def _play_both(self, act, other):
        """Two at once, each with a moment of its own to begin."""
        pause = self.random.uniform(0, 0.3)

        def play_other():
            threading.Event().wait(pause)
            try:
                other.play()
            except Exception as problem:  # the round must not go on as if it had been played
                self._failures.append(f"{other.name}: {type(problem).__name__}: {problem}")

        thread = threading.Thread(target=play_other)
        thread.start()
        try:
            act.play()
        finally:
            # Whatever became of the one, the other must not go on by itself.
            thread.join()
        if self._failures:
            raise Trouble(self._failures[0])
        self.done[other.name] += 1
        self.done["two at once"] += 1
        self.done[f"at once: {' and '.join(sorted([act.name, other.name]))}"] += 1

    def finish(self):
        """Ends what is still under way."""

    def revive(self):
        """A database that ended by itself is started again."""
        if self.stage.cluster and (count := self.stage.cluster.revive()):
            self.done["database started again"] += count

    def let_be(self, answers, seconds):
        """Waits until this many more answers were received, for at most this long."""
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

    def kill_starting_server(self):
        """Killed, and killed again as it comes up: in the middle of its
        migrations, of opening its databases, of settling what was left."""
        server = self.one()
        server.kill()
        for _ in range(self.random.randint(1, 3)):
            server.start_and_kill(self.random.uniform(0.01, 0.6))
        self.start(server)

    def kill_everything(self):
        """Servers, ledgers and the database at one moment, as when a machine goes,
        every other time with its power."""
        has_power = bool(self.random.randrange(2))
        for server in self.stage.served:
            server.program.kill()
        if self.stage.cluster:
            self.stage.cluster.primary.kill()
            self.stage.cluster.primary.start()
        for server in self.stage.served:
            server.program.ended()
            if not has_power:
                self._forget(server)
            self.start(server)

    def cut_power(self):
        """A server dies, and its disk forgets what was not synced."""
        self._cut_slowly(self.one())

    def cut_power_of_ledger(self):
        """The same of a ledger."""
        self._cut_slowly(self.random.choice(self.stage.ledgers))

    def _cut_slowly(self, server):
        """Syncs take long, so that the power goes in the middle of one."""
        with self._slow(server):
            self.let_be(10, self.random.uniform(0.1, 0.5))
            server.kill()
        self._cut(server)

    def kill_then_cut_power(self):
        """Syncs are slow, so that a kill finds one under way. The next life reads
        what was not synced, and answers; first no device writes, since a commit
        would hold up other requests and sync the log; then commits wait; then the
        power goes."""
        server = self.random.choice(self.stage.served)
        with self._slow(server):
            self.let_be(10, self.random.uniform(0.1, 0.5))
            server.kill()
            with self._reading():
                self.start(server)
                server.page.write(SLOW, COMMITS_WAIT)
                self.let_be(READS, READ_SECONDS)
            self.let_be(60, self.random.uniform(0.2, 1.0))
            server.kill()
        self._cut(server)

    @contextlib.contextmanager
    def _reading(self):
        """The devices only read."""
        self.stage.order("read")
        try:
            yield
        finally:
            self.stage.order("shop")

    @contextlib.contextmanager
    def _slow(self, server):
        server.page.write(SLOW, self.random.randint(20_000, 120_000))
        try:
            yield
        finally:
            server.page.write(SLOW, 0)

    def _cut(self, server):
        self._forget(server)
        self.start(server)

    def _forget(self, server):
        """What is in memory alone is gone; the process is dead."""
        if server.power:
            self.done["changes not synced when the power was cut"] += server.power.forget(
                self.random)

    def kill_ledger(self):
        ledger = self.random.choice(self.stage.ledgers)
        ledger.kill()
        self.start(ledger)

    def start(self, server):
        """Starts it again. Another act may be restarting its database, for as long as
        a start may take."""
        last = time.monotonic() + START_SECONDS
        while True:
            try:
                server.start()
                break
            except Trouble:
                if time.monotonic() > last:
                    raise
            threading.Event().wait(START_PAUSE)
        server.proxy.target = server.port

    def kill_kit(self):
        self.random.choice(self.stage.kits).kill()

    def break_connections(self):
        self.one().proxy.drop_all()

    def kill_processor(self):
        self.stage.processor.kill()

    def fill_disk(self):
        """The disk is full for a while; sometimes the server is killed at that time."""
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
    """How many answers the load has reported."""
    for line in reversed(lines):
        fact = json.loads(line)
        if fact["word"] == "heard":
            return fact["count"]
    return 0
