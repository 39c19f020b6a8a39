# SPDX-License-Identifier: Apache-2.0
"""Evidence of a ledger that is sound, for tests to spoil: an account with gems, of which some
were spent and some were taken back, a pass of two purchases, a subscription in its grace, and
coins that were redeemed in two steps."""

from proof.facts import Evidence
from proof.fold import DAY

CUSTOMER, ACCOUNT, REALM, SANDBOX = 7, "7", "r", "Sandbox"
START = 1_800_000_000_000
NOW = START + 10 * DAY
GRACE = START + 12 * DAY
GRANTS = {
    "gems.50": [{"kind": "credits", "name": "gems", "amount": 50, "onReversal": "remove"}],
    "gems.80": [{"kind": "credits", "name": "gems", "amount": 80, "onReversal": "debt"}],
    "gems.10": [{"kind": "credits", "name": "gems", "amount": 10, "onReversal": "keep"}],
    "pass.30": [{"kind": "entitlement", "name": "pass", "lasting": "period", "days": 30}],
    "gold": [{"kind": "entitlement", "name": "gold", "lasting": "grace"}],
}


def signed(number, product, **other):
    return {
        "transactionId": number, "originalTransactionId": number, "productId": product,
        "quantity": 1, "signedDate": NOW, "environment": SANDBOX,
    } | other


def proof(facts, at=10, **other):
    return {
        "signed": facts, "account": ACCOUNT, "road": "device", "asked_at": at - 1, "at": at,
        "status": 200, "answer": {},
    } | other


def purchase(number, product, **other):
    return {
        "transaction_id": number, "original_transaction_id": number, "product_id": product,
        "quantity": 1, "purchased_at": START, "signed_at": NOW, "revoked_at": None,
        "revocation_reason": None, "account": ACCOUNT, "environment": SANDBOX, "spent": 0,
        "price": 1, "currency": "USD", "bundle_id": "b",
    } | other


def grant(number, kind, name, amount=0, **other):
    return {
        "transaction_id": number, "kind": kind, "name": name, "account": ACCOUNT,
        "environment": SANDBOX, "amount": amount, "consumed": 0, "on_reversal": "remove",
        "is_reversed": False, "purchased_at": START,
    } | other


def entry(number, kind, balance, wallet, issued, spent=0, **other):
    return {
        "account": ACCOUNT, "environment": SANDBOX, "currency": "gems", "number": number,
        "kind": kind, "balance": balance, "wallet": wallet, "issued": issued, "spent": spent,
        "written_off": -(wallet + issued + spent), "recorded_at": NOW, "idempotency_key": None,
    } | other


def book(wallet, issued, spent, entries, **other):
    return {
        "account": ACCOUNT, "environment": SANDBOX, "currency": "gems", "wallet": wallet,
        "issued": issued, "spent": spent, "written_off": -(wallet + issued + spent),
        "entries": entries,
    } | other


def unit(key, number="c1", unit=None, **other):
    return {
        "account": ACCOUNT, "transaction_id": number, "idempotency_key": key, "unit": unit,
        "redeemed_at": None, "reserved_at": START, "expires_at": START + 900_000,
        "released_at": None,
    } | other


def heard(verb, at, key=None, status=200, **other):
    return {
        "verb": verb, "customer": CUSTOMER, "device": "d1", "asked_at": at - 1, "at": at,
        "status": status, "answer": {}, "signed": None, "items": [], "idempotency_key": key,
        "transaction": "c1",
    } | other


def spending(at, amount=30, balance=20, **other):
    answer = {"amount": amount, "balance": balance, "entry": 2, "spentDate": NOW}
    return heard("spend", at, "s1", answer=answer, asked={"amount": amount}) | other


def entitlement(name, until, is_active=True):
    return {"name": name, "isActive": is_active, "endDate": until}


def answered(verb="entitlements", *found, **other):
    body = {"entitlements": list(found)} if verb == "entitlements" else {"balances": list(found)}
    return {
        "verb": verb, "account": ACCOUNT, "environment": SANDBOX, "status": 200, "answer": body,
        "between": [NOW, NOW + 5],
    } | other


