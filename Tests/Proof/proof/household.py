# SPDX-License-Identifier: Apache-2.0
"""A customer whose purchases go from one account of the ledger to another: a household makes
accounts, restores what it bought to others of them, merges them and has them erased. It repeats
what got no answer, and does some of it twice at the same moment."""

from .device import UNSETTLED_MAX, Device
from .facts import HOME
from .signatures import payload

#: What it does with its accounts, and how often.
DEEDS = [
    ("restore", 30), ("rehearse", 6), ("merge", 5), ("erase", 3), ("spend", 14),
    ("redeem_unit", 14), ("repeat", 6), ("look", 12), ("take_out", 3), ("found", 7),
]
#: So many accounts stay, whatever is merged and erased.
HOMES_MIN = 2
GEMS, COINS, PASS = "gems.50", "coins.100", "pass.30"
#: How often it buys a pass rather than anything else.
PASSES = 4
SPENT_IN_CALM, GEMS_MAX = 5, 20
#: A refusal of the store, an older price or a sum that is declined may cost it a try.
TRIES = 12
#: What is asked about an account that was erased.
QUESTIONS = ("entitlements", "balances", "unspent", "history")
# How many spendings and redemptions it keeps to be repeated.
DONE_MAX = 20


class Good:
    """A purchase, and the account in which it was last known to be."""

    def __init__(self, number, signed, product, units):
        self.number, self.signed, self.product = number, signed, product
        self.units = units
        self.home = None


