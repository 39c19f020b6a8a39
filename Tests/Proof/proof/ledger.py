# SPDX-License-Identifier: Apache-2.0
"""The merchant's side of a device: hands purchases in to the ledger and spends their
units, each under a key of its own, in one step or in two, and now and then one unit too
many. It also spends credits, and reads what the customer may use."""

import threading
import uuid

from .signatures import payload

# A reservation that is to expire lasts a second; others outlast every outage.
BRIEF_SECONDS, LONG_SECONDS = 1, 86_400
#: What a reservation comes to, once it is made, and how often.
ENDS = ["confirm"] * 5 + ["release"] * 2 + ["abandon"] * 2
# So many stale transactions are kept to be handed in once more.
STALE_MAX = 40


class Unspent:
    """A consumable that was bought, with its keys. `is_sure`: nothing takes it back, so
    every unit must be spent."""

    def __init__(self, number, signed, keys, is_sure=True):
        self.number, self.signed = number, signed
        self.keys = list(keys)
        self.is_taken, self.is_sure = False, is_sure
        #: The reservation under the first key: how it shall end, and whether it is made.
        self.end = None
        self.is_held = False
        #: A confirmation may have arrived whose answer did not.
        self.is_asked = False

    def renew(self, key):
        """The unit of the first key is spent under another one."""
        self.keys[0] = key
        self.end, self.is_held, self.is_asked = None, False, False

    def drop(self):
        self.keys.pop(0)
        self.end, self.is_held, self.is_asked = None, False, False


class Proofs:
    """The signed transactions that a device has read, which it hands in in any order."""

    def __init__(self):
        self.last = {}
        #: Numbers whose last state the ledger has not acknowledged.
        self.open = []
        self.stale = []

    def learn(self, number, signed):
        known = self.last.get(number)
        if known == signed:
            return
        # An answer may be older than one that came before.
        if known is not None and payload(signed)["signedDate"] < payload(known)["signedDate"]:
            known, signed = signed, known
        if known is not None:
            self.stale = [*self.stale[1 - STALE_MAX:], (number, known)]
        if self.last.get(number) == signed:
            return
        self.last[number] = signed
        if number not in self.open:
            self.open.append(number)

    def settle(self, number, signed):
        if self.last[number] == signed and number in self.open:
            self.open.remove(number)


