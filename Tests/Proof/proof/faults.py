# SPDX-License-Identifier: Apache-2.0
"""Faults inside of a process: its wall clock steps, its syncs fail or take long,
and its disk can forget what was not synced. `faults.c` and `journal.c` are
compiled once a round and preloaded into what is started. With them comes `trust.c`, by which
a ledger trusts the certificate of the proof's own server."""

import mmap
import os
import shutil
import struct
import subprocess
import tempfile

from .power import Disk

SOURCES = [
    os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "faults", name)
    for name in ("faults.c", "journal.c", "trust.c")
]
COMPILERS = ("cc", "clang", "gcc")
#: The places of `struct orders`, in 64-bit words.
CLOCK, FAILING, SLOW, FAILED, LEAVES_LOGS = range(5)


class Faults:
    """Pages of orders, one a process; none where there is no C compiler."""

    def __init__(self):
        # Of its own, since the database's user must read it.
        self._folder = tempfile.mkdtemp(prefix="proof-faults.")
        os.chmod(self._folder, 0o755)
        self._library = os.path.join(self._folder, "faults.so")
        compiler = next((found for name in COMPILERS if (found := shutil.which(name))), None)
        self.is_there = compiler is not None and subprocess.run(
            [compiler, "-shared", "-fPIC", "-O1", "-o", self._library, *SOURCES, "-ldl"],
            capture_output=True, check=False,
        ).returncode == 0
        self.pages, self.disks = [], []
        self._clock = 0
        #: By how much the machine's clock was wrong at most.
        self.seconds_stepped = 0

    def page(self, name):
        """Orders for a process that is to be started with `variables`."""
        page = Page(os.path.join(self._folder, f"{name}.orders"), self._library)
        page.write(CLOCK, self._clock)
        self.pages.append(page)
        return page

    def disk(self, folder):
        """A folder whose databases can forget what was not synced."""
        journals = os.path.join(self._folder, f"disk-{len(self.disks)}")
        os.mkdir(journals, mode=0o700)
        self.disks.append(Disk(os.path.realpath(folder), journals))
        return self.disks[-1]

    def step_clocks(self, seconds):
        """The machine's clock, for every process of it."""
        self._clock = seconds
        self.seconds_stepped = max(self.seconds_stepped, abs(seconds))
        for page in self.pages:
            page.write(CLOCK, seconds)

    def close(self):
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def syncs_failed(self):
        return sum(page.read(FAILED) for page in self.pages)


class Page:
    """What one process is to suffer."""

    def __init__(self, path, library):
        with open(path, "wb") as file:
            file.write(bytes(mmap.PAGESIZE))
        os.chmod(path, 0o666)
        with open(path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        self.variables = {"LD_PRELOAD": library, "PROOF_FAULTS": path}

    def write(self, place, value):
        struct.pack_into("<q", self._memory, place * 8, value)

    def read(self, place):
        return struct.unpack_from("<q", self._memory, place * 8)[0]
