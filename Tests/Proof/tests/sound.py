# SPDX-License-Identifier: Apache-2.0
"""Evidence of a store that is sound, for tests to spoil."""

from proof.facts import Evidence

CUSTOMER, BUNDLE = 7, "com.example.proof"


def purchase_row(purchase="p1", transaction=100, revision=3, **other):
    return {
        "customer_id": CUSTOMER, "bundle_id": BUNDLE, "purchase_id": purchase, "state": "sold",
        "refusal": None, "transaction_id": transaction, "revision": revision,
        "void_owed_at": None, "waiting_for": "approval", "approval": "approved",
        "processor_reference": "c1", "captured_at": 55, "voided_at": None,
        "application_username": None,
    } | other


def transaction_row(transaction=100, purchase="p1", revision=3, **other):
    return {
        "customer_id": CUSTOMER, "bundle_id": BUNDLE, "transaction_id": transaction,
        "purchase_id": purchase, "product_id": "coins", "quantity": 2, "purchased_at": 50,
        "unit_price": 990, "total_price": 1980, "currency": "USD", "storefront": "USA",
        "product_type": "consumable", "revoked_at": None, "finished_at": None,
        "revision": revision, "reason": "purchase", "is_upgraded": False,
    } | other


def signed(transaction=100, **other):
    return {
        "transactionId": str(transaction), "productId": "coins", "quantity": 2,
        "purchaseDate": 50, "price": 1980, "type": "Consumable", "currency": "USD",
        "storefront": "USA", "bundleId": BUNDLE,
    } | other


def bought(at, purchase="p1", facts=None, state="sold", **other):
    answer = {"state": state}
    if state == "refused":
        answer["refusal"] = {"code": "declined"}
    return {
        "verb": "purchase", "customer": CUSTOMER, "bundle": BUNDLE, "device": "d1",
        "purchase": purchase, "asked": {"productId": "coins", "quantity": 2}, "asked_at": at - 1, "at": at,
        "status": 200, "answer": answer, "signed": facts if state != "sold" else facts or signed(),
        "items": [],
    } | other


def heard(verb, at, **other):
    return {
        "verb": verb, "customer": CUSTOMER, "bundle": BUNDLE, "device": "d1", "asked_at": at - 1, "at": at,
        "status": 200, "answer": {}, "signed": None, "items": [],
    } | other


def owed(transaction=100, uuid="n1", **other):
    return {
        "notification_type": "ONE_TIME_CHARGE", "transaction_id": transaction,
        "notification_uuid": uuid, "customer_id": CUSTOMER, "bundle_id": BUNDLE,
        "cause": f"ONE_TIME_CHARGE/{transaction}", "subtype": None, "created_at": 50,
    } | other


def charged(purchase="p1", act="charge", **other):
    return {
        "act": act, "key": f"realm/{CUSTOMER}/{BUNDLE}/{purchase}", "state": "approved",
        "order": {
            "total": 1980, "currency": "USD", "customer": str(CUSTOMER), "bundleId": BUNDLE,
            "productId": "coins",
        },
    } | other


def ledger_row(**other):
    return {
        "transaction_id": "100", "account": str(CUSTOMER), "spent": 2, "price": 1980,
        "quantity": 2, "currency": "USD", "bundle_id": BUNDLE, "product_id": "coins",
    } | other


def redemption(key, unit, **other):
    return {
        "transaction_id": "100", "idempotency_key": key, "unit": unit, "account": str(CUSTOMER),
    } | other


def received(uuid="n1", **other):
    return {
        "uuid": uuid, "status": 200, "at": 65, "digest": "d", "problem": None, "signed": signed(),
        "payload": {"notificationType": "ONE_TIME_CHARGE", "data": {"bundleId": BUNDLE}},
    } | other


def kit(word, **other):
    return {
        "word": word, "tag": "t1", "transaction": "100", "product": "coins", "quantity": 2,
    } | other


def fork(*sales, **other):
    return {
        "name": "fork", "begun_at": 1000, "transactions": [100], "sales": list(sales),
        "customers": [], "complaints": [],
    } | other


def sound():
    """One purchase, finished, followed and redeemed."""
    return Evidence(
        realm="realm",
        asked=[{"verb": "purchase", "customer": CUSTOMER, "purchase": "p1",
                "asked": {"productId": "coins", "quantity": 2}}],
        heard=[
            bought(10),
            heard("finish", 20, transaction="100"),
            heard("transactions", 30, items=[
                {"isFinished": True, "revision": 4, "signed": signed()}]),
            heard("redeem", 40, transaction="100", idempotency_key="k1", answer={"unit": 1}),
            heard("redeem", 45, transaction="100", idempotency_key="k2", answer={"unit": 2}),
        ],
        # Made, signed in, asked, approved, settled, captured, finished.
        customers=[{"customer_id": CUSTOMER, "revision": 7}],
        sessions=[{"customer_id": CUSTOMER}],
        purchases=[purchase_row()],
        transactions=[transaction_row(finished_at=60, revision=4)],
        outbox=[owed()],
        notifications=[{"notification_uuid": "n1", "delivered_at": 70}],
        received=[received()],
        receipts=[{
            "customer": CUSTOMER, "bundle": BUNDLE, "device": "d1", "problem": None,
            "purchases": [],
        }],
        catalogue={
            "coins": {"price": 990, "isOnce": False, "currency": "USD", "storefront": "USA"},
        },
        processor=[charged(), charged(act="capture")],
        ledger_purchases=[ledger_row()],
        ledger_redemptions=[redemption("k1", 1), redemption("k2", 2)],
        approvals=[{"customer": CUSTOMER, "purchase": "p1", "word": "approved", "status": 200}],
    )
