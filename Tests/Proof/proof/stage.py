# SPDX-License-Identifier: Apache-2.0
"""Everything that takes part in a round, started and ended together."""

import glob
import json
import os
import random
import shutil
import subprocess
import sys
import time

from . import counts, evidence
from .auditor import audit
from .cluster import Cluster
from .courier import Courier
from .disk import SmallDisk
from .faults import FAILING, LEAVES_LOGS, SLOW, Faults
from .forks import Forks
from .guardian import Guardian
from .hooks import HookReceiver, Replayer
from .kit import Kit
from .movers import Movers
from .network import Proxy
from .programs import Processor, Program, ServedProcess, Trouble, python_environment
from .receiver import Receiver
from .sabotage import LEFT_UNSYNCED, spoil, spoil_ledger
from .side import Side
from .supervisor import Supervisor
from .worlds import (
    BILLED, BUNDLE_ID, CATALOGUE, GRACE_DAYS, GRANTS, MARKET, OTHER_BUNDLE_ID, RULED, SECOND,
    Worlds, catalogue, extras, ledger_file, plans, products,
)

# However slow the machine: a program without progress reports it earlier.
CALM_SECONDS = 600
# How long errands may take to be done in the calm: in a long round longer than
# the lease of a server that was killed.
DRAIN_SECONDS, LONG_DRAIN_SECONDS, LONG_ROUND_SECONDS = 6, 45, 30
# Customers are numbered from bucket 1 on: every other one is on the second cluster.
FAR_BUCKETS = "0,2,4,6,8,10,12,14,16-999"
# What a ledger does with a purchase that another account presents: as the lot falls in each
# of its lives. The first of a long round shares it, and in the calm it is moved.
POLICIES = ["transfer"] * 4 + ["share"] * 3 + ["keep", "refuse"]
FIRST_POLICY, CALM_POLICY = "share", "transfer"
# What failed again and again is tried again within the hour.
CLOCK_LEAP = {"advanceMilliseconds": 2 * 3_600_000}


