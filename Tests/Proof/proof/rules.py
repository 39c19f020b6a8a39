# SPDX-License-Identifier: Apache-2.0
"""What must be true of a store whatever happened to it, one function a rule.

Each takes the evidence and yields a sentence for every breach. They look at
clients' histories, the processor's log and the databases' rows as plain
dictionaries; none of the store's code is used.
"""

import json
from collections import Counter, defaultdict

from . import (
    announcements, apps, books, clocks, deliveries, lines, money, moves, refunds, renewals,
    webhooks,
)
from .facts import SALE, SETTLED, Evidence, approved, grouped, repeated

__all__ = ["Evidence", "RULES", "judge"]


def purchases_exist_once(evidence):
    """A purchase id has one row, and a transaction one number and one purchase."""
    for key, rows in repeated(
        evidence.purchases, "customer_id", "bundle_id", "purchase_id"
    ).items():
        yield f"purchase {key} has {len(rows)} rows"
    for key, rows in repeated(evidence.transactions, "transaction_id").items():
        yield f"transaction {key[0]} has {len(rows)} rows"
    bought = [row for row in evidence.transactions if row["purchase_id"] is not None]
    for key, rows in repeated(bought, "customer_id", "bundle_id", "purchase_id").items():
        yield f"purchase {key} has {len(rows)} transactions"
    known = {
        (row["customer_id"], row["purchase_id"], row["transaction_id"])
        for row in evidence.purchases
    }
    for row in bought:
        key = (row["customer_id"], row["purchase_id"], row["transaction_id"])
        if key not in known:
            yield f"transaction {row['transaction_id']} belongs to no purchase"


def acknowledged_purchases_are_there(evidence):
    """What a client received about a purchase is what the database contains: in an
    answer to the purchase, or by reading its transaction."""
    purchases = grouped(evidence.purchases, "customer_id", "purchase_id")
    transactions = grouped(evidence.transactions, "transaction_id")
    for entry in evidence.of("purchase"):
        state = entry["answer"].get("state")
        if entry["status"] != 200 or state not in SETTLED:
            continue
        name = f"purchase {entry['purchase']} of {entry['customer']}"
        rows = purchases.get((entry["customer"], entry["purchase"]), [])
        if not rows:
            yield f"{name} was answered {state} and is lost"
        elif all(row["state"] != state for row in rows):
            yield f"{name} was answered {state} and is {rows[0]['state']}"
        elif state == "sold":
            yield from told_as_recorded(name, entry, rows, transactions)
        elif all(row["refusal"] != entry["answer"]["refusal"]["code"] for row in rows):
            yield f"{name} was refused for another reason than is recorded"
    yield from read_as_recorded(evidence, transactions)


def read_as_recorded(evidence, transactions):
    """A transaction that a device read is there, as it was read."""
    for entry in evidence.of("transactions"):
        for item in entry["items"]:
            signed = item["signed"]
            rows = transactions.get((int(signed["transactionId"]),), [])
            name = f"transaction {signed['transactionId']}"
            if rows:
                yield from told_as_kept(name, entry, signed, rows[0])
            else:
                yield f"{name} was read by {entry['device']} and is lost"


def told_as_recorded(name, entry, rows, transactions):
    """A signed transaction says what its row says."""
    signed = entry["signed"]
    number = int(signed["transactionId"])
    if all(row["transaction_id"] != number for row in rows):
        yield f"{name} was answered {number} and is recorded as {rows[0]['transaction_id']}"
    recorded = transactions.get((number,), [])
    if not recorded:
        yield f"{name} was answered {number}, which is lost"
        return
    yield from told_as_kept(name, entry, signed, recorded[0])


def told_as_kept(name, entry, signed, row):
    """What was signed for a customer is what its row says."""
    pairs = [
        (signed["productId"], row["product_id"]),
        (signed["quantity"], row["quantity"]),
        (signed["purchaseDate"], row["purchased_at"]),
        (entry["customer"], row["customer_id"]),
    ]
    for told, kept in pairs:
        if told != kept:
            yield f"{name} was told {told!r} where {kept!r} is recorded"