class Household(Device):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        # What grants an entitlement can be shared; everything else is only moved.
        self._products = list({each["id"]: each for each in self._products}.values())
        self._products += [each for each in self._products if each["id"] == PASS] * PASSES
        self._goods = []
        self._homes = [self._name() for _ in range(HOMES_MIN)]
        #: Accounts that were erased, as far as was answered, and what became part of others.
        self._gone, self._parts = [], {}
        #: The last state of each transaction, and what the ledger has not acknowledged of it.
        self._states, self._news = {}, []
        #: Errands without an answer, and answered ones that are repeated.
        self._errands, self._done = [], []
        self._is_calm = False

    def _name(self):
        return HOME + self._uuid().replace("-", "")[:12]

    def step(self):
        if self.token is None and not self.sign_in():
            return
        drawn = self._random.randrange(100)
        if self.unsettled and (drawn < 20 or len(self.unsettled) >= UNSETTLED_MAX):
            self.ask_again(self._random.choice(self.unsettled))
        elif drawn < 36 or not self.settled:
            self.buy()
        elif drawn < 42 and self.unfinished:
            self.finish(self._random.choice(self.unfinished))
        elif drawn < 45 or not self._ledger:
            self.follow()
        else:
            self._keep_house()

    def _book(self, number, signed, facts, is_own):
        if number not in self._credited:
            self._credited.add(number)
            self._goods.append(Good(number, signed, facts["productId"], facts["quantity"]))

    # Errands at the ledger

    def _keep_house(self):
        if self._errands:
            self._run(self._errands[0])
        elif fresh := [good for good in self._goods if good.home is None]:
            self._claim(fresh[0], self._random.choice(self._homes))
        elif self._goods:
            (name,) = self._random.choices(
                [name for name, _ in DEEDS], [weight for _, weight in DEEDS])
            getattr(self, name)()

    def _begin(self, verb, account, path, body=None, good=None, **noted):
        """An errand: it is repeated until it is answered. `path` is below the account."""
        errand = {"verb": verb, "account": account, "path": path, "body": body, "good": good,
                  "noted": noted}
        self._errands.append(errand)
        return self._run(errand)

    def _run(self, errand):
        """The answer to an errand, or nothing where none came."""
        good, path = errand["good"], f"/ledger/v1/accounts/{errand['account']}"
        if errand["verb"] in ("claim", "show"):
            path = "/ledger/v1"
        noted = dict(errand["noted"])
        if good is not None:
            noted["transaction"] = good.number
        if self._is_calm:
            noted["calm"] = True
        answers = self._ledger.ask(
            self, "GET" if errand["body"] is None else "POST", f"{path}/{errand['path']}",
            errand["body"], verb=errand["verb"], account=errand["account"], **noted)
        answers = [answer for answer in answers if answer is not None]
        if not answers:
            return None
        if errand in self._errands:
            self._errands.remove(errand)
        # Of two at the same moment one may be refused, because the other was done.
        answer = min(answers, key=lambda each: each[0])
        self._conclude(errand, *answer)
        return answer

    def _conclude(self, errand, status, answer):
        verb, account, good = errand["verb"], errand["account"], errand["good"]
        if verb == "claim":
            good.home = account
        elif verb == "show" and status == 200 and good.number in self._news:
            self._news.remove(good.number)
        elif verb == "restore" and answer.get("outcome") in ("claimed", "owned", "transferred"):
            good.home = account
        elif verb == "merge" and status == 200:
            for each in self._goods:
                if each.home == account:
                    each.home = errand["body"]["into"]
            self._parts.setdefault(errand["body"]["into"], []).append(account)
            self._leave(account)
        elif verb == "erase" and status in (200, 404):
            self._goods = [each for each in self._goods if each.home != account]
            self._leave(account)
            self._forget(account)
        elif verb in ("redeem", "spend") and status == 200:
            self._done = [*self._done[1 - DONE_MAX:], errand]

    def _forget(self, account):
        """What was part of an account is erased with it."""
        if account not in self._gone:
            self._gone.append(account)
            for part in self._parts.get(account, []):
                self._forget(part)

    def _leave(self, account):
        if account in self._homes:
            self._homes.remove(account)
        while len(self._homes) < HOMES_MIN:
            self._homes.append(self._name())

    # What it does

    def _claim(self, good, account):
        body = {"signedTransaction": good.signed, "account": account}
        return self._begin("claim", account, "purchases", body, good)

    def restore(self):
        """Gives a purchase to another of its accounts, now and then to a new one."""
        good = self._random.choice(self._goods)
        homes = [home for home in self._homes if home != good.home]
        if not homes or not self._random.randrange(6):
            self.found()
            homes = self._homes[-1:]
        self._give(good, self._random.choice(homes))

    def _give(self, good, account):
        return self._begin(
            "restore", account, "restores", {"signedTransaction": good.signed}, good)

    def rehearse(self):
        """What a restore would do, for an account that nothing is ever given to."""
        body = {"signedTransaction": self._random.choice(self._goods).signed, "dryRun": True}
        self._begin("rehearse", self._name(), "restores", body)

    def found(self):
        self._homes.append(self._name())

    def merge(self):
        if len(self._homes) > HOMES_MIN:
            account, into = self._random.sample(self._homes, 2)
            self._merge(account, into)

    def _merge(self, account, into):
        return self._begin("merge", account, "merge", {"into": into})

    def erase(self):
        """An account that has something, while others stay."""
        homes = {good.home for good in self._goods} & set(self._homes)
        if len(self._homes) > HOMES_MIN and len(homes) > 1:
            self._erase(self._random.choice(sorted(homes)))

    def _erase(self, account):
        return self._begin("erase", account, "erasure", {})

    def spend(self):
        account = self._random.choice(self._homes)
        self._spend(account, self._random.randint(1, GEMS_MAX))

    def _spend(self, account, amount):
        key = self._uuid()
        return self._begin("spend", account, "spendings", {
            "idempotencyKey": key, "currency": "gems", "amount": amount,
            "purpose": f"for {account}", "environment": self.world["environment"],
        }, idempotency_key=key)

    def redeem_unit(self):
        """A unit of what it believes to be in an account."""
        goods = [good for good in self._goods if good.product == COINS and good.units > 0]
        if goods:
            self._redeem(self._random.choice(goods))

    def _redeem(self, good):
        good.units -= 1
        key = self._uuid()
        return self._begin("redeem", good.home, "redemptions", {
            "idempotencyKey": key, "purpose": f"for {good.home}", "transactionId": good.number,
            "environment": self.world["environment"], "bundleId": self.world["bundle"],
        }, good, idempotency_key=key)

    def repeat(self):
        """A key that was used, in an account that may have become part of another since."""
        if self._done:
            self._run(self._random.choice(self._done))

    def look(self):
        """Reads what an account has."""
        self._look(self._random.choice(self._homes), self._random.choice(QUESTIONS))

    def _look(self, account, question, verb="look at home"):
        return self._begin(
            verb, account, f"{question}?environment={self.world['environment']}",
            question=question)

    def take_out(self):
        self._begin("export", self._random.choice(self._homes), "export", question="export")

    def follow(self):
        """Reads on, and takes note of what became of its purchases."""
        path = f"{self._door}/transactions?since={self.revision}&wait=0"
        answer = self.call("GET", path, verb="transactions", since=self.revision)
        if answer is None or answer[0] != 200:
            return False
        self.revision = answer[1]["revision"]
        for item in answer[1]["transactions"]:
            signed = item["signedTransaction"]
            number = payload(signed)["transactionId"]
            if self._states.get(number) != signed:
                self._states[number] = signed
                self._news = [each for each in self._news if each != number] + [number]
        return not answer[1]["hasMore"]

    # In the calm

    @property
    def open_ends(self):
        fresh = sum(good.home is None for good in self._goods) if self._ledger else 0
        return super().open_ends + len(self._errands) + fresh

    def hand_in_all(self):
        for errand in list(self._errands):
            self._run(errand)
        for good in [each for each in self._goods if each.home is None]:
            if not self._errands:
                self._claim(good, self._random.choice(self._homes))
        return not self._errands

    def _show(self, number):
        """A purchase as it is now, for whatever account has it."""
        good = Good(number, self._states[number], None, 0)
        self._begin("show", None, "purchases", {"signedTransaction": good.signed}, good)

    def read_on(self, tries):
        """As a device; and the ledger gets the last state of all."""
        if not super().read_on(tries):
            return False
        for _ in range(tries if self._ledger else 0):
            self.hand_in_all()
            for number in list(self._news):
                self._show(number)
            if not self._news:
                break
        return not self._ledger or not self._news

    def wind_up(self, seconds):
        """So that a short round has some: what no late request can disturb any more."""
        if not super().wind_up(seconds):
            return False
        self._is_calm = True
        return not self._ledger or self._move_house()

    def _move_house(self):
        """A purchase goes to another account, which becomes part of a third one; a fourth is
        erased, and one of earlier purchases. Then nothing is left of any account that was
        erased."""
        first, second, third, last = (self._name() for _ in range(4))
        # What is to be erased comes first, so that the ledger has heard of it.
        coins, gems = self._obtain(COINS), self._obtain(GEMS)
        if gems is None or coins is None:
            return False
        errands = [
            lambda: self._claim(gems, first), lambda: self._spend(first, SPENT_IN_CALM),
            lambda: self._give(gems, second), lambda: self._merge(second, third),
            lambda: self._claim(coins, last), lambda: self._redeem(coins),
            lambda: self._erase(last),
        ]
        earlier = [good.home for good in self._goods if good.home in self._homes]
        errands += [lambda: self._erase(earlier[0])] * bool(earlier)
        return all(self._insisted(errand) for errand in errands) and all(
            self._forgotten(account) for account in list(self._gone))

    def _insisted(self, errand):
        answer = errand()
        for _ in range(TRIES):
            if answer is not None:
                break
            answer = self._run(self._errands[0])
        return answer is not None

    def _forgotten(self, account):
        """A late request may have made it anew: it is erased until there is none."""
        for _ in range(TRIES):
            answer = self._erase(account)
            if answer is not None and answer[0] == 404:
                break
        self._begin("ask after", account, "export", question="export")
        return all(
            self._insisted(lambda question=question: self._look(account, question, "ask after"))
            for question in QUESTIONS)

    def _obtain(self, product):
        """A new purchase of a product."""
        known = len(self._goods)
        (sold, *_) = [each for each in self._products if each["id"] == product]
        for _ in range(TRIES):
            for number in self.unfinished_of(product):
                self.finish(number)
            self._order(sold, 1)
            for purchase in list(self.unsettled):
                self.ask_again(purchase)
            found = [each for each in self._goods[known:] if each.product == product]
            if found:
                return found[-1]
        return None