def sale(number, **other):
    return {
        "transaction_id": number, "realm": REALM, "revoked_at": None, "expires_at": None,
        "is_upgraded": False,
    } | other


PASSES = START + 60 * DAY
REVOKED = {"revocationDate": START + DAY, "revocationReason": 1}


def sound():
    return Evidence(
        moving={REALM}, realm_names={REALM: "billed"}, grants=GRANTS,
        proofs=[
            proof(signed("g1", "gems.50")), proof(signed("g2", "gems.80"), 11),
            # It was handed in before it was revoked too, and later once more.
            proof(signed("g2", "gems.80", signedDate=NOW + 1, **REVOKED), 12),
            proof(signed("g2", "gems.80"), 13),
            proof(signed("p1", "pass.30")), proof(signed("p2", "pass.30"), account=None),
            proof(signed("p2", "pass.30"), 14),
            proof(signed("s1", "gold", expiresDate=START + 7 * DAY)),
            proof(signed("c1", "coins", quantity=2)),
        ],
        renewal_proofs=[proof({
            "originalTransactionId": "s1", "signedDate": NOW, "gracePeriodExpiresDate": GRACE})],
        ledger_purchases=[
            purchase("g1", "gems.50"),
            purchase("g2", "gems.80", signed_at=NOW + 1, revoked_at=START + DAY,
                     revocation_reason=1),
            purchase("p1", "pass.30"), purchase("p2", "pass.30"), purchase("s1", "gold"),
            purchase("c1", "coins", quantity=2, spent=1),
        ],
        ledger_terms=[
            {"transaction_id": "s1", "expires_at": START + 7 * DAY, "is_upgraded": False}],
        ledger_renewals=[
            {"original_transaction_id": "s1", "signed_at": NOW, "grace_until": GRACE}],
        ledger_grants=[
            grant("g1", "credits", "gems", 50, consumed=30),
            grant("g2", "credits", "gems", 80, on_reversal="debt", is_reversed=True),
            grant("p1", "entitlement", "pass"), grant("p2", "entitlement", "pass"),
            grant("s1", "entitlement", "gold"),
        ],
        ledger_credit_books=[book(20, -50, 30, 4)],
        ledger_credit_entries=[
            entry(1, "grant", 50, 50, -50),
            entry(2, "spending", 20, -30, 0, 30, idempotency_key="s1"),
            entry(3, "grant", 100, 80, -80), entry(4, "reversal", 20, -80, 80),
        ],
        ledger_redemptions=[unit("r1", unit=1, redeemed_at=START + 5)],
        ledger_reservations=[
            unit("r1", unit=1, redeemed_at=START + 5), unit("r2", released_at=START + 9)],
        asked=[
            {"verb": "spend", "customer": CUSTOMER, "idempotency_key": "s1",
             "asked": {"amount": 30}},
            *({"verb": "reserve", "customer": CUSTOMER, "idempotency_key": key,
               "asked": {"seconds": 900}} for key in ("r1", "r2")),
        ],
        heard=[
            heard("reserve", 20, "r1"), heard("confirm", 25, "r1", answer={"unit": 1}),
            heard("reserve", 26, "r2"), heard("release", 27, "r2"),
            spending(30), spending(31),
            heard("spend", 32, "s2", 409, answer={"code": "creditsMissing"}, asked={"amount": 99}),
            heard("entitlements", 40, answer={"entitlements": [
                entitlement("pass", PASSES), entitlement("gold", GRACE)]}),
        ],
        audited=[
            answered("entitlements", entitlement("pass", PASSES), entitlement("gold", GRACE)),
            answered("balances", {"currency": "gems", "balance": 20}),
        ],
        transactions=[
            sale("g1"), sale("g2", revoked_at=START + DAY), sale("p1"), sale("p2"),
            sale("s1", expires_at=START + 7 * DAY), sale("c1"),
        ],
    )
