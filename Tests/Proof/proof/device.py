# SPDX-License-Identifier: Apache-2.0
"""A customer's device: buys, asks again, finishes, follows, redeems. It logs
each request before it sends it, and each answer before it acts on it."""

import base64
import http.client
import itertools
import json
import threading
import time
import uuid

from .facts import SETTLED
from .ledger import Proofs, Unspent
from .signatures import payload

TIMEOUT_SECONDS = 8
# How much a device leaves open before it continues to shop: more requests while
# no server answers would only make the calm phase longer.
UNSETTLED_MAX = 30
UNSPENT_MAX = 30
# An answer without one of these was cut in its headers.
LENGTHS = {"content-length", "transfer-encoding"}


class Device:
    def __init__(self, name, random, fronts, products, log, world, ledger=None):
        self.name = name
        self._random = random
        self._fronts = fronts
        self._products = products
        self._log = log
        self._ledger = ledger
        self.world = world
        self._asks_to_buy = world["asksToBuy"]
        self._calls = itertools.count(1)
        self._lock = threading.Lock()
        self.heard = 0
        self.uuid = self._uuid()
        self.token = None
        self.customer = None
        self.revision = 0
        self.bodies = {}
        self.unsettled = []
        self.settled = []
        self.unfinished = []
        self.unspent = []
        #: What it hands in to the ledger, beside what it redeems.
        self.proofs = Proofs()
        self._known = set()
        #: The transactions whose units it spends.
        self._credited = set()
        #: The products of its transactions, by number.
        self._sold = {}
        self._wanted = set()

    def _uuid(self):
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    # One call

    def call(self, method, path, body=None, front=None, token=None, **noted):
        """An answer's status and body, or nothing where none came."""
        number = next(self._calls)
        noted |= {
            "asked": body, "customer": self.customer, "device": self.name,
            "bundle": self.world["bundle"],
        }
        self._log.write(act="ask", call=number, **noted)
        if front is None:
            front = self._fronts[self._random.randrange(len(self._fronts))]
        connection = http.client.HTTPConnection("127.0.0.1", front, timeout=TIMEOUT_SECONDS)
        headers = {"Connection": "close"}
        if token or self.token:
            headers["Authorization"] = f"Bearer {token or self.token}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, headers)
            response = connection.getresponse()
            content = response.read()
            is_text = noted["verb"] != "receipt" or response.status != 200
            answer = content.decode() if is_text else base64.b64encode(content).decode()
            if not LENGTHS & {name.lower() for name, _ in response.getheaders()}:
                raise http.client.IncompleteRead(b"")
        except (OSError, http.client.HTTPException) as problem:
            self._log.write(act="lost", call=number, why=type(problem).__name__)
            return None
        finally:
            connection.close()
        # An answer is one only where all of it came.
        if response.status >= 500 or response.status == 408:
            self._log.write(act="put off", call=number, status=response.status, answer=answer)
            return None
        self._log.write(act="heard", call=number, status=response.status, answer=answer)
        with self._lock:
            self.heard += 1
        if response.status == 401 and token is None:
            self.token = None
        return response.status, json.loads(answer) if answer and is_text else {}

    @property
    def _door(self):
        return f"{self.world['prefix']}/device/v1"

    # What a device does

    def sign_in(self):
        """Once for a device, unless the store forgets it. False if no server answers."""
        body = {
            "deviceUUID": self.uuid, "customer": self.world["customer"],
            "bundleId": self.world["bundle"],
        }
        if "password" in self.world:
            body["password"] = self.world["password"]
        answer = self.call("POST", f"{self._door}/sessions", body, verb="sign in")
        if answer is None or answer[0] != 200:
            return False
        self.token = answer[1]["token"]
        self.customer = int(answer[1]["customerId"])
        return True

    def step(self):
        """One thing, as the lot falls."""
        if self.token is None and not self.sign_in():
            return
        drawn = self._random.randrange(100)
        if len(self.unspent) >= UNSPENT_MAX:
            self.redeem(self.unspent[0])
        elif self.unsettled and (drawn < 45 or len(self.unsettled) >= UNSETTLED_MAX):
            self.ask_again(self.unsettled[self._random.randrange(len(self.unsettled))])
        elif drawn < 65 or not self.settled:
            self.buy()
        elif drawn < 72:
            self.ask_again(self.settled[self._random.randrange(len(self.settled))])
        elif drawn < 75:
            self.other_contents()
        elif drawn < 88 and self.unfinished:
            self.finish(self.unfinished[self._random.randrange(len(self.unfinished))])
        elif drawn < 94 and self._ledger and self.unspent:
            self.redeem(self._random.choice(self.unspent))
        elif drawn < 96 and self._ledger and self.proofs.open:
            self._ledger.hand_in(self, self.proofs)
        elif drawn < 99:
            self.follow()
        else:
            self.fetch_receipt()

    def read(self):
        """Reads what was sold, and writes nothing."""
        if self.token is not None:
            self.follow()

    def buy(self):
        product = self._products[self._random.randrange(len(self._products))]
        if product["isOnce"] and product["id"] not in self._wanted:
            self._wanted.add(product["id"])
            self.buy_twice(product)
            return
        # What is unfinished is not sold again: mostly it is finished before.
        open_ends = [] if product["isOnce"] else self.unfinished_of(product["id"])
        if open_ends and self._random.randrange(6):
            self.finish(open_ends[0])
        self._order(product, 1 if product["isOnce"] else self._random.randint(1, 3))

    def _order(self, product, quantity):
        purchase = self._uuid()
        price = product["price"]
        if self._random.randrange(25) == 0:
            price += 10  # An old price list: the store refuses, and the refusal stays.
        self.bodies[purchase] = {
            "productId": product["id"], "quantity": quantity, "unitPrice": price,
            "currency": "USD",
        }
        if self._random.randrange(10) == 0 and self._asks_to_buy:
            self.bodies[purchase]["simulatesAskToBuyInSandbox"] = True
        self.unsettled.append(purchase)
        if self._random.randrange(6) == 0:
            self.ask_at_once(purchase)
        else:
            self.ask_again(purchase)

    def unfinished_of(self, product):
        """Its transactions of a product that it has not finished."""
        return [number for number in self.unfinished if self._sold.get(number) == product]

    def buy_twice(self, product):
        """What can be owned once, under two ids at the same moment: the one that comes
        later is answered as the other one is."""
        purchases = [self._uuid(), self._uuid()]
        for purchase in purchases:
            self.bodies[purchase] = {
                "productId": product["id"], "quantity": 1, "unitPrice": product["price"],
                "currency": "USD",
            }
            self.unsettled.append(purchase)
        self.at_once([(purchase, self._random.choice(self._fronts)) for purchase in purchases])

    def ask_again(self, purchase):
        self.settle(purchase, self.put(purchase, self.bodies[purchase]))

    def ask_at_once(self, purchase):
        """An impatient device: the same purchase twice at the same moment."""
        self.at_once([(purchase, self._random.choice(self._fronts)) for _ in range(2)])

    def at_once(self, questions):
        """Asks about purchases, each at a front, at the same moment."""
        answers = [None] * len(questions)

        def ask(place):
            purchase, front = questions[place]
            answers[place] = self.put(purchase, self.bodies[purchase], front)

        threads = [
            threading.Thread(target=ask, args=(place,)) for place in range(len(questions))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for (purchase, _), answer in zip(questions, answers):
            self.settle(purchase, answer)

    def put(self, purchase, body, front=None, verb="purchase"):
        return self.call(
            "PUT", f"{self._door}/purchases/{purchase}", body, front, verb=verb, purchase=purchase
        )

    def settle(self, purchase, answer):
        if answer is None or answer[0] != 200 or answer[1]["state"] not in SETTLED:
            return
        if purchase in self.unsettled:
            self.unsettled.remove(purchase)
            self.settled.append(purchase)
        if answer[1]["state"] == "sold":
            signed = answer[1]["signedTransaction"]
            facts = payload(signed)
            number = facts["transactionId"]
            if number not in self._known:
                self._known.add(number)
                self._sold[number] = facts["productId"]
                self.unfinished.append(number)
            if self._ledger:
                # The units of a repeated purchase are those of whoever bought it.
                self._book(number, signed, facts, not answer[1].get("isRepeat"))

    def _book(self, number, signed, facts, is_own):
        """What it hands in to the ledger: at once, or when a unit is spent."""
        if facts["type"] != "Consumable":
            self.proofs.learn(number, signed)
        elif is_own:
            self._credit(number, signed, facts)

    def _credit(self, number, signed, facts, is_sure=True):
        if number in self._credited:
            return
        self._credited.add(number)
        keys = [self._uuid() for _ in range(facts["quantity"])]
        self.unspent.append(Unspent(number, signed, keys, is_sure))

    def redeem(self, unspent):
        """Spends a unit of what was bought."""
        self._ledger.redeem(self, unspent)
        if not unspent.keys:
            self.unspent.remove(unspent)

    def other_contents(self):
        """The id of a settled purchase, for something else: must be refused."""
        purchase = self.settled[self._random.randrange(len(self.settled))]
        body = dict(self.bodies[purchase])
        body["quantity"] = body["quantity"] % 9 + 1
        self.put(purchase, body, verb="other contents")

    def put_away(self, number):
        """Finishes a transaction without keeping account of it."""
        answer = self.call(
            "POST", f"{self._door}/transactions/{number}/finish", verb="finish", transaction=number
        )
        return answer is not None and answer[0] == 200

    def finish(self, number):
        answer = self.call(
            "POST", f"{self._door}/transactions/{number}/finish", verb="finish", transaction=number
        )
        if answer is not None and answer[0] == 200:
            self.unfinished.remove(number)

    def follow(self):
        """Reads on from the last revision; true when there was nothing more."""
        path = f"{self._door}/transactions?since={self.revision}&wait=0"
        answer = self.call("GET", path, verb="transactions", since=self.revision)
        if answer is None or answer[0] != 200:
            return False
        self.revision = answer[1]["revision"]
        return not answer[1]["hasMore"]

    def wind_up(self, seconds):
        """In the calm: finishes half, settles and redeems. True when nothing
        is left to be sent, false if nothing improved for this long."""
        pause = threading.Event()
        left, deadline = self.open_ends, time.monotonic() + seconds
        for number in self.unfinished[::2]:
            self.finish(number)
        while time.monotonic() < deadline:
            if self.token is None:
                self.sign_in()
            for purchase in self.unsettled + self.settled[-3:]:
                self.ask_again(purchase)
            if self._ledger:
                for unspent in list(self.unspent):
                    self.redeem(unspent)
                self.hand_in_all()
            if not self.open_ends:
                return True
            if self.open_ends != left:
                left, deadline = self.open_ends, time.monotonic() + seconds
            pause.wait(0.2)
        return False

    @property
    def open_ends(self):
        """What it still has to ask for: settlements, and units spent."""
        return (
            len(self.unsettled) + sum(len(unspent.keys) for unspent in self.unspent)
            + len(self.proofs.open))

    def hand_in_all(self):
        """Hands in every last state that the ledger has not acknowledged; true when it
        has all of them."""
        for number in list(self.proofs.open):
            self._ledger.hand_in_last(self, self.proofs, number)
        return not self.proofs.open

    def read_on(self, tries):
        """After everybody has wound up: nothing new comes any more. The receipt
        of the end is fetched too, and the ledger gets what is new."""
        return any(self.follow() for _ in range(tries)) and any(
            self.fetch_receipt() for _ in range(tries)) and any(
            self.hand_in_all() for _ in range(tries))

    def fetch_receipt(self):
        answer = self.call("GET", f"{self._door}/receipt", verb="receipt")
        return answer is not None and answer[0] == 200
