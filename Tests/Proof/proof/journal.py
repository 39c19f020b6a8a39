# SPDX-License-Identifier: Apache-2.0
"""Histories that survive a kill: one JSON object a line, appended, never changed."""

import json
import os
import threading
import time


class Journal:
    """Appends entries to a file. `synced` makes each durable before it returns."""

    def __init__(self, path, synced=False):
        self.path = path
        self._synced = synced
        self._lock = threading.Lock()
        self._file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)

    def write(self, **entry):
        entry["at"] = time.monotonic_ns()
        line = (json.dumps(entry, separators=(",", ":")) + "\n").encode()
        with self._lock:
            os.write(self._file, line)
            if self._synced:
                os.fdatasync(self._file)
        return entry

    def close(self):
        with self._lock:
            os.close(self._file)


def read(path):
    """A journal's entries; a last line that a kill cut short is left out."""
    if not os.path.exists(path):
        return []
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")
    return [json.loads(line) for line in lines[:-1]]
