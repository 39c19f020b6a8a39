# SPDX-License-Identifier: Apache-2.0
"""A sandbox beside the others whose histories are cleared, which is reset, and
whose certificates are rotated, while servers are killed in the middle of it.

It judges by itself: after each, everything that was sold before is gone where
the deed was acknowledged, all or nothing where its answer did not come, and no
number comes twice.
"""

import http.client
import os
import random
import threading
import time
import urllib.error
import uuid

from .device import Device
from .journal import Journal
from .signatures import payload
from .worlds import BUNDLE_ID, CATALOGUE, products, world

REALM = "side"
PREFIX = f"/realms/{REALM}"
TROUBLES = (OSError, ValueError, KeyError, http.client.HTTPException)
SALES = 4
TRIES = 200


class Side:
    """Deeds of operators under kills, written into `side.log`."""

    def __init__(self, stage, seed):
        self._stage = stage
        self._random = random.Random(seed)
        self._log = Journal(os.path.join(stage.folder, "side.log"))
        self._devices = Journal(os.path.join(stage.folder, "side-device.log"))
        server = stage.servers[0]
        server.operate("/operator/v1/realms", {"name": REALM, "environment": "Sandbox"})
        with open(CATALOGUE, encoding="utf-8") as file:
            body = {"name": "proof.storekit", "file": file.read()}
        server.operate(f"{PREFIX}/operator/v1/apps/{BUNDLE_ID}/catalogue", body, "PUT")
        self._customer = server.operate(
            f"{PREFIX}/operator/v1/customers", {"name": "sided"})["customerId"]

    # What a supervisor may do

    def clear_history(self):
        """A customer's history is cleared while the server is killed."""
        self._forget("cleared", f"{PREFIX}/operator/v1/customers/{self._customer}/history",
                     "DELETE")

    def reset_realm(self):
        """The realm is reset while the server is killed."""
        self._forget("reset", f"/operator/v1/realms/{REALM}/resets", "POST")

    def rotate_certificates(self):
        """The sandbox's signing certificate is changed while a server is killed:
        what is signed before and after must verify."""
        path, body = "/operator/v1/certificates/rotations", {"kind": "sandbox"}
        with_intermediate = {"kind": "sandbox", "withIntermediate": True}
        order = with_intermediate if self._random.randrange(3) == 0 else body
        outcome = self._under_a_kill(path, "POST", order)
        if outcome is None:
            outcome = self._ask(path, "POST", order)
        if outcome is not None:
            self._log.write(act="rotated")

    # How

    def _forget(self, act, path, method):
        before = self._buy()
        outcome = self._under_a_kill(path, method)
        self._check(act, before, outcome)
        if outcome is None:
            # Asked again once no server is killed any more.
            self._check(act, before, self._ask(path, method))

    def _check(self, act, before, outcome):
        """What is left of the sales before."""
        left = self._listed()
        if left is None:
            self._complain(f"{act}: what is left could not be read")
            return
        still = before & left
        if outcome is not None and still:
            self._complain(f"{act} was acknowledged, and {sorted(still)} are still there")
        elif still and still != before:
            self._complain(f"{act} was cut short and left {sorted(still)} of {sorted(before)}")
        if outcome is not None:
            self._log.write(act=act)

    def _under_a_kill(self, path, method, body=None):
        """What a deed answers, or nothing where it was cut short; half the time
        its server is killed during this time."""
        server = self._random.choice(self._stage.servers)
        outcome = []

        def ask():
            outcome.append(self._ask(path, method, body, server))

        deed = threading.Thread(target=ask)
        deed.start()
        if self._random.randrange(2):
            time.sleep(self._random.uniform(0, 0.06))
            server.kill()
            self._stage.supervisor.start(server)
        deed.join()
        return outcome[0] if outcome else None

    def _ask(self, path, method, body=None, server=None):
        """What a deed answers, or nothing where no answer came."""
        server = server or self._random.choice(self._stage.servers)
        try:
            return server.operate(path, body, method)
        except urllib.error.HTTPError as refused:
            if refused.code < 500 and refused.code != 409:
                self._complain(f"{method} {path} was refused: {refused.code}")
        except TROUBLES:
            pass
        return None

    def _device(self):
        server = self._random.choice(self._stage.servers)
        lot = random.Random(self._random.getrandbits(64))
        device = Device(
            "side", lot, [server.port], products(), self._devices, world("sided", PREFIX))
        return device if self._until(device.sign_in) else None

    @staticmethod
    def _until(act):
        """Tries until it is done; a store that comes up again may need a moment."""
        for _ in range(TRIES):
            if act():
                return True
            time.sleep(0.05)
        return False

    def _buy(self):
        """Numbers of new sales, each written down as given out."""
        device, numbers = self._device(), set()
        for _ in range(SALES if device else 0):
            purchase = str(uuid.UUID(int=self._random.getrandbits(128), version=4))
            body = {"productId": "coins.100", "quantity": 1, "unitPrice": 990, "currency": "USD"}
            answers = []

            def ask(purchase=purchase, body=body, answers=answers):
                answer = device.put(purchase, body)
                if answer is not None and answer[0] == 200 and answer[1]["state"] == "sold":
                    answers.append(answer[1])
                return bool(answers)

            if not self._until(ask):
                self._complain(f"purchase {purchase} was not sold")
                continue
            number = payload(answers[0]["signedTransaction"])["transactionId"]
            # What is unfinished is not sold again.
            self._until(lambda number=number: device.put_away(number))
            if answers[0].get("isRepeat"):
                continue
            numbers.add(number)
            self._log.write(act="sold", number=number, purchase=purchase,
                            customer=str(device.customer), where="side")
        return numbers

    def _listed(self):
        """The numbers that a device of the customer receives, from the beginning."""
        device = self._device()
        if device is None:
            return None
        numbers, since = set(), 0
        for _ in range(TRIES):
            path = f"{PREFIX}/device/v1/transactions?since={since}&wait=0"
            answer = device.call("GET", path, verb="transactions")
            if answer is None or answer[0] != 200:
                time.sleep(0.05)
                continue
            numbers |= {
                payload(item["signedTransaction"])["transactionId"]
                for item in answer[1]["transactions"]
            }
            since = answer[1]["revision"]
            if not answer[1]["hasMore"]:
                return numbers
        return None

    def _complain(self, text):
        self._log.write(act="complaint", text=text)
