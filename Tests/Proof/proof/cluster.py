# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of a round's own: a primary, a standby that holds every commit
before it is acknowledged, and a proxy before them that loses answers."""

import os
import shutil
import subprocess
import tempfile

from .evidence import postgres_reader
from .faults import FAILING
from .network import DatabaseProxy
from .node import Node
from .programs import Trouble

# Room for its log, which keeps what a standby may still want, and some sales.
DISK_MEGABYTES = 448
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "100",
    "shared_buffers": "32MB",
    "log_min_messages": "fatal",
    "autovacuum": "off",
    "max_wal_size": "128MB",
    "wal_keep_size": "64MB",
    "wal_retrieve_retry_interval": "100ms",
}
# From the first moment of each: nothing is acknowledged that only one holds.
TWO_HOLD_IT = {"synchronous_standby_names": "*"}


class Cluster:
    """`acts` are what a supervisor may do to it; `url` is for the stores."""

    def __init__(self, seed, has_standby=True, faults=None):
        self._settings = {**SETTINGS, **(TWO_HOLD_IT if has_standby else {})}
        self.place = tempfile.mkdtemp(prefix="proof-pg.")
        os.chmod(self.place, 0o755)
        self._nodes = 0
        self._faults = faults
        #: The store's, the first of which holds its registry.
        self.databases = ["postgres"]
        self.primary = self.standby = self.proxy = None
        self.log = open(os.path.join(self.place, "log"), "ab")
        try:
            self.primary = self._node()
            self.primary.make()
            self.primary.start()
            if has_standby:
                self._attach()
            front = os.path.join(self.place, "front")
            os.makedirs(front)
            self.proxy = DatabaseProxy(front + "/.s.PGSQL.5432", seed)
            self.proxy.target = self.primary.socket
            self.url = f"host={front} user=postgres dbname=postgres"
        except BaseException:
            self.close()
            raise

    def _node(self):
        self._nodes += 1
        place = os.path.join(self.place, f"n{self._nodes}")
        page = self._faults.page(f"node-{self._nodes}") if self._faults else None
        return Node(place, self._settings, self.log, DISK_MEGABYTES, page)

    def _attach(self):
        """A new standby: commits are acknowledged again once it streams."""
        self.standby = self._node()
        self.standby.copy(self.primary)
        self.standby.start()
        self.primary.wait_for(
            "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'", "its standby"
        )

    def acts(self, supervisor):
        def restart_database():
            self.primary.stop("fast" if supervisor.random.randrange(2) else "immediate")
            self.primary.start()

        def kill_database():
            self.primary.kill()
            self.primary.start()

        def promote_standby():
            self.promote()

        def break_database_connections():
            self.proxy.drop_all()

        def restart_standby():
            """Commits wait for it during this time."""
            self.standby.kill()
            supervisor.let_be(10, 0.3)
            self.standby.start()

        def fill_database_disk():
            """The room of one server ends: of its tables, or with a new file
            for its log, which ends the server itself."""
            both = [self.primary, self.primary, self.standby or self.primary]
            self._fill(supervisor, supervisor.random.choice(both))

        def fail_database_syncs():
            """Its disk reports errors: it ends, and recovers."""
            self.primary.page.write(FAILING, 1)
            supervisor.let_be(10, 0.7)
            self.primary.page.write(FAILING, 0)
            if not self.primary.is_ready:
                self.primary.kill()
                self.primary.start()

        acts = [(restart_database, 1), (kill_database, 2), (break_database_connections, 3)]
        if self.standby:
            acts += [(promote_standby, 2), (restart_standby, 1)]
        if self._faults:
            acts.append((fail_database_syncs, 2))
        if self.primary.disk.is_mounted:
            acts.append((fill_database_disk, 2))
        return acts

    def _fill(self, supervisor, node):
        node.disk.fill()
        supervisor.let_be(10, 0.7)
        if supervisor.random.randrange(2):
            self.primary.begin_log_file()
            supervisor.let_be(10, 0.7)
        dies = supervisor.random.randrange(3) == 0
        if dies:
            node.kill()
        node.disk.free()
        # A server that could not write its log is down, or trying to come up.
        if dies or not node.is_ready:
            node.kill()
            node.start()

    def revive(self):
        """How many servers had ended by themselves, and run again."""
        return sum(node.revive() for node in (self.primary, self.standby) if node)

    def promote(self):
        """The primary dies and never comes back; its standby takes its place."""
        dead = self.primary
        dead.kill()
        self.proxy.target = None
        self.proxy.drop_all()
        self.primary = self.standby
        self.primary.promote()
        self.proxy.target = self.primary.socket
        self._attach()
        dead.remove()

    def realm_readers(self, is_judged):
        """Readers of the realms that are judged, in every database of the store."""
        found = []
        for database in self.databases:
            conninfo = self.primary.conninfo.replace("dbname=postgres", f"dbname={database}")
            names = self.primary.ask(
                "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'realm\\_%' ORDER BY 1",
                database)
            readers = [postgres_reader(conninfo, name) for name in names.splitlines()]
            found += [reader for reader in readers if is_judged(reader)]
        return found

    def add(self, name):
        """One more database of the store, with customers of its own; its conninfo."""
        self.make_database(name)
        self.databases.append(name)
        return self.url.replace("dbname=postgres", f"dbname={name}")

    def make_database(self, name):
        """An empty database beside the store's."""
        self.primary.ask(f"CREATE DATABASE {name} TEMPLATE template0")

    def drop_database(self, name):
        self.primary.ask(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def dump(self):
        """The store's first database as SQL, of one moment, as a snapshot has it."""
        outcome = subprocess.run(
            ["pg_dump", "--no-owner", self.primary.conninfo], capture_output=True, check=False)
        if outcome.returncode != 0:
            raise Trouble(f"pg_dump: {outcome.stderr.decode()[-300:]}")
        return outcome.stdout

    def load(self, name, dump):
        """Fills a database from a dump."""
        conninfo = f"host={self.primary.place} user=postgres dbname={name}"
        outcome = subprocess.run(
            ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", conninfo], input=dump,
            capture_output=True, check=False)
        if outcome.returncode != 0:
            raise Trouble(f"psql: {outcome.stderr.decode()[-300:]}")

    def rows(self, schema):
        return postgres_reader(self.primary.conninfo, schema)

    def keep(self, folder):
        """A copy for people to look at."""
        for name in self.databases:
            conninfo = self.primary.conninfo.replace("dbname=postgres", f"dbname={name}")
            with open(os.path.join(folder, f"{name}.sql"), "wb") as file:
                subprocess.run(["pg_dump", conninfo], stdout=file, check=False)
        shutil.copy(self.log.name, os.path.join(folder, "postgres.log"))

    def close(self):
        if self.proxy:
            self.proxy.close()
        for node in (self.primary, self.standby):
            if node:
                node.kill()
                node.disk.close()
        self.log.close()
        shutil.rmtree(self.place, ignore_errors=True)
