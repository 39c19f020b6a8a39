# SPDX-License-Identifier: Apache-2.0
"""Apps built on the real PurchaseKit (`Tests/ProofDevice`), which are killed
and started again over the same device folder. Into `kit-N.log`
go each order, before it is sent, and what the app's observer received."""

import json
import os
import random
import subprocess
import threading
import time

from .journal import Journal
from .programs import Program
from .worlds import BUNDLE_ID

OPEN_MAX = 4
REST_SECONDS = 60
ENDS = ("purchased", "failed")


class Kit:
    """One app of one customer, whose only way to the store is a proxy's port."""

    def __init__(self, stage, number, customer, seed):
        self._random = random.Random(seed)
        self._number = number
        self._log = Journal(os.path.join(stage.folder, f"kit-{number}.log"))
        self._path = os.path.join(os.path.dirname(stage.plan.command[0]), "ProofDevice")
        folder = os.path.join(stage.folder, f"kit-{number}")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        proxy = stage.servers[number % len(stage.servers)].proxy
        self._environment = {
            **os.environ, "SHOPKEEPER_URL": f"http://127.0.0.1:{proxy.port}",
            "SHOPKEEPER_BUNDLE_ID": BUNDLE_ID, "SHOPKEEPER_CUSTOMER": customer,
            "SHOPKEEPER_DEVICE": folder, "SHOPKEEPER_ROOT": stage.roots[0],
            "SHOPKEEPER_SHEET": "confirm", "HOME": folder,
        }
        self._errors = stage.errors
        self._lock = threading.RLock()
        self._count, self.lives = 0, 0
        self._is_over = threading.Event()
        self._is_calm = False
        self._start()
        threading.Thread(target=self._shop, daemon=True).start()

    def _start(self):
        """What is still open is reported again by the app."""
        self._heard = 0
        self._open = set()
        #: Orders of which this life of the app has not said anything.
        self._ordered = set()
        self._program = Program(
            [self._path], self._errors, stdin=subprocess.PIPE, environment=self._environment)
        self.lives += 1

    def kill(self):
        """`kill -9`, and up again."""
        with self._lock:
            self._listen()
            self._program.kill()
            self._program.ended()
            self._listen()
            self._start()

    def _shop(self):
        while not self._is_over.wait(0.05):
            with self._lock:
                self._listen()
                is_ready = any('"ready"' in line for line in self._program.lines)
                is_free = len(self._open | self._ordered) < OPEN_MAX
                if is_ready and not self._is_calm and is_free:
                    self._buy()

    def _buy(self):
        """Whether an app that is killed took it is not known until its observer says so."""
        self._count += 1
        order = {
            "product": self._random.choice(["coins.100", "coins.500"]),
            "quantity": self._random.randint(1, 3), "tag": f"kit-{self._number}-{self._count}",
        }
        self._log.write(word="adding", **order)
        try:
            self._program.child.stdin.write(json.dumps(order) + "\n")
            self._program.child.stdin.flush()
            self._ordered.add(order["tag"])
        except OSError:
            pass

    def _listen(self):
        lines = self._program.lines[self._heard :]
        self._heard += len(lines)
        for line in lines:
            word = json.loads(line)
            if word["word"] == "ready":
                continue
            self._log.write(**word)
            self._ordered.discard(word.get("tag"))
            if word["word"] in ENDS:
                self._open.discard(word.get("tag"))
            elif word["word"] in ("purchasing", "deferred"):
                self._open.add(word.get("tag"))

    def rest(self):
        """In the calm: returns when every payment has ended."""
        with self._lock:
            self._is_calm = True
        deadline = time.monotonic() + REST_SECONDS
        while time.monotonic() < deadline:
            with self._lock:
                self._listen()
                if not self._open and not self._ordered:
                    break
            time.sleep(0.05)
        else:
            self._log.write(
                word="complaint",
                text=f"kit {self._number} has open payments: {self._open | self._ordered}")
        # What was sold and not reported yet is reported within a moment.
        time.sleep(0.5)
        self.close()

    def close(self):
        self._is_over.set()
        with self._lock:
            self._listen()
            self._program.kill()
            self._program.ended()
            self._listen()
