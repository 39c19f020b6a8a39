# SPDX-License-Identifier: Apache-2.0
"""Evidence of a sandbox of subscribers that is sound, for tests to spoil: a customer
subscribes with an introductory offer, renews, upgrades, switches the renewal off and on,
and is refunded, which is taken back."""

import json

from proof.facts import Evidence
from proof.fold import DAY, MINUTE, folded, later

REALM, CUSTOMER, BUNDLE = "r", 7, "com.example.proof"
START = 1_800_000_000_000
NOW = START + 20 * DAY
GOLD_END = later(START + 10 * DAY, "P1M", 25)
RENEWAL = f"{REALM}/{CUSTOMER}/{BUNDLE}/renewal/200/{START + 7 * DAY}/1"
BRONZE, GOLD = f"{REALM}/{CUSTOMER}/{BUNDLE}/p1", f"{REALM}/{CUSTOMER}/{BUNDLE}/p3"
PLANS = {
    "gold.month": {"price": 9990, "period": "P1M", "level": 1, "introduction": None},
    "bronze.week": {"price": 990, "period": "P1W", "level": 3, "introduction": {
        "mode": "payAsYouGo", "period": "P1W", "count": 2, "price": 490}},
}


def usd(amount):
    return {"amount": amount, "currency": "USD"}


def offer(left):
    return {"kind": "introductory", "mode": "payAsYouGo", "period": "P1W", "periodsLeft": left,
            "price": 490}


def period(transaction, product, start, end, length, price, **other):
    return {
        "transaction": transaction, "productID": product, "start": start, "end": end,
        "length": length, "anchorDay": 25, "price": usd(price),
    } | other


FIRST = period(200, "bronze.week", START, START + 7 * DAY, "P1W", 490, offer=offer(1))
SECOND = period(
    201, "bronze.week", START + 7 * DAY, START + 14 * DAY, "P1W", 490, offer=offer(0))
THIRD = period(202, "gold.month", START + 10 * DAY, GOLD_END, "P1M", 9990)


def body(at, cause, kind, **facts):
    return json.dumps({"at": at, "cause": cause, "change": {kind: facts}})


def event(number, revision, at, cause, kind, **facts):
    return {
        "customer_id": CUSTOMER, "realm": REALM, "subscription_id": 200, "event": number,
        "happened_at": at, "cause": cause, "revision": revision,
        "body": body(at, cause, kind, **facts),
    }


def refund_event(transaction, number, revision, at, cause, kind, **facts):
    return {
        "customer_id": CUSTOMER, "realm": REALM, "transaction_id": transaction, "refund": 1,
        "event": number, "happened_at": at, "cause": cause, "revision": revision,
        "body": body(at, cause, kind, **facts),
    }


def events():
    return [
        event(1, 4, START, "customer", "subscribed", period=FIRST, regularPrice=usd(990),
              groupID="g", isFirst=True),
        event(2, 7, START + 7 * DAY - MINUTE, "time", "renewed", period=SECOND),
        event(3, 10, START + 10 * DAY, "customer", "upgraded", period=THIRD,
              regularPrice=usd(9990), refund=usd(280)),
        event(4, 13, START + 11 * DAY, "operator", "switchedOff"),
        event(5, 14, START + 12 * DAY, "operator", "refunded"),
        event(6, 16, START + 12 * DAY, "operator", "refundReversed"),
        event(7, 18, START + 12 * DAY, "operator", "switchedOn"),
    ]


def subscription():
    whole = folded(events())
    return {
        "customer_id": CUSTOMER, "realm": REALM, "subscription_id": 200, "bundle_id": BUNDLE,
        "product_id": "gold.month", "transaction_id": 202, "status": 1, "ends_at": GOLD_END,
        "events": 7, "state": json.dumps(whole.stored()), "revision": 18,
    }


