# SPDX-License-Identifier: Apache-2.0
"""The clerk of a sandbox of subscribers: switches renewals off and on, extends them,
lets billing fail and be fixed, charges and ends early, and refunds, revokes and
takes that back. It repeats what got no answer, and does some of it twice at the same
moment."""

from .actor import Actor

# What it does, and how often.
DEEDS = [
    ("look", 14), ("switch_off", 9), ("switch_on", 12), ("extend", 5), ("fail_billing", 12),
    ("fix_billing", 6), ("renew", 6), ("expire", 3), ("refund", 16), ("reverse", 16),
    ("decline", 5), ("ask_for_money", 5),
]
KINDS = ["full", "full", "prorated", "nothing"]
# How many transactions it remembers.
REMEMBERED = 60
CATCHES_UP = 5


class Clerk(Actor):
    def __init__(self, servers, path, seed, realm, others=()):
        super().__init__(servers, path, seed)
        #: Customers who do not subscribe.
        self._others = list(others)
        self._prefix = f"/realms/{realm}"
        self._subscriptions, self._transactions, self._refunded = [], [], []
        #: Purchases of what the ledger grants as credits.
        self._credits = []

    def act(self):
        if not self._subscriptions:
            self.look()
            return
        (name,) = self.random.choices(
            [name for name, _ in DEEDS], [weight for _, weight in DEEDS])
        getattr(self, name)()

    def look(self):
        """Reads the subscriptions, or what a customer was sold."""
        operator = f"{self._prefix}/operator/v1"
        if self._subscriptions and self.random.randrange(3) == 0:
            customer = self.random.choice(
                [each["customerId"] for each in self._subscriptions] + self._others)
            path = f"{operator}/transactions?customer={customer}&limit=50"
            answer = self.call("operator", "GET", path, verb="list")
            if answer is not None and answer[0] == 200:
                found = answer[1]["transactions"]
                self._remember(each["transactionId"] for each in found[-6:])
                credits = [each for each in found if each["productId"].startswith("gems.")]
                self._credits += [each["transactionId"] for each in credits[-3:]]
                del self._credits[:-REMEMBERED]
            return
        answer = self.call("operator", "GET", f"{operator}/subscriptions", verb="look")
        if answer is not None and answer[0] == 200:
            self._subscriptions = answer[1]["subscriptions"]
            self._remember(each["transactionId"] for each in self._subscriptions)

    def _remember(self, numbers):
        for number in numbers:
            if number not in self._transactions:
                self._transactions.append(number)
        del self._transactions[:-REMEMBERED]

    # Deeds on a subscription

    def _subscription(self, door, method, verb, body=None):
        name = self.random.choice(self._subscriptions)["subscriptionId"]
        path = f"{self._prefix}/{door}/v1/subscriptions/{name}/{verb}"

        def deed():
            self.insist(door, method, path, body, verb=verb, subscription=name)

        self.at_once(*[deed] * (1 + (self.random.randrange(8) == 0)))

    def switch_off(self):
        self._subscription("operator", "PUT", "renewal", {"isRenewing": False})

    def switch_on(self):
        self._subscription("operator", "PUT", "renewal", {"isRenewing": True})

    def extend(self):
        self._subscription("operator", "POST", "extensions", {"days": self.random.randint(1, 20)})

    def fail_billing(self):
        self._subscription("control", "PUT", "billing", {"failsBilling": True})

    def fix_billing(self):
        self._subscription("control", "PUT", "billing", {"failsBilling": False})

    def renew(self):
        self._subscription("control", "POST", "renewals")

    def expire(self):
        self._subscription("control", "POST", "expirations")

    # Deeds on a transaction

    def _decide(self, number, *bodies):
        path = f"{self._prefix}/operator/v1/transactions/{number}/refund"
        answers = []

        def deed(body):
            return lambda: answers.append(self.insist(
                "operator", "PUT", path, body, verb="refund", transaction=number))

        self.at_once(*(deed(body) for body in bodies))
        return [answer[1] for answer in answers if answer is not None and answer[0] == 200]

    def refund(self):
        """A refund or a revocation, sometimes twice, and sometimes of two kinds at once."""
        is_of_credits = self._credits and not self.random.randrange(3)
        number = self.random.choice(self._credits if is_of_credits else self._transactions)
        bodies = [{"state": "granted", "kind": self.random.choice(KINDS)}]
        drawn = self.random.randrange(8)
        if drawn == 0:
            bodies *= 2
        elif drawn == 1:
            bodies.append({"state": "granted", "kind": self.random.choice(KINDS)})
        self._refunded = [*self._refunded[-5:], number]
        self._decide(number, *bodies)

    def reverse(self):
        if self._refunded:
            bodies = [{"state": "reversed"}] * (1 + (self.random.randrange(6) == 0))
            self._decide(self.random.choice(self._refunded), *bodies)

    def catch_up(self):
        """In the calm: refunds of money, of which one is taken back, so that a short round
        has some."""
        for _ in range(CATCHES_UP):
            self.look()
        granted = []
        for number in reversed(self._transactions):
            for answer in self._decide(number, {"state": "granted", "kind": "full"}):
                if answer["refund"]["sum"] > 0:
                    granted.append(number)
            if len(granted) == 2:
                break
        if granted:
            self._decide(granted[-1], {"state": "reversed"})

    def decline(self):
        self._decide(self.random.choice(self._transactions), {"state": "declined"})

    def ask_for_money(self):
        number = self.random.choice(self._transactions)
        path = f"{self._prefix}/control/v1/transactions/{number}/refund-requests"
        self.call("control", "POST", path, {"reason": "LEGAL"}, verb="request", transaction=number)
