# SPDX-License-Identifier: Apache-2.0
"""Rules about sums: what was charged, when, for whom, and what for."""

from .facts import approved, grouped, subject


def sums_are_right(evidence):
    """A sum is price times quantity, in the storefront's currency, everywhere. The price
    of a subscription's period is judged with the period."""
    for row in evidence.transactions:
        if row["product_id"] in evidence.plans:
            continue
        product = evidence.catalogue.get(row["product_id"])
        if product is None:
            yield f"transaction {row['transaction_id']} is of no product: {row['product_id']}"
            continue
        yield from differences(
            f"transaction {row['transaction_id']}",
            total_price=(row["total_price"], product["price"] * row["quantity"]),
            unit_price=(row["unit_price"], product["price"]),
            currency=(row["currency"], product["currency"]),
            storefront=(row["storefront"], product["storefront"]),
        )
    yield from charged_as_recorded(evidence)
    yield from told_as_charged(evidence)


def charged_as_recorded(evidence):
    """The order that the processor got is the purchase's."""
    bought = evidence.bought()
    for (key,), entries in evidence.processor_entries().items():
        row = bought.get(key)
        for entry in approved(entries):
            if row is None:
                continue
            order = entry["order"]
            yield from differences(
                f"the charge {key}",
                total=(order["total"], row["total_price"]),
                currency=(order["currency"], row["currency"]),
                customer=(order["customer"], str(row["customer_id"])),
                bundleId=(order["bundleId"], row["bundle_id"]),
                productId=(order["productId"], row["product_id"]),
            )


def told_as_charged(evidence):
    """What is signed for a device names the sum in the same words."""
    for entry in evidence.sold():
        signed = entry["signed"]
        product = evidence.catalogue.get(signed["productId"])
        if product is None or signed["productId"] in evidence.plans:
            continue
        yield from differences(
            f"purchase {entry['purchase']} as it was answered",
            price=(signed["price"], product["price"] * signed["quantity"]),
            currency=(signed["currency"], product["currency"]),
            storefront=(signed["storefront"], product["storefront"]),
        )


def differences(name, **pairs):
    """A sentence for each pair whose halves differ."""
    for field, (found, wanted) in pairs.items():
        if found != wanted:
            yield f"{name} has the {field} {found!r} instead of {wanted!r}"


def non_consumables_are_paid_once(evidence):
    """What is bought once is charged once until the money went back, and nothing is
    revoked unasked."""
    granted = {row["transaction_id"] for row in evidence.refunds if row["decided_at"] is not None}
    for row in evidence.transactions:
        if row["revoked_at"] is not None and row["transaction_id"] not in granted:
            yield f"transaction {row['transaction_id']} was revoked unasked"
    once = [
        row for row in evidence.transactions
        if row["product_type"] == "non-consumable" and row["transaction_id"] not in granted
    ]
    for (customer, _, product), rows in grouped(
        once, "customer_id", "bundle_id", "product_id"
    ).items():
        if len(rows) > 1:
            yield f"{product} was sold {len(rows)} times to {customer}"
    returned = {row["charge"] for row in evidence.refunds} | {
        key for key, row in evidence.bought().items() if row["transaction_id"] in granted
    }
    paid = [
        {**entry["order"], "key": key}
        for (key,), entries in evidence.processor_entries().items()
        for entry in approved(entries)
        if key not in returned and not any(other["act"] == "void" for other in entries)
    ]
    for (customer, _, product), orders in grouped(
        paid, "customer", "bundleId", "productId"
    ).items():
        if len(orders) > 1 and evidence.catalogue.get(product, {}).get("isOnce"):
            yield f"{product} was charged {len(orders)} times to {customer}"


def unfinished_is_not_sold_again(evidence):
    """What is delivered once is sold again only when it was finished. Dates say which
    came first, unless a clock was stepped. What was given back when the next one was
    sold, and was taken back later, is unfinished beside it. A jump that is stopped sets
    its clock back. In its realm the revisions say which came first."""
    if evidence.seconds_stepped:
        return
    goes_back = any(deed["verb"] == "stop" for deed in evidence.deeds)
    taken_back = {row["transaction_id"] for row in evidence.refunds if row["state"] == "reversed"}
    sold = first_revisions(evidence.purchases, evidence.transactions)
    bought = [row for row in evidence.transactions if row["product_type"] == "consumable"]
    for (customer, _, product), rows in grouped(
        bought, "customer_id", "bundle_id", "product_id"
    ).items():
        is_dated = not (goes_back and all(row.get("realm") in evidence.moving for row in rows))
        rows.sort(key=lambda row: row["purchased_at"] if is_dated else sold[row["transaction_id"]])
        for first, later in zip(rows, rows[1:]):
            finished = first["finished_at"]
            is_open = finished is None or finished > later["purchased_at"]
            is_kept = first["revoked_at"] is None and first["transaction_id"] not in taken_back
            if is_dated:
                # Two servers number their sales from blocks of their own, so that numbers
                # do not say which of one instant came first.
                is_later = first["purchased_at"] < later["purchased_at"]
            else:
                is_later = finished is None or first["revision"] > sold[later["transaction_id"]]
            if is_open and is_kept and is_later:
                yield (
                    f"{product} was sold to {customer} as {later['transaction_id']} while "
                    f"{first['transaction_id']} was unfinished")


def first_revisions(purchases, transactions):
    """The revision in which each transaction was sold. Purchases that joined it came later,
    and so did its own changes."""
    revisions = {}
    for row in purchases + transactions:
        known = revisions.get(row["transaction_id"], row["revision"])
        revisions[row["transaction_id"]] = min(known, row["revision"])
    return revisions


def charges_stand_in_order(evidence):
    """Charged, then captured or voided: never the other way, never both."""
    for (key,), entries in evidence.processor_entries().items():
        is_charged, ended = False, None
        for entry in entries:
            act = entry["act"]
            if act == "charge":
                is_charged = is_charged or entry["state"] == "approved"
            if ended == "void" and act in ("charge", "late charge", "capture"):
                yield f"{key} has a {act} after its void"
            elif ended == "capture" and act == "void":
                yield f"{key} has a void after its capture"
            elif act in ("void", "capture") and not is_charged:
                yield f"{key} has a {act} before its charge"
            if act in ("void", "capture"):
                ended = act


def sales_are_captured(evidence):
    """Every sum of a sale is taken, and the store knows that it was."""
    if evidence.processor is None:
        return
    captured = {entry["key"] for entry in evidence.processor if entry["act"] == "capture"}
    pending = {
        (row["customer_id"], row["subject"])
        for row in evidence.errands if row["kind"] in ("capture", "renewalCapture")
    }
    known = evidence.renewals_by_key()
    names = {key: subject(row) for key, row in known.items()}
    known |= {
        evidence.key(row, row.get("history_revision")): row
        for row in evidence.purchases if row["transaction_id"] is not None
    }
    for key, row in evidence.bought().items():
        name = names.get(key, f"{row['bundle_id']}/{row['purchase_id']}")
        if (row["customer_id"], name) in pending:
            continue
        if key not in captured:
            yield f"transaction {row['transaction_id']} was never captured"
        elif known.get(key, {}).get("captured_at", 0) is None:
            yield f"transaction {row['transaction_id']} was captured, and the store does not know"


RULES = [
    sums_are_right, non_consumables_are_paid_once, unfinished_is_not_sold_again,
    charges_stand_in_order, sales_are_captured,
]