def transaction(sold, revision, purchase, **other):
    return {
        "customer_id": CUSTOMER, "realm": REALM, "bundle_id": BUNDLE,
        "transaction_id": sold["transaction"], "original_transaction_id": 200,
        "purchase_id": purchase, "product_id": sold["productID"], "quantity": 1,
        "purchased_at": sold["start"], "expires_at": sold["end"],
        "unit_price": sold["price"]["amount"], "total_price": sold["price"]["amount"],
        "currency": "USD", "storefront": "USA", "product_type": "auto-renewable",
        "revoked_at": None, "finished_at": None, "revision": revision, "is_upgraded": False,
        "reason": "purchase" if purchase else "renewal",
    } | other


def purchase(name, number, revision):
    return {
        "customer_id": CUSTOMER, "realm": REALM, "bundle_id": BUNDLE, "purchase_id": name,
        "state": "sold", "refusal": None, "transaction_id": number, "revision": revision,
        "void_owed_at": None, "waiting_for": None, "approval": None, "voided_at": None,
        "processor_reference": "c", "captured_at": 1, "application_username": None,
    }


def refund(number, kind, sum_, state, charge, count, **other):
    return {
        "customer_id": CUSTOMER, "realm": REALM, "transaction_id": number, "refund": 1,
        "kind": kind, "sum": sum_, "state": state, "charge": charge, "events": count,
        "decided_at": 1, "returned_at": 1, "taken_back_at": None,
    } | other


def owed(cause, kind, subtype, at, number):
    return {
        "customer_id": CUSTOMER, "realm": REALM, "bundle_id": BUNDLE, "cause": cause,
        "notification_uuid": f"u-{cause}", "notification_type": kind, "subtype": subtype,
        "created_at": at, "transaction_id": number,
    }


def outbox():
    at = START + 12 * DAY
    return [
        owed("SUBSCRIPTION/200.1", "SUBSCRIBED", "INITIAL_BUY", START, 200),
        owed("SUBSCRIPTION/200.2", "DID_RENEW", None, START + 7 * DAY - MINUTE, 201),
        owed("SUBSCRIPTION/200.3", "DID_CHANGE_RENEWAL_PREF", "UPGRADE", START + 10 * DAY, 202),
        owed("SUBSCRIPTION/200.4", "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED",
             START + 11 * DAY, 202),
        owed("SUBSCRIPTION/200.7", "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", at, 202),
        owed("REFUND/202.1.1", "REFUND", None, at, 202),
        owed("REFUND/202.1.2", "REFUND_REVERSED", None, at, 202),
    ]


def received(row, at):
    return {
        "uuid": row["notification_uuid"], "status": 200, "digest": "d", "at": at,
        "signed": {"transactionId": str(row["transaction_id"]), "bundleId": BUNDLE},
        "payload": {"notificationType": row["notification_type"], "subtype": row["subtype"],
                    "data": {"bundleId": BUNDLE}},
    }


def log(key, act, **other):
    return {"act": act, "key": key, "state": "approved"} | other


def charged(key, total, product):
    return log(key, "charge", order={
        "total": total, "currency": "USD", "customer": str(CUSTOMER), "bundleId": BUNDLE,
        "productId": product})


def processor():
    return [
        charged(BRONZE, 490, "bronze.week"), log(BRONZE, "capture"),
        charged(RENEWAL, 490, "bronze.week"), log(RENEWAL, "capture"),
        charged(GOLD, 9990, "gold.month"), log(GOLD, "capture"),
        log(RENEWAL, "refund", refund="201.1", order={"total": 280, "currency": "USD"}),
        log(GOLD, "refund", refund="202.1", order={"total": 9990, "currency": "USD"}),
        log(GOLD, "take back", refund="202.1", order={"total": 9990, "currency": "USD"}),
    ]


def charge(**other):
    return {
        "customer_id": CUSTOMER, "realm": REALM, "subscription_id": 200,
        "period_end": START + 7 * DAY, "attempt": 1, "state": "sold", "total_price": 490,
        "transaction_id": 201, "captured_at": 1, "voided_at": None,
    } | other


def shown(**other):
    return {
        "subscriptionId": "200", "status": "active", "endDate": GOLD_END,
        "usableUntil": GOLD_END,
    } | other


