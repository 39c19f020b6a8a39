# SPDX-License-Identifier: Apache-2.0
"""Rules about what the store hands out: notifications, receipts, signatures."""

from .facts import grouped

#: What an answer of a merchant's server means "delivered".
DELIVERED = range(200, 207)
#: After so long, in commercial time, the store deletes what it has signed.
KEPT_MILLISECONDS = 190 * 86_400_000


def notifications_are_received(evidence):
    """A notification that the store recorded as delivered was received, contains
    its own sale, and has the same bytes each time."""
    if evidence.received is None:
        return
    came = grouped(evidence.received, "uuid")
    owed = {row["notification_uuid"]: row for row in evidence.outbox}
    for (name,), entries in came.items():
        if len({entry["digest"] for entry in entries}) > 1:
            yield f"notification {name} came with other bytes"
        if name not in owed:
            yield f"notification {name} came and is not owed"
        else:
            yield from tells_of_its_sale(evidence, owed[name], entries[0])
    for row in evidence.notifications:
        if row["delivered_at"] is None:
            continue
        entries = came.get((row["notification_uuid"],), [])
        if not any(entry["status"] in DELIVERED for entry in entries):
            yield f"notification {row['notification_uuid']} is called delivered and never came"


def tells_of_its_sale(evidence, owed, entry):
    """A notification has its outbox row's app, type and transaction."""
    payload, signed = entry["payload"], entry["signed"] or {}
    pairs = {
        "type": (payload.get("notificationType"), owed["notification_type"]),
        "app": (payload.get("data", {}).get("bundleId"), owed["bundle_id"]),
        "transaction": (signed.get("transactionId"), str(owed["transaction_id"])),
        "transaction's app": (signed.get("bundleId"), owed["bundle_id"]),
    }
    for name, (told, wanted) in pairs.items():
        if told != wanted:
            yield f"notification {entry['uuid']} has the {name} {told!r} instead of {wanted!r}"


def notifications_are_attempted(evidence):
    """Each one that is owed was sent at least once, or is still to be sent; and
    it is owed to the app that sold. Of old ones the store forgets that after half a year."""
    sales = {row["transaction_id"]: row for row in evidence.transactions}
    for row in evidence.outbox:
        sale = sales.get(row["transaction_id"])
        if sale is not None and sale["bundle_id"] != row["bundle_id"]:
            yield (
                f"notification {row['notification_uuid']} is owed to {row['bundle_id']} for "
                f"a sale in {sale['bundle_id']}"
            )
    if evidence.received is None:
        return
    signed = {row["notification_uuid"] for row in evidence.notifications}
    waiting = {
        (row["customer_id"], row["subject"])
        for row in evidence.errands if row["kind"] == "notification"
    }
    for row in evidence.outbox:
        is_waiting = (row["customer_id"], row["cause"]) in waiting
        is_kept = row["created_at"] > evidence.now(row) - KEPT_MILLISECONDS
        is_due = row["notification_type"] != "TEST" and is_kept and not is_waiting
        if is_due and row.get("realm") not in evidence.unannounced:
            if row["notification_uuid"] not in signed:
                yield f"notification {row['notification_uuid']} was never sent"


def signatures_verify(evidence):
    """Whatever a client was given verifies against the store's root."""
    for entry in evidence.forgeries:
        yield f"{entry['where']}: {entry['problem']}"


def receipts_hold_what_is_owned(evidence):
    """The receipt of the end holds every non-consumable and every unfinished
    consumable of its customer in its app, and nothing else."""
    if evidence.receipts is None:
        return
    owned = grouped(evidence.transactions, "customer_id", "bundle_id")
    for receipt in evidence.receipts:
        name = f"the receipt of {receipt['device']}"
        if receipt["problem"]:
            yield f"{name} does not verify: {receipt['problem']}"
            continue
        told = {
            (entry["transaction"], entry["product"], entry["quantity"])
            for entry in receipt["purchases"]
        }
        wanted = {
            (str(row["transaction_id"]), row["product_id"], row["quantity"])
            for row in owned.get((receipt["customer"], receipt["bundle"]), [])
            if row["finished_at"] is None or row["product_type"] != "consumable"
        }
        if len(receipt["purchases"]) != len(told):
            yield f"{name} names a purchase twice"
        for missing in sorted(wanted - told):
            yield f"{name} lacks {missing}"
        for other in sorted(told - wanted):
            yield f"{name} holds {other}, which it should not"


RULES = [
    notifications_are_received, notifications_are_attempted, signatures_verify,
    receipts_hold_what_is_owned,
]