def nothing_is_sold_unasked(evidence):
    """A transaction comes from a purchase that a client asked for, as it asked. Renewals
    have rules of their own."""
    asked = defaultdict(list)
    for entry in evidence.asked:
        if entry["verb"] in ("purchase", "order"):
            asked[entry["customer"], entry["purchase"]].append(entry["asked"])
    for row in evidence.transactions:
        if row["reason"] == "renewal":
            continue
        bodies = asked.get((row["customer_id"], row["purchase_id"]), [])
        if not any(
            body["productId"] == row["product_id"] and body["quantity"] == row["quantity"]
            for body in bodies
        ):
            yield f"transaction {row['transaction_id']} was sold and never asked for"


def purchase_ids_are_answered_one_way(evidence):
    """All settled answers to one purchase id agree, and none takes one back."""
    answers = grouped(evidence.of("purchase"), "customer", "purchase")
    for (customer, purchase), entries in answers.items():
        good = [entry for entry in entries if entry["status"] == 200]
        settled = [entry for entry in good if entry["answer"].get("state") in SETTLED]
        ways = {told(entry) for entry in settled}
        if len(ways) > 1:
            yield f"purchase {purchase} of {customer} was answered {sorted(ways)}"
        if not settled:
            continue
        first = min(entry["at"] for entry in settled)
        for entry in good:
            if entry["asked_at"] > first and entry["answer"].get("state") not in SETTLED:
                yield f"purchase {purchase} of {customer} was settled and then was not"


def told(entry):
    answer, signed = entry["answer"], entry["signed"] or {}
    refusal = answer.get("refusal", {}).get("code", "")
    return (
        answer["state"],
        refusal,
        signed.get("transactionId", ""),
        signed.get("purchaseDate", 0),
        signed.get("price", 0),
    )


def charges_and_transactions_pair(evidence):
    """Every charge has one transaction or was given back; every transaction one charge."""
    if evidence.processor is None:
        return
    charges = grouped([e for e in evidence.processor if e["act"] == "charge"], "key")
    voided = {entry["key"] for entry in evidence.processor if entry["act"] == "void"}
    paid = evidence.bought()
    for (charge,), entries in charges.items():
        taken = approved(entries)
        if len(taken) > 1:
            yield f"{charge} was charged {len(taken)} times"
        if not taken:
            continue
        if charge in voided and charge in paid:
            yield f"{charge} was sold and given back"
        elif charge not in voided and charge not in paid:
            yield f"{charge} was charged and bought nothing"
    for charge, row in paid.items():
        taken = approved(charges.get((charge,), []))
        if not taken:
            yield f"transaction {row['transaction_id']} was never paid"
        elif taken[0]["order"]["total"] != row["total_price"]:
            yield f"transaction {row['transaction_id']} was paid with another sum"


def finishes_stay(evidence):
    """What a client received as finished never comes back as unfinished."""
    finished = {}
    for entry in evidence.of("finish"):
        if entry["status"] == 200:
            number = int(entry["transaction"])
            finished[number] = min(finished.get(number, entry["at"]), entry["at"])
    rows = {row["transaction_id"]: row for row in evidence.transactions}
    for number in finished:
        if number not in rows:
            yield f"transaction {number} was finished and is lost"
        elif rows[number]["finished_at"] is None:
            yield f"transaction {number} was finished and is unfinished again"
    for entry in evidence.of("transactions"):
        for item in entry["items"]:
            at = finished.get(int(item["signed"]["transactionId"]))
            if at is not None and entry["asked_at"] > at and not item["isFinished"]:
                yield f"transaction {item['signed']['transactionId']} came back unfinished"


