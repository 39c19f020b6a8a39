# SPDX-License-Identifier: Apache-2.0
"""Evidence of a household that is sound, for tests to spoil. Gems went from the first account to
the second, which became part of the third; a pass is shared by two; coins were in an account that
was erased. Of all of it the merchant's server was told."""

import json

from proof.facts import Evidence
from proof.hooks import ENDPOINTS
from tests.booked import GRANTS, NOW, SANDBOX, START, book, entry, grant, purchase, unit

FIRST, SECOND, THIRD, OWNER, FRIEND, LEFT, TRIED = (
    f"house-{letter}" for letter in "abcdefg")
OPAQUE = "erased:1"
CUSTOMER = 9


def asked(verb, account, number=None, **other):
    """A request of the household."""
    body = {"into": other["into"]} if verb == "merge" else {"amount": other.get("amount")}
    return {
        "verb": verb, "customer": CUSTOMER, "account": account, "transaction": number,
        "asked": body, "idempotency_key": other.get("key"),
    }


def heard(verb, account, number=None, at=10, status=200, **other):
    """The same with its answer."""
    answer = {"outcome": other.get("outcome"), "credits": other.get("credits", [])}
    return asked(verb, account, number, **other) | {
        "asked_at": at - 1, "at": at, "status": status, "answer": other.get("answer", answer),
        "question": other.get("question"), "signed": None, "items": [],
    } | ({"calm": True} if other.get("calm") else {})


def moved(account, number, wallet, issued, spent, at, **other):
    return entry(number, "transfer", other.pop("balance"), wallet, issued, spent,
                 account=account, transaction_id="g1", recorded_at=at) | other


def answered(verb, account, status=200, **found):
    return {
        "verb": verb, "account": account, "environment": SANDBOX, "status": status,
        "answer": found, "between": [NOW, NOW + 5],
    }


#: What the ledger reported: event, account, number, data.
MESSAGES = [
    ("m1", "purchase.booked", "", 1, {"transactionId": "g1"}),
    ("m2", "purchase.updated", FIRST, 3, {"transactionId": "g1", "account": FIRST}),
    ("m3", "credits.spent", FIRST, 1, {"idempotencyKey": "s1", "account": FIRST}),
    ("m4", "purchase.restored", SECOND, 1, {
        "transactionId": "g1", "account": SECOND, "outcome": "transferred"}),
    ("m5", "account.merged", THIRD, 1, {"account": SECOND, "into": THIRD}),
    ("m6", "purchase.booked", OWNER, 1, {"transactionId": "p1", "account": OWNER}),
    ("m7", "purchase.restored", FRIEND, 1, {
        "transactionId": "p1", "account": FRIEND, "outcome": "shared"}),
    ("m8", "unit.redeemed", OWNER, 2, {
        "idempotencyKey": "r1", "account": OWNER, "transactionId": "c2"}),
    ("m9", "purchase.booked", "8", 1, {"transactionId": "c2", "account": "8"}),
]
#: What it had reported about the account that was erased.
DELETED = [
    ("d1", "purchase.booked", LEFT, 1, {"transactionId": "c1", "account": LEFT}),
]


def body_of(event, data):
    return json.dumps({"type": event, "timestamp": "", "data": data})


def message(endpoint, name, event, account, number, data):
    return {
        "endpoint": endpoint, "message_id": name, "event": event, "account": account,
        "number": number, "body": body_of(event, data), "told": {"type": event, "data": dict(data)},
        "sent_at": NOW, "trouble": None,
    }


def came(endpoint, name, event, data, at, status=204):
    return {
        "endpoint": endpoint, "id": name, "timestamp": NOW / 1000, "wall": NOW + 1,
        "body": body_of(event, data), "told": {"type": event, "data": dict(data)}, "problem": None,
        "at": at, "answered_at": at + 1, "status": status,
    }


def wanting(event):
    return [endpoint for endpoint, (_, events) in ENDPOINTS.items() if event in events]