class Merchant:
    """`orders` contain the ledgers' ports in the network, and their key."""

    def __init__(self, orders, random):
        self._fronts, self._key = orders["fronts"], orders["key"]
        self._random = random

    # Units

    def redeem(self, device, unspent):
        """One step nearer to having spent all of it; an empty list of keys is the end."""
        if not unspent.is_taken:
            unspent.is_taken = self._take(device, unspent.number, unspent.signed)
            if not unspent.is_taken:
                return
        if unspent.end is None and not self._random.randrange(3):
            unspent.end = self._random.choice(ENDS)
        if unspent.end is not None:
            self._redeem_in_two_steps(device, unspent)
            return
        key = unspent.keys[0]
        answers = self._sometimes_twice(lambda: self._spend(device, unspent, key, "redeem"))
        if any(answer is not None and answer[0] == 200 for answer in answers):
            unspent.drop()
            if not unspent.keys and self._random.randrange(3) == 0:
                self._spend(device, unspent, key + "-more", "overspend")
        else:
            self._give_up(unspent, answers)

    def _redeem_in_two_steps(self, device, unspent):
        """Reserves the unit, and later confirms or releases it, or lets it expire."""
        key = unspent.keys[0]
        path = f"/ledger/v1/accounts/{device.customer}/reservations"
        noted = {"transaction": unspent.number, "idempotency_key": key}
        if not unspent.is_held:
            body = self._unit(device, unspent, key) | {
                "seconds": BRIEF_SECONDS if unspent.end == "abandon" else LONG_SECONDS}
            answers = self._sometimes_twice(
                lambda: self._call(device, path, body, "reserve", **noted))
            unspent.is_held = any(
                answer is not None and answer[0] == 200 for answer in answers)
            # It was spent in one step, of which no answer came.
            if "keyRedeemed" in codes_of(answers):
                unspent.drop()
            elif not unspent.is_held:
                self._give_up(unspent, answers)
            return
        # A device that has asked for the confirmation asks until there is an answer.
        if unspent.end == "abandon" and not unspent.is_asked and self._random.randrange(3):
            # It expires, and somebody else may have the unit: here, another key.
            unspent.renew(self._uuid())
            return
        verb = "release" if unspent.end == "release" else "confirm"
        unspent.is_asked = verb == "confirm"
        answers = self._sometimes_twice(
            lambda: self._call(device, f"{path}/{key}/{verb}", {}, verb, **noted))
        statuses = {answer[0] for answer in answers if answer is not None}
        is_late = "reservationConfirmed" in codes_of(answers)
        if verb == "confirm" and 200 in statuses or is_late:
            unspent.drop()
        elif statuses & {200, 404, 409}:
            unspent.renew(self._uuid())

    def _give_up(self, unspent, answers):
        """A unit that the store took back is not spent any more."""
        is_refused = any(answer is not None and answer[0] == 409 for answer in answers)
        if not unspent.is_sure and is_refused:
            unspent.keys.clear()

    def _unit(self, device, unspent, key):
        return {
            "idempotencyKey": key, "purpose": "proof", "transactionId": unspent.number,
            "environment": device.world["environment"], "bundleId": device.world["bundle"],
        }

    def _spend(self, device, unspent, key, verb):
        path = f"/ledger/v1/accounts/{device.customer}/redemptions"
        return self._call(
            device, path, self._unit(device, unspent, key), verb,
            transaction=unspent.number, idempotency_key=key)

    # Proofs, credits and answers

    def hand_in(self, device, proofs):
        """Mostly what is new, sometimes what the ledger has had, sometimes twice."""
        if proofs.stale and not self._random.randrange(4):
            self._take(device, *self._random.choice(proofs.stale))
        elif proofs.open:
            self.hand_in_last(device, proofs, self._random.choice(proofs.open))

    def hand_in_last(self, device, proofs, number):
        signed = proofs.last[number]
        taken = self._sometimes_twice(lambda: self._take(device, number, signed))
        if any(taken):
            proofs.settle(number, signed)

    def _take(self, device, number, signed):
        body = {"signedTransaction": signed, "account": str(device.customer)}
        answer = self._call(device, "/ledger/v1/purchases", body, "take", transaction=number)
        return answer is not None and answer[0] == 200

    def spend(self, device, spending):
        """Spends credits; false without an answer."""
        path = f"/ledger/v1/accounts/{device.customer}/spendings"
        body = {
            "idempotencyKey": spending["key"], "currency": "gems", "amount": spending["amount"],
            "purpose": "proof", "environment": device.world["environment"],
        }
        verb = spending.get("verb", "spend")
        answers = self._sometimes_twice(
            lambda: self._call(device, path, body, verb, idempotency_key=spending["key"]))
        return any(answer is not None and answer[0] in (200, 409) for answer in answers)

    def look(self, device):
        """Reads what the customer may use."""
        environment = device.world["environment"]
        device.call(
            "GET", f"/ledger/v1/accounts/{device.customer}/entitlements?environment={environment}",
            front=self._random.choice(self._fronts), token=self._key, verb="entitlements")

    # Calls

    def ask(self, device, method, path, body, **noted):
        """The answers to a call about any account, which may be made twice at once."""
        return self._sometimes_twice(lambda: device.call(
            method, path, body, self._random.choice(self._fronts), token=self._key, **noted))

    def _uuid(self):
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def _sometimes_twice(self, ask):
        """The answers to one call, or to two at the same moment."""
        answers = [None, None]

        def put(place):
            answers[place] = ask()

        if self._random.randrange(5):
            put(0)
            return answers[:1]
        threads = [threading.Thread(target=put, args=(place,)) for place in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return answers

    def _call(self, device, path, body, verb, **noted):
        return device.call(
            "POST", path, body, self._random.choice(self._fronts), token=self._key, verb=verb, **noted
        )


def codes_of(answers):
    return {answer[1].get("code") for answer in answers if answer is not None}
