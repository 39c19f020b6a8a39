# SPDX-License-Identifier: Apache-2.0
"""Rules about apps built on PurchaseKit: what their observers received."""

from .facts import grouped


def apps_get_what_they_paid(evidence):
    """A payment that an app added ends sold and delivered, or failed and never
    sold; it is sold once, and delivered as it was bought. One that was answered with
    an earlier payment's transaction ends with that one."""
    rows = grouped(
        [row for row in evidence.purchases if row.get("application_username")],
        "application_username",
    )
    transactions = {row["transaction_id"]: row for row in evidence.transactions}
    for (tag,), entries in grouped(
        # What was delivered once more for a later payment has no tag of its own.
        [entry for entry in evidence.kits if entry["word"] != "complaint" and "tag" in entry],
        "tag",
    ).items():
        words = {entry["word"] for entry in entries}
        sold = [row for row in rows.get((tag,), []) if row["state"] == "sold"]
        if any(is_repeat(row, transactions) for row in sold):
            continue
        if len(sold) > 1:
            yield f"payment {tag} was sold {len(sold)} times"
        if "failed" in words and sold:
            yield f"payment {tag} was told to have failed and is sold"
        if sold and "purchased" not in words:
            yield f"payment {tag} was sold and never delivered"
        if "purchasing" in words and not words & {"purchased", "failed"}:
            yield f"payment {tag} was added and never ended"
        yield from delivered_as_bought(tag, entries, sold, transactions)


def is_repeat(row, transactions):
    """Whether a payment was answered with the transaction of an earlier one."""
    sale = transactions.get(row["transaction_id"])
    return sale is not None and sale["purchase_id"] != row["purchase_id"]


def delivered_as_bought(tag, entries, sold, transactions):
    """Every delivery is the one transaction that the store recorded."""
    delivered = [entry for entry in entries if entry["word"] == "purchased"]
    if len({entry["transaction"] for entry in delivered}) > 1:
        yield f"payment {tag} was delivered under several numbers"
    for entry in delivered:
        row = transactions.get(int(entry["transaction"]))
        if row is None or not sold:
            yield f"payment {tag} was delivered as {entry['transaction']}, which is lost"
        elif (row["product_id"], row["quantity"]) != (entry["product"], entry["quantity"]):
            yield f"payment {tag} was delivered as something else"
        elif row["finished_at"] is None and entry.get("is_finished"):
            yield f"payment {tag} was finished and is unfinished in the store"


def apps_came_to_rest(evidence):
    """In the calm an app on PurchaseKit has nothing open."""
    for entry in evidence.kits:
        if entry["word"] == "complaint":
            yield entry["text"]


RULES = [apps_get_what_they_paid, apps_came_to_rest]