def notifications_are_owed_once(evidence):
    """Each sale owes one notification, and nothing else owes one of its kind. What a
    subscription sells is announced otherwise."""
    owed = [row for row in evidence.outbox if row["notification_type"] == SALE]
    rows = grouped(owed, "transaction_id")
    for row in evidence.transactions:
        count = len(rows.get((row["transaction_id"],), []))
        if count != (row["product_type"] != renewals.SUBSCRIPTION):
            yield f"transaction {row['transaction_id']} owes {count} notifications"
    known = {row["transaction_id"] for row in evidence.transactions}
    for row in owed:
        if row["transaction_id"] not in known:
            yield f"a notification is owed for {row['transaction_id']}, which is not there"
    for name, group in repeated(evidence.outbox, "notification_uuid").items():
        yield f"notification {name[0]} is owed {len(group)} times"


def commits_have_their_own_revision(evidence):
    """A customer's commits stand in one line: no two share a place in it."""
    ends = {row["customer_id"]: row["revision"] for row in evidence.customers}
    expired = {
        (row["customer_id"], row["revision"])
        for row in evidence.subscription_events if "expired" in json.loads(row["body"])["change"]}
    for name, rows in (("purchases", evidence.purchases), ("transactions", evidence.transactions)):
        for (customer, revision), group in repeated(rows, "customer_id", "revision").items():
            # An upgrade sells a period and ends the one before it.
            if len([row for row in group if not row.get("is_upgraded")]) <= 1:
                continue
            # A subscription that is ended early ends its present period and the next, if that
            # was charged ahead.
            if (customer, revision) in expired and len(
                {row.get("original_transaction_id", id(row)) for row in group}) == 1:
                continue
            yield f"{len(group)} {name} of {customer} share revision {revision}"
        for row in rows:
            if row["revision"] > ends.get(row["customer_id"], 0):
                yield f"revision {row['revision']} of {row['customer_id']} is past the line's end"


def followers_miss_nothing(evidence):
    """A device that read on from its last revision has received every transaction,
    as it is now."""
    owned = grouped(evidence.transactions, "customer_id", "bundle_id")
    for (customer, bundle, device), entries in grouped(
        evidence.of("transactions"), "customer", "bundle", "device"
    ).items():
        heard = {}
        for entry in entries:
            for item in entry["items"]:
                number = int(item["signed"]["transactionId"])
                heard[number] = max(heard.get(number, 0), item["revision"])
        for row in owned.get((customer, bundle), []):
            number = row["transaction_id"]
            if heard.get(number, 0) < row["revision"]:
                yield f"device {device} was never told of {number} at {row['revision']}"


def everything_asked_was_answered(evidence):
    """In the calm phase, no request is left without an answer, and nothing half done."""
    answered = {
        (entry["customer"], entry["purchase"])
        for entry in evidence.of("purchase")
        if entry["status"] == 200 and entry["answer"].get("state") in SETTLED
    }
    for entry in evidence.asked:
        if entry["verb"] == "purchase" and (entry["customer"], entry["purchase"]) not in answered:
            yield f"purchase {entry['purchase']} of {entry['customer']} was never settled"
    for row in evidence.purchases:
        if row["state"] not in SETTLED:
            yield f"purchase {row['purchase_id']} is still {row['state']}"
        if row.get("void_owed_at") is not None:
            yield f"purchase {row['purchase_id']} still owes a sum"


def other_contents_are_refused(evidence):
    """A purchase id that comes with other contents is a conflict, always. An
    answer 401, to sign in again, comes before the contents are checked."""
    for entry in evidence.of("other contents"):
        if entry["status"] == 401:
            continue
        if entry["status"] != 409 or entry["answer"].get("code") != "purchaseIdReused":
            yield f"purchase {entry['purchase']} took other contents: {entry['status']}"


