# SPDX-License-Identifier: Apache-2.0
"""Copies of the store, made while it sells and taken up twice: a backup that is
restored in two places, a snapshot that is put back and advanced in two places.

Each copy is served for a moment and sells; its numbers must be its own. The
store itself goes on, and knows nothing of its copies.
"""

import glob
import os
import random
import shutil
import sqlite3
import subprocess
import time
import uuid

from .device import Device
from .evidence import postgres_reader, sqlite_reader
from .journal import Journal
from .programs import ServedProcess, Trouble
from .signatures import payload
from .worlds import BUNDLE_ID, products, world

SALES = 3
COMMAND_SECONDS = 120
SILENCE = (
    "UPDATE apps SET notification_url = NULL", "DELETE FROM errands WHERE kind = 'notification'",
)


class Forks:
    """Writes one entry for each copy into `forks.log`."""

    def __init__(self, stage, seed):
        self._stage = stage
        self._random = random.Random(seed)
        self._log = Journal(os.path.join(stage.folder, "forks.log"))
        self._count = 0

    # What a supervisor may do

    def restore_twice(self):
        """A backup of the store as it sells, restored in two places; now and
        then the first attempt at the backup is killed."""
        begun_at = time.monotonic_ns()
        archive = self._place("backup.archive")
        if self._random.randrange(3) == 0:
            self._killed(["database", "backup", archive + ".killed", *self._source()])
            begun_at = time.monotonic_ns()
        self._command(["database", "backup", archive, *self._source()])
        for turn in range(2):
            place = self._target(f"restored-{turn}")
            self._command(["database", "restore", archive, *place.options])
            self._live(place, f"restore {self._count}.{turn}", begun_at)

    def advance_twice(self):
        """A snapshot put back in two places, and advanced in each."""
        begun_at = time.monotonic_ns()
        for turn, place in enumerate(self._snapshots()):
            self._command(["database", "advance", *place.options])
            self._live(place, f"advance {self._count}.{turn}", begun_at)

    # How

    def _place(self, name):
        self._count += 1
        return os.path.join(self._stage.folder, f"copy-{self._count}-{name}")

    def _source(self):
        """The options that name the store, of its first server."""
        options = ["--data", self._stage.servers[0].data]
        if self._stage.cluster:
            options += self._database(self._stage.cluster.url)
        return options

    def _database(self, conninfo):
        return ["--database", conninfo, "--seal-key",
                os.path.join(self._stage.folder, "seal.key")]

    def _target(self, name):
        folder = self._place(name)
        os.makedirs(folder, mode=0o700)
        if self._stage.cluster:
            return SharedCopy(folder, self._stage.cluster, f"copy{self._count}", self._database)
        return FileCopy(folder)

    def _snapshots(self):
        """Two copies of the same bytes, of the store at a standstill."""
        if self._stage.cluster:
            first, second = self._target("snapshot"), self._target("snapshot")
            dump = self._stage.cluster.dump()
            for place in (first, second):
                self._stage.cluster.load(place.name, dump)
                shutil.copytree(
                    self._stage.servers[0].data, place.folder, dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("run*", "lock"))
            return [first, second]
        server = self._stage.servers[0]
        server.stop()
        places = []
        for _ in range(2):
            folder = self._place("snapshot")
            shutil.copytree(
                server.data, folder, ignore=shutil.ignore_patterns("run*", "lock", "ballast"))
            places.append(FileCopy(folder))
        self._stage.supervisor.start(server)
        return places

    def _arguments(self, arguments):
        return [*self._stage.plan.command, *arguments]

    def _command(self, arguments):
        """Runs a verb; one that a database's end has cut short is tried again."""
        for _ in range(4):
            self._clean(arguments)
            outcome = subprocess.run(
                self._arguments(arguments), capture_output=True, text=True, check=False,
                timeout=COMMAND_SECONDS)
            if outcome.returncode == 0:
                return
            time.sleep(0.5)
        words = f"{outcome.stderr[-400:]} {outcome.stdout[-400:]}"
        raise Trouble(f"{' '.join(arguments[:2])}: {words}")

    @staticmethod
    def _clean(arguments):
        """A backup wants a file that is not there."""
        if arguments[1] == "backup" and os.path.exists(arguments[2]):
            os.unlink(arguments[2])

    def _killed(self, arguments):
        """A verb that dies in the middle."""
        child = subprocess.Popen(
            self._arguments(arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(self._random.uniform(0.02, 0.3))
        child.kill()
        child.wait()

    def _live(self, place, name, begun_at):
        """Serves a copy, sells in it, and writes down what it holds and gave out."""
        entry = {"name": name, "begun_at": begun_at, "sales": [], "customers": [],
                 "complaints": []}
        server = ServedProcess(
            [*self._stage.plan.command, "serve"],
            ["--bundle-id", BUNDLE_ID, "--scrypt-rounds", "2", *place.serving],
            place.folder, self._stage.errors)
        place.silence()
        server.start()
        try:
            entry["transactions"] = place.transactions()
            self._sell(server, entry)
        finally:
            server.stop()
            place.remove()
        self._log.write(act="fork", **entry)

    def _sell(self, server, entry):
        fresh = f"fresh-{uuid.UUID(int=self._random.getrandbits(128), version=4)}"
        made = server.operate("/operator/v1/customers", {"name": fresh})
        entry["customers"].append({"customer": made["customerId"], "name": fresh})
        for name in (fresh, "customer-0"):
            lot = random.Random(self._random.getrandbits(64))
            device = Device(
                entry["name"], lot, [server.port], products(),
                Journal(os.path.join(server.data, "fork-device.log")), world(name))
            if not device.sign_in():
                entry["complaints"].append(f"{name} cannot sign in")
                continue
            entry["sales"] += list(self._bought(device, entry, is_fresh=name == fresh))

    def _bought(self, device, entry, is_fresh):
        for _ in range(SALES):
            purchase = str(uuid.UUID(int=self._random.getrandbits(128), version=4))
            body = {"productId": "coins.100", "quantity": 1, "unitPrice": 990, "currency": "USD"}
            answer = device.put(purchase, body)
            is_open = answer is not None and answer[1].get("state") == "authorising"
            if is_open and not is_fresh:
                # A charge was under way when the copy was made. It goes on in the store that
                # has the processor, and until then the copy charges no second time.
                continue
            if answer is None or answer[0] != 200 or answer[1]["state"] != "sold":
                entry["complaints"].append(f"{purchase} was not sold: {answer}")
                continue
            number = payload(answer[1]["signedTransaction"])["transactionId"]
            # What is unfinished is not sold again.
            device.put_away(number)
            if answer[1].get("isRepeat"):
                continue
            yield {
                "number": number, "purchase": purchase,
                "customer": device.customer, "where": entry["name"],
            }


class FileCopy:
    """A copy in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.options = ["--data", folder]
        self.serving = []

    def transactions(self):
        """The numbers that it holds, of every realm."""
        return [
            row["transaction_id"]
            for path in self._realms() for row in sqlite_reader(path)("transactions")
        ]

    def _realms(self):
        return glob.glob(os.path.join(self.folder, "realms", "*.sqlite"))

    def silence(self):
        """It sends nothing to the server to which the store itself sends."""
        for path in self._realms():
            connection = sqlite3.connect(path, isolation_level=None)
            try:
                for statement in SILENCE:
                    connection.execute(statement)
            finally:
                connection.close()

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class SharedCopy:
    """A copy in a database of its own, beside the store's."""

    def __init__(self, folder, cluster, name, database):
        self.folder, self._cluster, self.name = folder, cluster, name
        cluster.make_database(name)
        conninfo = f"host={cluster.primary.place} user=postgres dbname={name}"
        self.serving = database(conninfo)
        self.options = ["--data", folder, *self.serving]
        self._conninfo = conninfo

    def transactions(self):
        """The numbers that it holds, of every realm."""
        return [
            row["transaction_id"]
            for schema in self._schemas()
            for row in postgres_reader(self._conninfo, schema)("transactions")
        ]

    def _schemas(self):
        return self._cluster.primary.ask(
            "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'realm\\_%'", self.name
        ).splitlines()

    def silence(self):
        """It sends nothing to the server to which the store itself sends."""
        for schema in self._schemas():
            for statement in SILENCE:
                self._cluster.primary.ask(
                    f'SET search_path TO "{schema}"; {statement}', self.name)

    def remove(self):
        self._cluster.drop_database(self.name)
        shutil.rmtree(self.folder, ignore_errors=True)
