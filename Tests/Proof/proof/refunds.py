# SPDX-License-Identifier: Apache-2.0
"""Rules about money that goes back, and about deeds that were acknowledged."""

from collections import Counter

from .facts import approved, grouped, refunded
from .fold import read, steps

#: Kinds of events as answers name them.
NAMES = {
    "resubscribed": "subscribed", "choseProduct": "choseNext", "keptProduct": "choseNext",
    "chargeDeclined": "failedAhead", "refundRequested": "requested", "refundDeclined": "declined",
    "refundGranted": "granted", "upgradeRefunded": "granted", "transactionRevoked": "granted",
    "refundTakenBack": "reversed", "refundReported": "informed",
}
#: What may come before an event of a refund: none, or the state that it finds.
BEFORE = {
    "requested": {None}, "declined": {"requested"}, "granted": {None, "requested"},
    "reversed": {"granted"}, "informed": {"requested"},
}


def events_of_refunds(evidence):
    """The events of each refund in order, by transaction and number."""
    groups = grouped(evidence.refund_events, "transaction_id", "refund")
    return {key: sorted(rows, key=lambda row: row["event"]) for key, rows in groups.items()}


def refunds_are_given_once(evidence):
    """A refund is what its events make of it, in an order that can be. A transaction is
    revoked as long as one refund says so, and by one at a time."""
    events = events_of_refunds(evidence)
    revoking = Counter()
    for row in evidence.refunds:
        key = (row["transaction_id"], row["refund"])
        name = f"refund {key[0]}.{key[1]}"
        own = events.pop(key, [])
        if [each["event"] for each in own] != list(range(1, row["events"] + 1)):
            yield f"{name} of {row['events']} events has {len(own)}"
            continue
        state, grant = None, {}
        for each in own:
            kind, facts, *_ = read(each)
            if state not in BEFORE[kind]:
                yield f"{name} was {kind} after it was {state}"
            # What the merchant reports leaves the request as it is.
            state, grant = state if kind == "informed" else kind, facts.get("grant", grant)
        kept = (row["state"], row["kind"], row["sum"])
        wanted = (state, grant.get("kind"), grant.get("sum", {}).get("amount"))
        if kept != wanted:
            yield f"{name} is {kept}, and its events make it {wanted}"
        revoking[key[0]] += state == "granted" and grant["kind"] != "upgrade"
    for key in events:
        yield f"refund {key[0]}.{key[1]} has events and no row"
    for row in evidence.transactions:
        count = revoking[row["transaction_id"]]
        if count > 1 or (row["revoked_at"] is not None) != bool(count):
            yield (
                f"transaction {row['transaction_id']} is revoked at {row['revoked_at']} by "
                f"{count} refunds"
            )


def upgrades_refund_once(evidence):
    """An upgrade gives back a part of the period that it replaces: once, at most what was
    paid; and nothing else gives back as an upgrade does."""
    given = grouped(
        [row for row in evidence.refunds if row["kind"] == "upgrade"], "transaction_id")
    replaced = {
        row["transaction_id"]: row["is_upgraded"] for row in evidence.transactions
    }
    for number, events in evidence.events_of().items():
        for kind, facts, at, _, before in steps(events):
            if kind != "upgraded":
                continue
            replacing = [(before.current, facts["refund"])]
            if before.runs(at):
                # The current one was charged ahead, and both are given back.
                replacing.append((before.running["period"], facts.get("runningRefund")))
            for old, back in replacing:
                sum_ = back["amount"] if back else 0
                rows = given.pop((old["transaction"],), [])
                if len(rows) != (sum_ > 0) or any(row["sum"] != sum_ for row in rows):
                    yield (
                        f"the upgrade of {old['transaction']} of {number} gave {sum_} back, and "
                        f"has {[row['sum'] for row in rows]}"
                    )
                if sum_ > old["price"]["amount"]:
                    yield f"the upgrade of {old['transaction']} gave more back than was paid"
                if sum_ != unused(old, at):
                    yield (
                        f"the upgrade of {old['transaction']} gave {sum_} back, not "
                        f"{unused(old, at)}"
                    )
                if not replaced.pop(old["transaction"], True):
                    yield f"transaction {old['transaction']} was upgraded and does not say so"
    for (transaction,), rows in given.items():
        yield f"transaction {transaction} has {len(rows)} refunds of upgrades that never were"


