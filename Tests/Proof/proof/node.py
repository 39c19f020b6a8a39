# SPDX-License-Identifier: Apache-2.0
"""One PostgreSQL server of a cluster, as a process."""

import glob
import os
import pwd
import shutil
import signal
import subprocess
import time

from .disk import SmallDisk
from .programs import Program, Trouble

START_SECONDS = 60


class Node:
    """One server: a directory of data and a socket, which have a small file
    system of their own where that can be, and no network."""

    def __init__(self, place, settings, log, megabytes, page=None):
        #: Faults inside of it (`faults.py`).
        self.page = page
        self.place, self._settings, self._log = place, settings, log
        self.disk = SmallDisk(place, megabytes)
        self.socket = os.path.join(place, ".s.PGSQL.5432")
        self.conninfo = f"host={place} user=postgres dbname=postgres"
        self._data = os.path.join(place, "data")
        self._program = None
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
                self._log, environment={**os.environ, **(self.page.variables if self.page else {})},
            )
            while self._program.is_alive and time.monotonic() < deadline:
                if self.is_ready:
                    return
                time.sleep(0.02)
            # What an earlier life left may take a moment to go.
            time.sleep(0.05)
        raise Trouble(f"PostgreSQL in {self.place} did not start: {self._last_words}")

    @property
    def _last_words(self):
        with open(self._log.name, "rb") as file:
            lines = file.read().decode(errors="replace").splitlines()
        return "; ".join(lines[-3:])

    def revive(self):
        """As its keeper does, where the server has ended by itself: one that
        could not write its log may do so after it seemed to be well."""
        if not self._program.is_alive:
            self.start()
            return True
        return False

    def begin_log_file(self):
        """What is written next needs a new file of the log."""
        try:
            self.ask("SELECT pg_switch_wal()")
        except subprocess.TimeoutExpired:
            # It does not answer while it cannot write.
            pass

    @property
    def is_ready(self):
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
        self.disk.close()
        shutil.rmtree(self.place, ignore_errors=True)

    def ask(self, sql, database="postgres"):
        conninfo = f"host={self.place} user=postgres dbname={database}"
        outcome = subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-d", conninfo, "-c", sql],
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
