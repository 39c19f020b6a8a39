# SPDX-License-Identifier: Apache-2.0
"""The merchant's side of a device: hands purchases in to the ledger and spends
their units, each under a key of its own, and now and then one unit too many."""

import threading


class Unspent:
    """A consumable that was bought, with the account that redeems it and its keys."""

    def __init__(self, number, signed, keys):
        self.number, self.signed = number, signed
        self.keys = list(keys)
        self.is_taken = False


class Merchant:
    """`orders` contain the ledgers' ports in the network, and their key."""

    def __init__(self, orders, random):
        self._fronts, self._key = orders["fronts"], orders["key"]
        self._random = random

    def redeem(self, device, unspent):
        """One step nearer to having spent all of it; an empty list of keys is the end."""
        account = str(device.customer)
        if not unspent.is_taken:
            body = {"signedTransaction": unspent.signed, "account": account}
            answer = self._call(
                device, "/ledger/v1/purchases", body, "take", transaction=unspent.number
            )
            unspent.is_taken = answer is not None and answer[0] == 200
            if not unspent.is_taken:
                return
        key = unspent.keys[0]
        answers = [None, None]

        def ask(place):
            answers[place] = self._spend(device, unspent, key, "redeem")

        if self._random.randrange(5) == 0:
            threads = [threading.Thread(target=ask, args=(place,)) for place in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        else:
            ask(0)
        if any(answer is not None and answer[0] == 200 for answer in answers):
            unspent.keys.pop(0)
            if not unspent.keys and self._random.randrange(3) == 0:
                self._spend(device, unspent, key + "-more", "overspend")

    def _spend(self, device, unspent, key, verb):
        body = {
            "idempotencyKey": key, "purpose": "proof", "transactionId": unspent.number,
            "environment": device.world["environment"], "bundleId": device.world["bundle"],
        }
        path = f"/ledger/v1/accounts/{device.customer}/redemptions"
        return self._call(
            device, path, body, verb, transaction=unspent.number, idempotency_key=key
        )

    def _call(self, device, path, body, verb, **noted):
        return device.call(
            "POST", path, body, self._random.choice(self._fronts), token=self._key, verb=verb, **noted
        )
