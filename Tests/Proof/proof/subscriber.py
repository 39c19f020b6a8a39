# SPDX-License-Identifier: Apache-2.0
"""A customer's device that subscribes: it buys products of one group, which
begins, upgrades, downgrades, keeps or pays a subscription. It also buys coins, gems and
passes, and asks for its money. To the ledger it hands in every state of a transaction
that it reads, and there it spends gems."""

from .device import UNSETTLED_MAX, Device
from .signatures import payload

WISHES = ["UNINTENDED_PURCHASE", "UNSATISFIED_WITH_PURCHASE", "OTHER"]
# How many numbers it remembers for finishing and asking for money.
REMEMBERED = 40
# What it tries to spend at once, and how many spendings it keeps to be repeated.
GEMS_MAX, SPENDINGS_MAX = 40, 20
COINS, GEMS = "coins.100", "gems.50"


class Subscriber(Device):
    """As a device. What it was sold may be taken back."""

    def __init__(self, plans, *arguments):
        super().__init__(*arguments)
        self._plans = plans
        #: Spendings without an answer, and answered ones.
        self._spendings, self._spent = [], []

    def step(self):
        if self.token is None and not self.sign_in():
            return
        drawn = self._random.randrange(100)
        if self.unsettled and (drawn < 35 or len(self.unsettled) >= UNSETTLED_MAX):
            self.ask_again(self._random.choice(self.unsettled))
        elif drawn < 58 or not self.settled:
            self.subscribe()
        elif drawn < 64:
            self.buy()
        elif drawn < 70:
            self.ask_again(self._random.choice(self.settled))
        elif drawn < 72:
            self.other_contents()
        elif drawn < 78 and self.unfinished:
            self.finish(self._random.choice(self.unfinished))
        elif drawn < 82 and self._known:
            self.ask_for_money()
        elif drawn < 86:
            self.follow()
        elif drawn < 88 or not self._ledger:
            self.fetch_receipt()
        else:
            self._use_the_ledger()

    def _use_the_ledger(self):
        drawn = self._random.randrange(10)
        if self._spendings:
            self._spend(self._spendings[0])
        elif drawn < 2 and self.unspent:
            self.redeem(self._random.choice(self.unspent))
        elif drawn < 6:
            self._spend_gems(self._random.randint(1, GEMS_MAX))
        elif drawn < 7 and self._spent:
            self._spend_again(self._random.choice(self._spent))
        elif drawn < 8:
            self._ledger.look(self)
        else:
            self._ledger.hand_in(self, self.proofs)

    def _spend_gems(self, amount):
        self._spendings.append({"key": self._uuid(), "amount": amount})
        self._spend(self._spendings[-1])

    def _spend(self, spending):
        if self._ledger.spend(self, spending):
            self._spendings.remove(spending)
            self._spent = [*self._spent[1 - SPENDINGS_MAX:], spending]

    def _spend_again(self, spending):
        """A key that was used: the same once more, or another amount."""
        if self._random.randrange(3):
            self._ledger.spend(self, spending)
        else:
            self._ledger.spend(
                self, spending | {"amount": spending["amount"] + 1, "verb": "spend otherwise"})

    def _book(self, number, signed, facts, is_own):
        self.proofs.learn(number, signed)
        if facts["productId"] == COINS and is_own:
            self._credit(number, signed, facts, is_sure=False)

    def wind_up(self, seconds):
        """So that a short round has some: gems are bought and spent."""
        if self._ledger and not self._spent:
            self._order(next(each for each in self._products if each["id"] == GEMS), 1)
        return super().wind_up(seconds)

    def read_on(self, tries):
        if self._ledger:
            self._spend_gems(1)
        for _ in range(tries):
            for spending in list(self._spendings):
                self._spend(spending)
        return super().read_on(tries) and not self._spendings

    def subscribe(self):
        """Buys a product of the group as the store shows it now; sometimes twice at
        once, and sometimes two of them at the same moment."""
        shown = self.quote()
        if not shown:
            return
        drawn = self._random.randrange(12)
        purchases = [self._begin(self._random.choice(shown)) for _ in range(1 + (drawn == 0))]
        if drawn == 1:
            purchases *= 2
        if len(purchases) == 1:
            self.ask_again(purchases[0])
        else:
            self.at_once([(each, self._random.choice(self._fronts)) for each in purchases])

    def _begin(self, product):
        purchase = self._uuid()
        self.bodies[purchase] = {
            "productId": product["id"], "quantity": 1, "currency": product["currency"],
            "unitPrice": product.get("offer", product)["price"],
        }
        self.unsettled.append(purchase)
        return purchase

    def quote(self):
        """The products of the group with the prices that a payment sheet shows."""
        body = {"ids": self._plans}
        answer = self.call("POST", f"{self._door}/products", body, verb="products")
        return answer[1]["products"] if answer is not None and answer[0] == 200 else []

    def ask_for_money(self):
        number = self._random.choice(sorted(self._known)[-REMEMBERED:])
        self.call(
            "POST", f"{self._door}/transactions/{number}/refund-request",
            {"reason": self._random.choice(WISHES)}, verb="refund request", transaction=number)

    def follow(self):
        """Reads on, and takes note of renewals, which are finished as well."""
        path = f"{self._door}/transactions?since={self.revision}&wait=0"
        answer = self.call("GET", path, verb="transactions", since=self.revision)
        if answer is None or answer[0] != 200:
            return False
        self.revision = answer[1]["revision"]
        for item in answer[1]["transactions"]:
            number = payload(item["signedTransaction"])["transactionId"]
            if self._ledger:
                self.proofs.learn(number, item["signedTransaction"])
            if number not in self._known:
                self._known.add(number)
                if not item["isFinished"] and len(self.unfinished) < REMEMBERED:
                    self.unfinished.append(number)
        return not answer[1]["hasMore"]
