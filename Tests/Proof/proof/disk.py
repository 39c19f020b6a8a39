# SPDX-License-Identifier: Apache-2.0
"""A disk that can be full: a small file system where mounting is allowed, and a
bound on the size of a process's files everywhere."""

import errno
import os
import resource
import subprocess

CHUNK = b"\0" * (1 << 20)


class SmallDisk:
    """A folder; a file system of its own where the system lets us mount one."""

    def __init__(self, path, megabytes):
        self.path = path
        os.makedirs(path, mode=0o700, exist_ok=True)
        outcome = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "proof", path],
            capture_output=True, check=False,
        )
        self.is_mounted = outcome.returncode == 0
        self._ballast = os.path.join(path, "ballast")

    def fill(self):
        """Takes all the room that is left; the bytes taken."""
        taken = 0
        with open(self._ballast, "wb", buffering=0) as file:
            for size in (len(CHUNK), 65536, 4096, 1):
                try:
                    while True:
                        taken += file.write(CHUNK[:size])
                except OSError as problem:
                    if problem.errno != errno.ENOSPC:
                        raise
        return taken

    def free(self):
        if os.path.exists(self._ballast):
            os.unlink(self._ballast)

    def close(self):
        if self.is_mounted:
            subprocess.run(["umount", "-l", self.path], capture_output=True, check=False)


class Quota:
    """Bounds how large the files of a running process may become."""

    def __init__(self, pid):
        self._pid = pid
        self._before = resource.prlimit(pid, resource.RLIMIT_FSIZE)

    def bound(self, size):
        resource.prlimit(self._pid, resource.RLIMIT_FSIZE, (size, self._before[1]))

    def lift(self):
        try:
            resource.prlimit(self._pid, resource.RLIMIT_FSIZE, self._before)
        except ProcessLookupError:
            pass


def may_mount():
    """Whether this process may have mounts of its own, which end with it."""
    if os.geteuid() != 0:
        return False
    outcome = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
    return outcome.returncode == 0