def purchases_are_redeemed_once(evidence):
    """Every unit of every acknowledged consumable was spent once, and only once."""
    if evidence.ledger_purchases is None:
        return
    for number, rows in repeated(evidence.ledger_purchases, "transaction_id").items():
        yield f"transaction {number[0]} stands {len(rows)} times in the ledger"
    for (number, unit), rows in repeated(
        evidence.ledger_redemptions, "transaction_id", "unit"
    ).items():
        yield f"unit {unit} of transaction {number} was redeemed {len(rows)} times"
    for name, rows in repeated(evidence.ledger_redemptions, "idempotency_key").items():
        yield f"redemption {name[0]} was done {len(rows)} times"
    spent = Counter(str(row["transaction_id"]) for row in evidence.ledger_redemptions)
    moving = {
        row["customer_id"] for row in evidence.customers if row.get("realm") in evidence.moving
    }
    bought = {
        entry["signed"]["transactionId"]: entry["signed"]
        for entry in evidence.sold() if entry["customer"] not in moving
    }
    for number, signed in bought.items():
        if signed["type"] == "Consumable" and spent[number] != signed["quantity"]:
            yield f"of transaction {number} {spent[number]} of {signed['quantity']} were redeemed"
    yield from redemptions_answered_one_way(evidence)


def redemptions_answered_one_way(evidence):
    """One idempotency key spends one unit, a unit is spent by one key, and what
    was acknowledged is in the book."""
    done = [
        {**entry, "unit": entry["answer"].get("unit")}
        for entry in evidence.of("redeem", "overspend", "confirm")
        if entry["status"] == 200
    ]
    for (name,), entries in grouped(done, "idempotency_key").items():
        units = {(str(entry["transaction"]), entry["unit"]) for entry in entries}
        if len(units) > 1:
            yield f"redemption {name} was answered with {sorted(units)}"
    for (number, unit), entries in grouped(done, "transaction", "unit").items():
        keys = {entry["idempotency_key"] for entry in entries}
        if len(keys) > 1:
            yield f"unit {unit} of transaction {number} was redeemed under {sorted(keys)}"
    booked = {
        (row["idempotency_key"], str(row["transaction_id"]), row["unit"])
        for row in evidence.ledger_redemptions
    }
    for entry in done:
        if (entry["idempotency_key"], str(entry["transaction"]), entry["unit"]) not in booked:
            yield f"redemption {entry['idempotency_key']} was acknowledged and is lost"
        if entry["verb"] == "overspend":
            yield f"transaction {entry['transaction']} was spent beyond its end"


def approvals_are_answered_one_way(evidence):
    """Of the answers to one payment that waits, one counts, and it is kept."""
    told = [entry for entry in evidence.approvals if entry["status"] == 200]
    rows = grouped(evidence.purchases, "customer_id", "purchase_id")
    for (customer, purchase), entries in grouped(told, "customer", "purchase").items():
        words = {entry["word"] for entry in entries}
        if len(words) > 1:
            yield f"purchase {purchase} was approved and declined"
            continue
        found = rows.get((customer, purchase), [])
        is_declined = any(row["refusal"] == "approvalDeclined" for row in found)
        if not found:
            yield f"purchase {purchase} was {entries[0]['word']} and is lost"
        elif is_declined != ("declined" in words):
            yield f"purchase {purchase} was {entries[0]['word']} and is {found[0]['state']}"


RULES = [
    purchases_exist_once,
    acknowledged_purchases_are_there,
    nothing_is_sold_unasked,
    purchase_ids_are_answered_one_way,
    charges_and_transactions_pair,
    finishes_stay,
    notifications_are_owed_once,
    commits_have_their_own_revision,
    followers_miss_nothing,
    everything_asked_was_answered,
    other_contents_are_refused,
    purchases_are_redeemed_once,
    approvals_are_answered_one_way,
    *money.RULES,
    *deliveries.RULES,
    *lines.RULES,
    *apps.RULES,
    *renewals.RULES,
    *refunds.RULES,
    *announcements.RULES,
    *clocks.RULES,
    *books.RULES,
    *moves.RULES,
    *webhooks.RULES,
]


def judge(evidence):
    """Breaches by the name of the rule; empty where all hold."""
    counts = {rule.__name__: list(rule(evidence)) for rule in RULES}
    return {name: breaches for name, breaches in counts.items() if breaches}
