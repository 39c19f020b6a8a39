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

from . import evidence, rules
from .cluster import Cluster
from .disk import SmallDisk
from .guardian import Guardian
from .network import Proxy
from .programs import Processor, Program, ServedProcess, Trouble, python_environment
from .supervisor import Supervisor

PACKAGE = os.path.dirname(os.path.abspath(__file__))
CATALOGUE = os.path.join(os.path.dirname(PACKAGE), "proof.storekit")
PRODUCTS = [
    *[{"id": "coins.100", "price": 990, "isOnce": False}] * 5,
    *[{"id": "coins.500", "price": 3990, "isOnce": False}] * 5,
    {"id": "no.ads", "price": 2490, "isOnce": True},
    {"id": "level.2", "price": 1490, "isOnce": True},
]
BUNDLE_ID = "com.example.proof"
# However slow the machine: who gets nowhere says so earlier.
CALM_SECONDS = 600


class Stage:
    """A store of `plan.servers` processes, unreliable networks before them,
    a processor behind them, and a load."""

    def __init__(self, plan, folder):
        self.plan, self.folder = plan, folder
        os.makedirs(folder, exist_ok=True)
        seeds = random.Random(plan.seed)
        self.errors = open(os.path.join(folder, "errors.txt"), "ab")
        self.cluster = None
        self.disk = self.processor = self.load = self.guardian = None
        self.servers, self.ledgers, self.proxies = [], [], []
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
            options += ["--processor", self.processor.url, "--processor-realm", "default"]
        data = os.path.join(self.folder, "data")
        if self.plan.engine == "postgres":
            self.cluster = Cluster(seeds.getrandbits(32), self.plan.standby)
            options += ["--database", self.cluster.url, "--seal-key", self._seal_key(seeds)]
        else:
            self.disk = SmallDisk(data, self.plan.disk_megabytes)
        for number in range(self.plan.servers):
            place = data if self.plan.engine == "sqlite" else f"{data}-{number}"
            os.makedirs(place, mode=0o700, exist_ok=True)
            server = ServedProcess([*self.plan.command, "serve"], options, place, self.errors)
            self.servers.append(server)
            self._open(server, seeds)
        for number in range(self.plan.servers if self.plan.ledger else 0):
            self._start_ledger(number, seeds)
        names = [f"customer-{number}" for number in range(self.plan.customers)]
        for name in names:
            self.servers[0].operate("/operator/v1/customers", {"name": name})
        self.guardian = Guardian(
            self.servers, os.path.join(self.folder, "guardian.log"), seeds.getrandbits(32)
        )
        self.load = Program(
            [sys.executable, "-m", "proof.load", self.folder], self.errors,
            stdin=subprocess.PIPE, environment=python_environment(),
        )
        self.order(json.dumps(self._orders(names, seeds.getrandbits(32))))
        self.supervisor = Supervisor(self, seeds.getrandbits(32))

    def _open(self, server, seeds):
        """Starts a server and opens a network before it."""
        server.start()
        server.proxy = Proxy(seeds.getrandbits(32))
        server.proxy.target = server.port
        self.proxies.append(server.proxy)

    def _start_ledger(self, number, seeds):
        """The merchant's, which believes the store's root; on the engine of the round."""
        place = os.path.join(self.folder, f"ledger-{number}")
        os.makedirs(place, mode=0o700)
        options = [
            "--bundle-id", BUNDLE_ID, "--trust", os.path.join(self.servers[0].data, "root.pem")
        ]
        if self.cluster:
            options += ["--database", self.cluster.url]
        ledger = ServedProcess(
            [*self.plan.command, "ledger", "serve"], options, place, self.errors
        )
        self.ledgers.append(ledger)
        self._open(ledger, seeds)

    def _seal_key(self, seeds):
        """What the servers seal their shared keys with."""
        path = os.path.join(self.folder, "seal.key")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write(f"{seeds.getrandbits(256):064x}\n")
        return path

    def _orders(self, names, seed):
        orders = {
            "seed": seed, "devices": self.plan.devices, "customers": names,
            "fronts": [server.proxy.port for server in self.servers], "products": PRODUCTS,
            "purchasesMax": self.plan.purchases_max, "asksToBuy": self.plan.approvals,
        }
        if self.ledgers:
            orders["ledger"] = {
                "fronts": [ledger.proxy.port for ledger in self.ledgers],
                "key": self.ledgers[0].keys()["key"],
            }
        return orders

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
            self.cluster.proxy.is_calm = False
        start = time.monotonic()
        while time.monotonic() - start < seconds and self.load.is_alive:
            self.supervisor.disturb()
        for proxy in self.networks:
            proxy.is_calm = True
        if self.processor:
            self.processor.calm()
        self.supervisor.revive()
        # A start in the calm settles what earlier lives left.
        for server in self.served:
            server.stop()
            self.supervisor.start(server)
        self.order("calm")
        done = self.load.wait_until(finished, CALM_SECONDS)
        if done is None:
            raise Trouble("the devices did not come to rest")
        self.guardian.close()
        for server in self.served:
            if server.stop() != 0:
                raise Trouble("a server that was told to stop did not end well")
        return done["complaints"]

    def evidence(self):
        if self.cluster:
            database = self.cluster.reader()
        else:
            (path,) = glob.glob(os.path.join(self.folder, "data", "realms", "*.sqlite"))
            database = evidence.sqlite_reader(path)
        ledger = None
        if self.ledgers and self.cluster:
            ledger = self.cluster.rows("ledger")
        elif self.ledgers:
            ledger = evidence.sqlite_reader(os.path.join(self.ledgers[0].data, "ledger.sqlite"))
        return evidence.gather(self.folder, database, self.processor is not None, ledger)

    def keep(self):
        """Copies the databases beside the histories, for people to look at."""
        if self.disk:
            copy = os.path.join(self.folder, "databases")
            shutil.copytree(os.path.join(self.folder, "data", "realms"), copy)
        if self.cluster:
            self.cluster.keep(self.folder)

    def close(self):
        if self.load:
            self.load.kill()
        if self.guardian:
            self.guardian.end()
        for server in self.served:
            if server.program:
                server.kill()
        if self.processor:
            self.processor.close()
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
        lives = {"servers": [server.lives for server in self.servers]}
        if self.ledgers:
            lives["ledgers"] = [ledger.lives for ledger in self.ledgers]
        if self.processor:
            lives["processor"] = self.processor.lives
        return {
            **rules.tally(gathered), "disturbances": dict(self.supervisor.done),
            "network": mischief, "lives": lives,
        }


def finished(lines):
    for line in reversed(lines):
        fact = json.loads(line)
        if fact["word"] == "done":
            return fact
    return None