def unused(period, at):
    """The price of what is left of a period, in the currency's smallest unit."""
    whole = max(period["end"] - period["start"], 1)
    share = period["price"]["amount"] * min(max(period["end"] - at, 0), whole) // whole
    return share - share % 10


def money_adds_up(evidence):
    """What was charged and not given back is what the transactions say; and what was given
    back for one of them is at most its price."""
    given = Counter()
    for row in evidence.refunds:
        if row["state"] == "granted":
            given[row["transaction_id"]] += row["sum"]
    for row in evidence.transactions:
        if given[row["transaction_id"]] > row["total_price"]:
            yield (
                f"transaction {row['transaction_id']} of {row['total_price']} gave back "
                f"{given[row['transaction_id']]}"
            )
    if evidence.processor is None:
        return
    owed = {
        (row["customer_id"], row["subject"].split(".")[0])
        for row in evidence.errands if row["kind"] in ("refund", "takeBack")
    }
    log = evidence.processor_entries()
    for key, row in evidence.bought().items():
        if (row["customer_id"], str(row["transaction_id"])) in owed:
            continue
        kept = sum(entry["order"]["total"] for entry in approved(log.get((key,), [])))
        back = sum(entry["order"]["total"] for entry in refunded(log.get((key,), [])).values())
        wanted = row["total_price"] - given[row["transaction_id"]]
        if kept - back != wanted:
            yield (
                f"{key} was charged {kept} and given back {back}, and transaction "
                f"{row['transaction_id']} says {wanted}"
            )
    yield from refunded_as_asked(evidence, log)


def refunded_as_asked(evidence, log):
    """The processor was asked for what the store granted, after it had taken the money."""
    rows = {f"{row['transaction_id']}.{row['refund']}": row for row in evidence.refunds}
    for (key,), entries in log.items():
        is_captured = False
        for entry in entries:
            is_captured = is_captured or entry["act"] == "capture"
            if entry["act"] == "other refund":
                yield f"{key} was asked for another sum under the refund {entry['refund']}"
            if entry["act"] != "refund":
                continue
            row = rows.get(entry["refund"])
            if not is_captured:
                yield f"{key} gave back before it was captured"
            if row is None or row["charge"] != key or row["sum"] != entry["order"]["total"]:
                yield f"{key} gave back {entry['order']['total']} for {entry['refund']} unasked"
    taken_back = {
        (entry["key"], entry["refund"]) for entries in log.values() for entry in entries
        if entry["act"] == "take back"
    }
    for key, name in taken_back:
        if rows.get(name, {}).get("state") != "reversed":
            yield f"{key} took the refund {name} back unasked"


def acknowledged_deeds_are_there(evidence):
    """Each event that was acknowledged at a door is there, as it was told."""
    known = {}
    for row in evidence.subscription_events:
        kind, _, at, cause = read(row)
        known[f"{row['subscription_id']}", None, row["event"]] = (kind, at, cause)
    for row in evidence.refund_events:
        kind, _, at, cause = read(row)
        known[f"{row['transaction_id']}", row["refund"], row["event"]] = (kind, at, cause)
    for deed in evidence.deeds:
        if deed.get("status") != 200:
            continue
        for told in deed["answer"].get("events", []):
            key = (
                told.get("subscriptionId") or told.get("transactionId"), told.get("refund"),
                told["event"],
            )
            wanted = (NAMES.get(told["kind"], told["kind"]), told["date"], told["cause"])
            if known.get(key) != wanted:
                yield f"event {key} was acknowledged as {wanted} and is {known.get(key)}"


RULES = [
    refunds_are_given_once, upgrades_refund_once, money_adds_up, acknowledged_deeds_are_there,
]