class Stage:
    """A store of `plan.servers` processes, unreliable networks before them,
    a processor behind them, and a load."""

    def __init__(self, plan, folder):
        self.plan, self.folder = plan, folder
        os.makedirs(folder, exist_ok=True)
        seeds = random.Random(plan.seed)
        self.faults = Faults()
        self.errors = open(os.path.join(folder, "errors.txt"), "ab")
        self.cluster = None
        self.disk = self.processor = self.load = self.guardian = self.receiver = None
        self.servers, self.ledgers, self.proxies = [], [], []
        self.forks = self.side = self.courier = self.hooks = self.replayer = None
        self._policies = self.supervisor = None
        self.kits, self.movers = [], None
        #: How many seconds a clock was ahead, at most.
        self._ahead = 0
        self.first_starts_killed = 0
        try:
            self._start(seeds)
        except BaseException:
            self.close()
            raise

    def _start(self, seeds):
        options = [CATALOGUE, "--bundle-id", BUNDLE_ID, "--scrypt-rounds", "2"]
        options += self.plan.serve_options
        if self.plan.processor:
            self.processor = Processor(self.folder, seeds.getrandbits(32), self.errors)
            options += ["--processor", self.processor.url]
            for realm in ("default", SECOND, BILLED):
                options += ["--processor-realm", realm]
        data = os.path.join(self.folder, "data")
        if self.plan.engine == "postgres":
            self.cluster = Cluster(
                seeds.getrandbits(32), self.plan.standby, self.faults if self._may_fault else None)
            options += ["--database", self.cluster.url, "--seal-key", self._seal_key(seeds)]
            if self.plan.clusters == 2:
                options += ["--cluster", f"{FAR_BUCKETS}={self.cluster.add('far')}"]
        else:
            self.disk = SmallDisk(data, self.plan.disk_megabytes)
        for number in range(self.plan.servers):
            place = data if self.plan.engine == "sqlite" else f"{data}-{number}"
            os.makedirs(place, mode=0o700, exist_ok=True)
            server = ServedProcess([*self.plan.command, "serve"], options, place, self.errors)
            self.servers.append(server)
            self._open(server, seeds)
        if self.plan.notifications:
            self.receiver = Receiver(self.folder, seeds.getrandbits(32))
        self.worlds = Worlds(self.servers[0], self.plan, self.receiver)
        self.roots = self.worlds.roots(self.folder)
        if self.plan.sabotage:
            spoil(data, self.plan.sabotage)
        if self.plan.ledger:
            if self.faults.is_there:
                self.hooks = HookReceiver(self.folder, seeds.getrandbits(32))
            self._policies = random.Random(seeds.getrandbits(32))
        for number in range(self.plan.servers if self.plan.ledger else 0):
            self._start_ledger(number, seeds)
        if self.ledgers:
            self._key = self.ledgers[0].merchant_key()
            if self.plan.sabotage:
                spoil_ledger(self.ledgers[0].data, self.plan.sabotage)
        if self.hooks:
            self.replayer = Replayer(
                self.folder, self.ledgers, self._key, self.hooks, seeds.getrandbits(32)).start()
        if self.ledgers and self.receiver:
            self.courier = Courier(self.folder, self.ledgers, seeds.getrandbits(32)).start()
            self.receiver.on_accepted = self.courier.add
        self._leave_logs()
        self.guardian = Guardian(
            self.servers, os.path.join(self.folder, "guardian.log"), seeds.getrandbits(32)
        )
        self.load = Program(
            [sys.executable, "-m", "proof.load", self.folder], self.errors,
            stdin=subprocess.PIPE, environment=python_environment(),
        )
        self.order(json.dumps(self._orders(seeds.getrandbits(32))))
        if self.worlds.moving:
            self.movers = Movers(self, seeds.getrandbits(32))
        # Of several clusters there is no archive of one moment, and no backup.
        takes_copies = self._is_whole and self.plan.clusters == 1
        self.forks = Forks(self, seeds.getrandbits(32)) if takes_copies else None
        self.side = Side(self, seeds.getrandbits(32)) if self._is_whole else None
        if self._is_whole and self.plan.kits:
            self.kits = [
                Kit(self, number, name, seeds.getrandbits(32))
                for number, name in enumerate(self.worlds.kits())
            ]
        self.supervisor = Supervisor(self, seeds.getrandbits(32), self.plan.is_short)

    def _open(self, server, seeds):
        """Starts a server and opens a network before it."""
        if self.faults.is_there:
            server.page = self.faults.page(f"process-{len(self.proxies)}")
            server.variables = dict(server.page.variables)
            if self.hooks:
                server.variables["PROOF_ROOTS"] = self.hooks.certificate
            if self.disk:
                server.power = self.faults.disk(server.data)
                server.variables |= server.power.variables
        if self._may_fault:
            self._kill_first_starts(server, seeds)
        server.start()
        server.proxy = Proxy(seeds.getrandbits(32))
        server.proxy.target = server.port
        self.proxies.append(server.proxy)

    def _kill_first_starts(self, server, seeds):
        """Kills it as it makes its databases, in the middle of its migrations."""
        for _ in range(seeds.randint(1, 3)):
            server.start_and_kill(seeds.uniform(0.02, 0.6))
            self.first_starts_killed += 1

    def _leave_logs(self):
        """With such a sabotage commits are not synced any more."""
        for server in self.served:
            is_ledger = server in self.ledgers
            if LEFT_UNSYNCED.get(self.plan.sabotage, ("", None))[1] is is_ledger:
                server.page.write(LEAVES_LOGS, 1)

    def _start_ledger(self, number, seeds):
        """The merchant's, which believes the store's roots; on the engine of the round."""
        place = os.path.join(self.folder, f"ledger-{number}")
        os.makedirs(place, mode=0o700)
        rules = os.path.join(place, "ledger.yaml")
        options = [
            "--config", rules,
            "--bundle-id", BUNDLE_ID, "--bundle-id", OTHER_BUNDLE_ID, "--environment", "Sandbox",
            "--environment", "Production",
            # The status of certificates is asked at the port that the store had when
            # it made them; a server that was killed may find that port taken.
            "--online-checks", "soft",
        ]
        for root in self.roots:
            options += ["--trust", root]
        if self.cluster:
            options += ["--database", self.cluster.url]
        ledger = ServedProcess(
            [*self.plan.command, "ledger", "serve"], options, place, self.errors
        )
        ledger.prepare = lambda: self._configure(rules)
        self.ledgers.append(ledger)
        self._open(ledger, seeds)

    def _configure(self, path):
        """Writes a ledger's file for its next life."""
        policy = self._policies.choice(POLICIES) if self._policies else CALM_POLICY
        if self.supervisor is None and not self.plan.is_short:
            policy = FIRST_POLICY
        hooks = self.hooks.settings(os.path.dirname(path)) if self.hooks else ()
        ledger_file(path, policy, hooks)

    def _seal_key(self, seeds):
        """What the servers seal their shared keys with."""
        path = os.path.join(self.folder, "seal.key")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write(f"{seeds.getrandbits(256):064x}\n")
        return path

    def _orders(self, seed):
        orders = {
            "seed": seed, "devices": self.worlds.devices,
            "fronts": [server.proxy.port for server in self.servers], "products": products(),
            "purchasesMax": self.plan.purchases_max, "plans": sorted(plans()),
            "extras": extras(),
        }
        if self.ledgers:
            orders["ledger"] = {
                "fronts": [ledger.proxy.port for ledger in self.ledgers],
                "key": self._key,
            }
        return orders

    @property
    def _is_whole(self):
        """Whether the round has every realm and app, and everything is done to it."""
        return not self.worlds.is_plain and not self.plan.sabotage

    @property
    def _may_fault(self):
        return self.faults.is_there and not self.plan.is_plain

    def more_acts(self, supervisor):
        """Disturbances that happen inside of processes."""
        if not self._may_fault:
            return []

        def step_clock():
            """The machine's clock is wrong for a while, ahead or behind."""
            minutes = supervisor.random.choice([-2880, -60, -1, 1, 60, 2880])
            self._ahead = max(self._ahead, minutes * 60)
            self.faults.step_clocks(minutes * 60)
            try:
                supervisor.let_be(20, 0.8)
            finally:
                self.faults.step_clocks(0)

        def fail_syncs():
            """The disk reports errors where something is made durable."""
            page = supervisor.random.choice(self.served).page
            page.write(FAILING, supervisor.random.randint(1, 4))
            supervisor.let_be(15, 0.6)
            page.write(FAILING, 0)

        def slow_syncs():
            """Commits take long: of files, of every server's."""
            for server in self.served:
                server.page.write(SLOW, supervisor.random.randint(5_000, 120_000))
            supervisor.let_be(15, 0.8)
            for server in self.served:
                server.page.write(SLOW, 0)

        return [
            (step_clock, 2, "clock"), (fail_syncs, 2, "sync"), (slow_syncs, 1, "sync"),
        ]

    @property
    def served(self):
        return self.servers + self.ledgers

    @property
    def networks(self):
        return [*self.proxies, *([self.cluster.proxy] if self.cluster else [])]

    def order(self, line):
        self.load.child.stdin.write(line + "\n")
        self.load.child.stdin.flush()

    def logs(self):
        """The files that a commit is appended to."""
        return glob.glob(os.path.join(self.folder, "data", "realms", "*-wal"))

    def play(self, seconds):
        """Disturbs for so long, then lets everything come to rest."""
        if self.cluster:
            self.cluster.proxy.disturb()
        start = time.monotonic()
        while time.monotonic() - start < seconds and self.load.is_alive:
            self.supervisor.disturb()
        self.supervisor.finish()
        self._quieten()
        complaints = self._rest(
            DRAIN_SECONDS if seconds < LONG_ROUND_SECONDS else LONG_DRAIN_SECONDS)
        codes = [server.stop() for server in self.servers]
        self._audit()
        codes += [ledger.stop() for ledger in self.ledgers]
        return complaints + [
            f"a server that was told to stop ended with {code}" for code in codes if code != 0
        ]

    def _audit(self):
        """No store tells anything more: the ledger gets what it has not heard, and is asked."""
        if not self.ledgers:
            return
        if self.courier and not self.courier.rest():
            raise Trouble("the ledger did not accept every notification")
        if self.replayer and not self.replayer.rest():
            raise Trouble("the ledger did not send every webhook")
        accounts = sorted(row["account"] for row in self._ledger_reader()("accounts"))
        audit(self.folder, self.ledgers[0], self._key, accounts, self._ahead)

    def _ledger_reader(self):
        if self.cluster:
            return self.cluster.rows("ledger")
        return evidence.sqlite_reader(os.path.join(self.ledgers[0].data, "ledger.sqlite"))

    def _quieten(self):
        """No more mischief. Every server is there."""
        for proxy in self.networks:
            proxy.calm()
        for party in (self.processor, self.receiver, self.hooks, self.replayer):
            if party:
                party.calm()
        self._policies = None
        self.supervisor.revive()
        # What was sold under a clock ahead is dated so, and a ledger takes no
        # proof from the future: in the calm those days have come.
        self.faults.step_clocks(self._ahead)
        # A start in the calm settles what earlier lives left.
        for server in self.served:
            server.stop()
            self.supervisor.start(server)

    def _rest(self, drain):
        """Everything ends what it was about; what the devices complain of. They read to
        the end when the clocks of subscribers stand and nothing is renewed any more."""
        if self.movers:
            self.movers.close()
        self.order("calm")
        for kit in self.kits:
            kit.rest()
        if self.load.wait_until(has_wound_up, CALM_SECONDS) is None:
            raise Trouble("the devices did not wind up")
        if self.movers:
            self.movers.rest(drain)
        self.order("end")
        done = self.load.wait_until(finished, CALM_SECONDS)
        if done is None:
            raise Trouble("the devices did not come to rest")
        self.guardian.close()
        self._drain(drain)
        return done["complaints"]

    def _drain(self, seconds):
        """Waits until no errand is due any more: what is to be captured, given
        back and sent. The clocks of sandboxes are moved, so that what failed
        and is tried again later comes now."""
        for prefix in ("", *([] if self.worlds.is_plain else [f"/realms/{SECOND}"])):
            if self.plan.moves_clocks:
                self.servers[0].control(f"{prefix}/control/v1/clock", CLOCK_LEAP)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and any(
            reader("errands") for reader in self._realms()
        ):
            time.sleep(0.1)

    def readers_of(self, realm):
        """A reader for each cluster of one realm."""
        return [reader for reader in self._realms() if reader("realm")[0]["name"] == realm]

    def _realms(self):
        """A reader for each realm and cluster that is judged."""
        if self.cluster:
            return self.cluster.realm_readers(self._judged)
        return [
            evidence.sqlite_reader(path)
            for path in sorted(glob.glob(os.path.join(self.folder, "data", "realms", "*.sqlite")))
            if self._judged(evidence.sqlite_reader(path))
        ]

    @staticmethod
    def _judged(reader):
        """Whether a realm is judged here: others have rules of their own."""
        return reader("realm")[0]["name"] in (
            "default", SECOND, MARKET, RULED, BILLED)

    def evidence(self):
        registry = (
            self.cluster.rows("shopkeeper") if self.cluster
            else evidence.sqlite_reader(os.path.join(self.folder, "data", "store.sqlite"))
        )
        roots = [open(path, "rb").read() for path in self.roots]
        sources = evidence.Sources(self.folder, self._realms(), registry, roots)
        sources.seconds_ahead = self._ahead
        sources.has_processor = self.processor is not None
        sources.has_receiver = self.receiver is not None
        sources.catalogue, sources.plans = catalogue(), plans()
        sources.grace_days = GRACE_DAYS
        sources.unprocessed = {RULED}
        sources.seconds_stepped = self.faults.seconds_stepped
        if self.ledgers:
            sources.ledger, sources.grants = self._ledger_reader(), GRANTS
        if self.hooks:
            sources.webhooks = {
                self.hooks.url(name): (name, secret)
                for name, secret in self.hooks.secrets.items()}
        return evidence.gather(sources)

    def keep(self):
        """Copies the databases beside the histories, for people to look at."""
        if self.disk:
            copy = os.path.join(self.folder, "databases")
            shutil.copytree(os.path.join(self.folder, "data", "realms"), copy)
        if self.cluster:
            self.cluster.keep(self.folder)

    def halt(self):
        """Ends all programs that call the store or write to it; its databases stay."""
        for kit in self.kits:
            kit.close()
        if self.load:
            self.load.kill()
        for party in (self.guardian, self.movers):
            if party:
                party.end()
        for party in (self.courier, self.replayer):
            if party:
                party.close()
        for server in self.served:
            if server.program:
                server.kill()

    def close(self):
        self.halt()
        if self.processor:
            self.processor.close()
        for party in (self.receiver, self.hooks):
            if party:
                party.close()
        self.faults.close()
        for proxy in self.proxies:
            proxy.close()
        if self.cluster:
            self.cluster.close()
        if self.disk:
            self.disk.close()
        self.errors.close()

    def tally(self, gathered):
        mischief = {}
        for proxy in self.networks:
            for name, count in proxy.counts.items():
                mischief[name] = mischief.get(name, 0) + count
        lives = {
            "cut short": sum(server.cut_short for server in self.served),
            "servers": [server.lives for server in self.servers],
        }
        if self.ledgers:
            lives["ledgers"] = [ledger.lives for ledger in self.ledgers]
        if self.kits:
            lives["kits"] = [kit.lives for kit in self.kits]
        if self.processor:
            lives["processor"] = self.processor.lives
        return {
            **counts.tally(gathered),
            "syncs failed": self.faults.syncs_failed,
            "first starts killed": self.first_starts_killed,
            "clusters": self.plan.clusters,
            "disturbances": dict(self.supervisor.done),
            "network": mischief, "lives": lives,
        }


def has_wound_up(lines):
    return True if any(json.loads(line)["word"] == "wound up" for line in lines) else None


def finished(lines):
    for line in reversed(lines):
        fact = json.loads(line)
        if fact["word"] == "done":
            return fact
    return None
