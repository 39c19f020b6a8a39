# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of a round's own: a primary, a standby that holds every commit
before it is acknowledged, and a proxy before them that loses answers."""

import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

from .evidence import postgres_reader
from .network import DatabaseProxy
from .programs import Program, Trouble

START_SECONDS = 60
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "100",
    "shared_buffers": "32MB",
    "log_min_messages": "fatal",
    "autovacuum": "off",
    "max_wal_size": "256MB",
    "wal_keep_size": "64MB",
    "wal_retrieve_retry_interval": "100ms",
}
# From the first moment of each: nothing is acknowledged that only one holds.
TWO_HOLD_IT = {"synchronous_standby_names": "*"}


class Cluster:
    """`acts` are what a supervisor may do to it; `url` is for the stores."""

    def __init__(self, seed, has_standby=True):
        self._settings = {**SETTINGS, **(TWO_HOLD_IT if has_standby else {})}
        self.place = tempfile.mkdtemp(prefix="proof-pg.")
        os.chmod(self.place, 0o755)
        self._nodes = 0
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
        return Node(os.path.join(self.place, f"n{self._nodes}"), self._settings, self.log)

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
            """Commits wait for it meanwhile."""
            self.standby.kill()
            supervisor.let_be(10, 0.3)
            self.standby.start()

        acts = [(restart_database, 1), (kill_database, 2), (break_database_connections, 3)]
        if self.standby:
            acts += [(promote_standby, 2), (restart_standby, 1)]
        return acts

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

    def reader(self):
        """Rows of the only realm."""
        name = self.primary.ask("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'realm\\_%'")
        return postgres_reader(self.primary.conninfo, name)

    def rows(self, schema):
        return postgres_reader(self.primary.conninfo, schema)

    def keep(self, folder):
        """A copy for people to look at."""
        with open(os.path.join(folder, "database.sql"), "wb") as file:
            subprocess.run(["pg_dump", self.primary.conninfo], stdout=file, check=False)
        shutil.copy(self.log.name, os.path.join(folder, "postgres.log"))

    def close(self):
        if self.proxy:
            self.proxy.close()
        for node in (self.primary, self.standby):
            if node:
                node.kill()
        self.log.close()
        shutil.rmtree(self.place, ignore_errors=True)


class Node:
    """One server: a directory of data, a socket in a directory, no network."""

    def __init__(self, place, settings, log):
        self.place, self._settings, self._log = place, settings, log
        self.socket = os.path.join(place, ".s.PGSQL.5432")
        self.conninfo = f"host={place} user=postgres dbname=postgres"
        self._data = os.path.join(place, "data")
        self._program = None
        os.makedirs(place)
        if os.geteuid() == 0:
            shutil.chown(place, "postgres")

    def make(self):
        run(
            tool("initdb"), "-D", self._data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
            "--locale=C", "--no-sync",
        )

    def copy(self, primary):
        """A standby of a running server."""
        run(
            tool("pg_basebackup"), "-d", primary.conninfo, "-D", self._data, "-R", "-X", "stream",
            "--checkpoint=fast", "--no-sync",
        )

    def start(self):
        settings = [f"-c{name}={value}" for name, value in self._settings.items()]
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            self._program = Program(
                [*user(), tool("postgres"), "-D", self._data, "-k", self.place, *settings],
                self._log,
            )
            while self._program.is_alive and time.monotonic() < deadline:
                if self._is_ready():
                    return
                time.sleep(0.02)
            # What an earlier life left may take a moment to go.
            time.sleep(0.05)
        raise Trouble(f"PostgreSQL in {self.place} did not start")

    def _is_ready(self):
        outcome = subprocess.run(
            [tool("pg_isready"), "-q", "-h", self.place], check=False, capture_output=True
        )
        return outcome.returncode == 0

    def stop(self, mode):
        """As its keeper does: `fast` lets sessions end, `immediate` nothing."""
        self._program.kill(signal.SIGINT if mode == "fast" else signal.SIGQUIT)
        self._program.ended()

    def kill(self):
        """`kill -9` of the whole server."""
        if self._program is None:
            return
        children = children_of(self._program.child.pid)
        self._program.kill()
        for pid in children:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self._program.ended()
        deadline = time.monotonic() + START_SECONDS
        while any(os.path.exists(f"/proc/{pid}") for pid in children):
            if time.monotonic() > deadline:
                raise Trouble("a killed PostgreSQL is still there")
            time.sleep(0.01)

    def promote(self):
        run(tool("pg_ctl"), "promote", "-D", self._data, "-w", "-t", str(START_SECONDS))

    def remove(self):
        shutil.rmtree(self.place, ignore_errors=True)

    def ask(self, sql):
        outcome = subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-d", self.conninfo, "-c", sql],
            check=False, capture_output=True, text=True, timeout=START_SECONDS,
        )
        return outcome.stdout.strip()

    def wait_for(self, sql, what):
        deadline = time.monotonic() + START_SECONDS
        while not self.ask(sql):
            if time.monotonic() > deadline:
                raise Trouble(f"PostgreSQL in {self.place} does not find {what}")
            time.sleep(0.05)


def tool(name):
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), key=version)
    path = found[-1] if found else shutil.which(name)
    if not path:
        raise Trouble(f"{name} is not installed: apt-get install postgresql")
    return path


def version(path):
    return [int(part) if part.isdigit() else 0 for part in path.split("/")[4].split(".")]


def user():
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return []
    who = pwd.getpwnam("postgres")
    return ["setpriv", f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups",
            "--pdeathsig", "KILL"]


def run(*arguments):
    outcome = subprocess.run(
        [*user(), *arguments], check=False, capture_output=True, text=True, cwd="/",
    )
    if outcome.returncode != 0:
        raise Trouble(f"{arguments[0]}: {outcome.stderr.strip()[-500:]}")


def children_of(parent):
    """The processes that a process started: PostgreSQL's are no group."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(fields[1]) == parent and fields[0] != "Z":
            found.append(int(path.split("/")[2]))
    return found