def deed(verb, at, answer, **other):
    return {
        "verb": verb, "realm": "billed", "asked_at": at - 1, "at": at, "status": 200,
        "answer": answer, "path": "",
    } | other


def deeds():
    reversed_ = [
        {"transactionId": "202", "refund": 1, "event": 2, "kind": "refundTakenBack",
         "date": START + 12 * DAY, "cause": "operator"},
        {"subscriptionId": "200", "event": 6, "kind": "refundReversed",
         "date": START + 12 * DAY, "cause": "operator"},
    ]
    return [
        deed("refund", 10, {"events": reversed_}),
        deed("jump", 20, {"now": START + 15 * DAY}),
        deed("look", 30, {"subscriptions": [shown()]}),
        deed("jump", 40, {"now": START + 19 * DAY}),
        deed("stand", 50, {"now": NOW}),
    ]


def asked(name, product):
    return {"verb": "purchase", "customer": CUSTOMER, "purchase": name,
            "asked": {"productId": product, "quantity": 1}}


def heard(name, sold):
    signed = {
        "transactionId": str(sold["transaction"]), "productId": sold["productID"], "quantity": 1,
        "purchaseDate": sold["start"], "price": sold["price"]["amount"], "currency": "USD",
        "type": "Auto-Renewable Subscription", "storefront": "USA", "bundleId": BUNDLE,
    }
    return {
        "verb": "purchase", "customer": CUSTOMER, "bundle": BUNDLE, "device": "d1",
        "purchase": name, "asked": {}, "asked_at": 1, "at": 2, "status": 200,
        "answer": {"state": "sold"}, "signed": signed, "items": [],
    }


def sound():
    """What the processor charged; `ruled` makes it one that a rule charged."""
    told = outbox()
    return Evidence(
        realm=REALM, moving={REALM}, plans=PLANS, grace_days={REALM: 3},
        asked=[asked("p1", "bronze.week"), asked("p3", "gold.month")],
        heard=[heard("p1", FIRST), heard("p3", THIRD)],
        customers=[{"customer_id": CUSTOMER, "realm": REALM, "revision": 18}],
        sessions=[{"customer_id": CUSTOMER}],
        purchases=[purchase("p1", 200, 4), purchase("p3", 202, 10)],
        transactions=[
            transaction(FIRST, 4, "p1"), transaction(SECOND, 10, None, is_upgraded=True),
            transaction(THIRD, 16, "p3"),
        ],
        subscriptions=[subscription()], subscription_events=events(),
        renewal_charges=[charge()],
        refunds=[
            refund(201, "upgrade", 280, "granted", RENEWAL, 1),
            refund(202, "full", 9990, "reversed", GOLD, 2, taken_back_at=1),
        ],
        refund_events=[
            refund_event(201, 1, 10, START + 10 * DAY, "customer", "granted",
                         grant={"kind": "upgrade", "sum": usd(280)}),
            refund_event(202, 1, 14, START + 12 * DAY, "operator", "granted",
                         grant={"kind": "full", "sum": usd(9990)}),
            refund_event(202, 2, 16, START + 12 * DAY, "operator", "reversed"),
        ],
        outbox=told, received=[received(row, at) for at, row in enumerate(told)],
        notifications=[
            {"notification_uuid": row["notification_uuid"], "delivered_at": 1} for row in told],
        clocks=[{"realm": REALM, "clock_ahead": 5, "clock_stands_at": NOW, "clock_rate": 1,
                 "jumped_to": NOW}],
        due_work=[{"customer_id": CUSTOMER, "realm": REALM, "kind": "subscription",
                   "subject": "200", "due_at": GOLD_END - MINUTE}],
        processor=processor(), deeds=deeds(),
    )


def ruled():
    """The same where a rule charges."""
    evidence = sound()
    evidence.unprocessed, evidence.processor = {REALM}, None
    evidence.renewal_charges = []
    evidence.customers[0]["revision"] = 16
    return evidence
