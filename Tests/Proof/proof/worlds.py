# SPDX-License-Identifier: Apache-2.0
"""What the devices buy in: two apps in the default realm, a second sandbox, a
production realm, and two sandboxes whose clocks are moved and in which customers
subscribe, with and without the payment processor. The same processes serve all of them."""

import json
import os
import urllib.request

PACKAGE = os.path.dirname(os.path.abspath(__file__))
CATALOGUE = os.path.join(os.path.dirname(PACKAGE), "proof.storekit")
#: What the sandboxes of subscribers sell.
TERMS_CATALOGUE = os.path.join(os.path.dirname(PACKAGE), "terms.storekit")
BUNDLE_ID, OTHER_BUNDLE_ID = "com.example.proof", "com.example.proof.other"
APP_ID = 1_234_567_890
PASSWORD = "only the proof's"
SECOND, MARKET = "second", "market"
#: Where customers subscribe: a rule charges in the one, the processor in the other.
RULED, BILLED = "ruled", "billed"
#: The days for which an unpaid renewal can be used, by realm.
GRACE_DAYS = {RULED: 16, BILLED: 3}
#: So many customers subscribe in each. The first of each has two devices.
SUBSCRIBERS = 3
#: So many households move purchases between accounts of the ledger, where a rule charges.
HOUSEHOLDS = 2
#: Devices below this stay in the default realm's first app.
DEVICES_OF_ALL_WORLDS = 8


#: What the ledger grants, by product. Coins are redeemed unit by unit.
GRANTS = {
    product: [{"kind": "entitlement", "name": product, "lasting": "forever"}]
    for product in ["no.ads", *(f"level.{number}" for number in range(2, 10))]
} | {
    product: [{"kind": "credits", "name": "gems", "amount": amount, "onReversal": policy}]
    for product, amount, policy in [
        ("gems.10", 10, "keep"), ("gems.50", 50, "remove"), ("gems.80", 80, "debt")]
} | {
    "pass.30": [{"kind": "entitlement", "name": "pass", "lasting": "period", "days": 30}],
} | {
    plan: [{"kind": "entitlement", "name": name, "lasting": lasting}]
    for plan, name, lasting in [
        ("gold.month", "gold", "grace"), ("silver.month", "silver", "grace"),
        ("silver.week", "silver", "grace"), ("bronze.week", "bronze", "subscription")]
}