def sound():
    """Everything that the rules on moves and webhooks read."""
    evidence = Evidence(
        grants=GRANTS,
        ledger_accounts=[
            {"account": name} for name in (FIRST, SECOND, THIRD, OWNER, FRIEND, OPAQUE)],
        ledger_purchases=[
            purchase("g1", "gems.50", account=THIRD), purchase("p1", "pass.30", account=OWNER),
            purchase("c1", "coins", account=OPAQUE),
            purchase("c2", "coins", account="8", quantity=2, spent=1)],
        ledger_grants=[
            grant("g1", "credits", "gems", 50, consumed=30, account=THIRD),
            grant("p1", "entitlement", "pass", account=OWNER)],
        ledger_credit_books=[
            book(0, 0, 0, 3, account=FIRST), book(0, 0, 0, 2, account=SECOND),
            book(20, -50, 30, 1, account=THIRD)],
        ledger_credit_entries=[
            entry(1, "grant", 50, 50, -50, account=FIRST),
            entry(2, "spending", 20, -30, 0, 30, account=FIRST, idempotency_key="s1"),
            moved(FIRST, 3, -20, 50, -30, NOW, balance=0),
            moved(SECOND, 1, 20, -50, 30, NOW, balance=20),
            moved(SECOND, 2, -20, 50, -30, NOW + 1, balance=0),
            moved(THIRD, 1, 20, -50, 30, NOW + 1, balance=20)],
        ledger_shares=[{"account": FRIEND, "transaction_id": "p1", "environment": SANDBOX}],
        ledger_merges=[{"account": SECOND, "into_account": THIRD}],
        ledger_redemptions=[
            unit("r1", "c2", 1, redeemed_at=START + 5, account=OWNER, reserved_at=None)],
        ledger_news=[{"notification_id": "n1", "transaction_id": "g1"}],
        heard=[
            heard("claim", FIRST, "g1", 10), heard("spend", FIRST, key="s1", amount=30, answer={
                "amount": 30, "balance": 20, "entry": 2, "spentDate": NOW}),
            heard("restore", SECOND, "g1", 20, calm=True, outcome="transferred", credits=[
                {"currency": "gems", "amount": 20}]),
            heard("merge", SECOND, at=30, into=THIRD),
            heard("claim", OWNER, "p1", 40), heard("restore", FRIEND, "p1", 50, outcome="shared"),
            heard("claim", LEFT, "c1", 60), heard("erase", LEFT, at=70),
            heard("restore", THIRD, "p1", 55, 409, answer={"code": "restoreRefused"}),
            heard("ask after", LEFT, at=80, status=404, question="export"),
            heard("ask after", LEFT, at=81, question="unspent", answer={"purchases": []}),
            heard("rehearse", TRIED, "p1", 90, outcome="transferred"),
        ],
        audited=[
            answered("unspent", "8", purchases=[{"transactionId": "c2"}]),
            answered("balances", SECOND, balances=[{"currency": "gems", "balance": 0}]),
            answered("entitlements", SECOND, entitlements=[]),
            answered("unspent", OPAQUE, 400, code="textInvalid"),
        ],
        hooked=[], replays=[{
            "endpoint": "ordered", "ids": ["m3"], "asked_at": 100, "changed": 1}],
    )
    evidence.asked = [
        {name: entry[name] for name in (
            "verb", "customer", "account", "transaction", "asked", "idempotency_key")}
        for entry in evidence.heard]
    for place, (name, event, account, number, data) in enumerate(MESSAGES + DELETED):
        for endpoint in wanting(event):
            if (name, event, account, number, data) in MESSAGES:
                evidence.ledger_webhooks.append(
                    message(endpoint, name, event, account, number, data))
            evidence.hooked.append(came(endpoint, name, event, data, 10 * place + 5))
    # The third came badly at first, and once more when it was asked for again.
    third = MESSAGES[2]
    evidence.hooked.append(came("ordered", "m3", third[1], third[4], 22, 500))
    evidence.hooked.append(came("ordered", "m3", third[1], third[4], 105))
    return evidence