def ledger_file(path, policy="refuse", webhooks=()):
    """Writes the same as a ledger.yaml. `policy`: what becomes of a purchase that another
    account presents. `webhooks`: the lines about the merchant's server."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"accounts:\n  restore: {policy}\n")
        file.writelines(f"{line}\n" for line in webhooks)
        file.write("products:\n")
        for product, grants in GRANTS.items():
            file.write(f"  {product}:\n")
            for grant in grants:
                file.write(f"    - {{{', '.join(words(grant))}}}\n")


def words(grant):
    """A grant in the words of ledger.yaml."""
    if grant["kind"] == "credits":
        return [f"credits: {grant['name']}", f"amount: {grant['amount']}",
                f"onReversal: {grant['onReversal']}"]
    lasts = {"period": f"P{grant.get('days')}D", "grace": "subscribed",
             "subscription": "subscribed"}.get(grant["lasting"], grant["lasting"])
    grace = ["grace: true"] if grant["lasting"] == "grace" else []
    return [f"entitlement: {grant['name']}", f"lasts: {lasts}", *grace]


def products(path=CATALOGUE):
    """What the catalogue sells, as a device draws from it: coins most of the time."""
    with open(path, encoding="utf-8") as file:
        listed = json.load(file)["products"]
    found = [
        {
            "id": product["productID"],
            "price": thousandths(product["displayPrice"]),
            "isOnce": product["type"] == "NonConsumable",
        }
        for product in listed
    ]
    coins = [product for product in found if not product["isOnce"]]
    return coins * 12 + [product for product in found if product["isOnce"]]


def catalogue():
    """The same for the checker, by id."""
    return {
        product["id"]: {**product, "currency": "USD", "storefront": "USA"}
        for product in products(TERMS_CATALOGUE) + products()
    }


def extras():
    """What the sandboxes of subscribers sell beside subscriptions: mostly gems."""
    found = list({product["id"]: product for product in products(TERMS_CATALOGUE)}.values())
    return found + [product for product in found if product["id"].startswith("gems.")]


def plans():
    """The subscriptions for the checker, by id: level, period, and what they cost."""
    with open(TERMS_CATALOGUE, encoding="utf-8") as file:
        groups = json.load(file)["subscriptionGroups"]
    return {
        plan["productID"]: {
            "price": thousandths(plan["displayPrice"]), "level": plan["groupNumber"],
            "period": plan["recurringSubscriptionPeriod"], "currency": "USD",
            "storefront": "USA", "introduction": introduction(plan.get("introductoryOffer")),
        }
        for group in groups for plan in group["subscriptions"]
    }


def introduction(offer):
    """An introductory offer: its mode, the length and number of its periods, and its price."""
    if offer is None:
        return None
    return {
        "mode": offer["paymentMode"], "period": offer["subscriptionPeriod"],
        "count": offer.get("numberOfPeriods", 1),
        "price": thousandths(offer.get("displayPrice", "0")),
    }


def thousandths(price):
    """A price as the store writes it."""
    return round(float(price) * 1000)


def world(customer, prefix="", bundle=BUNDLE_ID, environment="Sandbox", **other):
    """Where one device buys, and as whom."""
    return {
        "customer": customer, "prefix": prefix, "bundle": bundle, "environment": environment,
        "asksToBuy": False, "subscribes": False, "movesHouse": False,
    } | other


class Worlds:
    """Makes realms, apps and customers through the operators' door of a server."""

    def __init__(self, server, plan, receiver):
        self._server, self._plan, self._receiver = server, plan, receiver
        names = [f"customer-{number}" for number in range(plan.customers)]
        self.is_plain = plan.is_plain or plan.devices < DEVICES_OF_ALL_WORLDS
        #: The approvals of these are the guardian's.
        self.devices = [
            world(names[number % len(names)], asksToBuy=plan.approvals)
            for number in range(plan.devices)
        ]
        #: Customers with a household, all of them where a rule charges.
        self.households = []
        self._make(names)

    def _make(self, names):
        for name in names:
            self._server.operate("/operator/v1/customers", {"name": name})
        self._announce("", BUNDLE_ID)
        if self.is_plain:
            return
        self._sell("", OTHER_BUNDLE_ID)
        self._announce("", OTHER_BUNDLE_ID)
        for place in (3, -4):
            self.devices[place]["bundle"] = OTHER_BUNDLE_ID
        self._second()
        if self._plan.processor:
            self._market()
        for realm in self.moving:
            self._subscribe(realm)

    @property
    def moving(self):
        """The sandboxes of subscribers, whose clocks are moved."""
        if self.is_plain:
            return []
        return [RULED, BILLED] if self._plan.processor else [RULED]

    def kits(self):
        """Customers of their own for apps on PurchaseKit, made here."""
        names = ["kit-0", "kit-1"]
        for name in names:
            self._server.operate("/operator/v1/customers", {"name": name})
        return names

    def _second(self):
        """A sandbox beside the default realm."""
        prefix = f"/realms/{SECOND}"
        self._server.operate("/operator/v1/realms", {"name": SECOND, "environment": "Sandbox"})
        self._sell(prefix, BUNDLE_ID)
        self._announce(prefix, BUNDLE_ID)
        self._server.operate(f"{prefix}/operator/v1/customers", {"name": "second-0"})
        self.devices[-3] = world("second-0", prefix)

    def _market(self):
        """A production realm, which sells through the processor alone."""
        prefix = f"/realms/{MARKET}"
        self._server.operate("/operator/v1/realms", {"name": MARKET, "environment": "Production"})
        apps = f"{prefix}/operator/v1/apps"
        details = {"appAppleId": APP_ID, "name": "Proof"}
        self._server.operate(apps, {"bundleId": BUNDLE_ID, "details": details})
        self._sell(prefix, BUNDLE_ID)
        versions = f"{apps}/{BUNDLE_ID}/versions"
        sold = sorted({product["id"] for product in products()})
        self._server.operate(versions, {"version": "1.0", "products": sold})
        self._server.operate(f"{versions}/1.0", {"state": "live"}, "PATCH")
        for place, name in ((-2, "buyer-0"), (-1, "buyer-1")):
            customer = {"name": name, "password": PASSWORD, "storefront": "USA"}
            self._server.operate(f"{prefix}/operator/v1/customers", customer)
            self.devices[place] = world(
                name, prefix, environment="Production", password=PASSWORD)

    def _subscribe(self, realm):
        """A sandbox in which customers of its own subscribe."""
        prefix = f"/realms/{realm}"
        self._server.operate("/operator/v1/realms", {"name": realm, "environment": "Sandbox"})
        self._sell(prefix, BUNDLE_ID, TERMS_CATALOGUE)
        details = {"gracePeriodDays": GRACE_DAYS[realm]}
        self._server.operate(f"{prefix}/operator/v1/apps/{BUNDLE_ID}", details, "PATCH")
        self._announce(prefix, BUNDLE_ID)
        names = [f"{realm}-{number}" for number in range(SUBSCRIBERS)]
        for name in names:
            self._server.operate(f"{prefix}/operator/v1/customers", {"name": name})
        self.devices += [world(name, prefix, subscribes=True) for name in [names[0], *names]]
        if realm == RULED and self._plan.ledger:
            self._house(realm, prefix)

    def _house(self, realm, prefix):
        """Customers whose purchases go from one account of the ledger to another."""
        for number in range(HOUSEHOLDS):
            name = f"{realm}-house-{number}"
            made = self._server.operate(f"{prefix}/operator/v1/customers", {"name": name})
            self.households.append(made["customerId"])
            self.devices.append(world(name, prefix, movesHouse=True))

    def _sell(self, prefix, bundle, catalogue=CATALOGUE):
        with open(catalogue, encoding="utf-8") as file:
            text = file.read()
        path = f"{prefix}/operator/v1/apps/{bundle}/catalogue"
        self._server.operate(path, {"name": os.path.basename(catalogue), "file": text}, "PUT")

    def _announce(self, prefix, bundle):
        if self._receiver:
            path = f"{prefix}/operator/v1/apps/{bundle}/notification-url"
            self._server.operate(path, {"notificationUrl": self._receiver.url}, "PUT")

    def roots(self, folder):
        """Files with the store's root certificates, in PEM."""
        kinds = ["sandbox"]
        if not self.is_plain and self._plan.processor:
            kinds.append("production")
        return [self._root(kind, folder) for kind in kinds]

    def _root(self, kind, folder):
        path = os.path.join(folder, f"{kind}-root.pem")
        url = f"http://127.0.0.1:{self._server.port}/certificates/root?kind={kind}&format=pem"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=30) as response, open(path, "wb") as file:
            file.write(response.read())
        return path
