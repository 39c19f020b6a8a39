# SPDX-License-Identifier: Apache-2.0
"""Rules about what the ledger reports to the merchant's server (`hooks.py`)."""

from collections import Counter, defaultdict

from .facts import ERASED, grouped
from .hooks import ENDPOINTS
from .moves import deeds, touched

ACCEPTED = range(200, 300)
#: A server that wants no messages any more; the message is parked.
GONE = 410
#: By how much the dates of a message and its arrival may differ, as the specification says.
TOLERANCE_SECONDS = 300
#: By event: the name of what it is about, which is reported once.
ABOUT = {
    "purchase.booked": "transactionId", "unit.redeemed": "idempotencyKey",
    "credits.spent": "idempotencyKey", "account.merged": "account",
}


def arrivals(evidence):
    """What came, by address and id, in the order in which it came."""
    groups = grouped(evidence.hooked or [], "endpoint", "id")
    return {key: sorted(rows, key=lambda row: row["at"]) for key, rows in groups.items()}


def webhooks_are_signed(evidence):
    """Each message has a signature that the specification's own library accepts, and the
    date of its sending."""
    for entry in evidence.hooked or []:
        name = f"webhook {entry['id']} at {entry['endpoint']}"
        if entry["problem"]:
            yield f"{name}: {entry['problem']}"
        elif not evidence.seconds_stepped:
            late = entry["wall"] / 1000 - entry["timestamp"]
            if abs(late) > TOLERANCE_SECONDS:
                yield f"{name} came {late:.0f} s after its date"


def webhooks_tell_what_was_written(evidence):
    """A message is the same each time, and the one that the ledger wrote down for that
    address. Those of an account that was erased are deleted."""
    if evidence.hooked is None:
        return
    kept = {(row["endpoint"], row["message_id"]): row for row in evidence.ledger_webhooks}
    gone = untold(evidence)
    for (endpoint, name), entries in arrivals(evidence).items():
        row, bodies = kept.get((endpoint, name)), {entry["body"] for entry in entries}
        if len(bodies) > 1:
            yield f"webhook {name} came with other contents"
        told = entries[0]["told"]
        if row is None:
            if not gone(told):
                yield f"webhook {name} came and is not in the ledger: {told}"
        elif row["body"] not in bodies or row["event"] != told["type"]:
            yield f"webhook {name} came with other contents than the ledger has"
    for (name,), rows in grouped(evidence.ledger_webhooks, "message_id").items():
        wanted = {
            endpoint for endpoint, (_, events) in ENDPOINTS.items() if rows[0]["event"] in events}
        found = {row["endpoint"] for row in rows}
        if found != wanted:
            yield f"webhook {name} is owed to {sorted(found)}, not to {sorted(wanted)}"


def untold(evidence):
    """Says whether a message may be deleted, because an account was erased."""
    gone = touched(evidence)
    numbers = {
        str(entry["transaction"]) for verb in ("claim", "restore")
        for entry in deeds(evidence, verb) if entry["account"] in gone}

    def is_gone(told):
        data = told["data"]
        account = data.get("account") or ""
        return (
            bool({account, data.get("into")} & gone) or account.startswith(ERASED)
            or data.get("transactionId") in numbers)

    return is_gone


def webhooks_arrive(evidence):
    """Every message was delivered at last, and what the ledger calls delivered was accepted."""
    if evidence.hooked is None:
        return
    came = arrivals(evidence)
    for row in evidence.ledger_webhooks:
        name = f"webhook {row['message_id']} to {row['endpoint']}"
        entries = came.get((row["endpoint"], row["message_id"]), [])
        if row["sent_at"] is None:
            yield f"{name} was never delivered: {row['trouble']}"
        elif not any(entry["status"] in ACCEPTED for entry in entries):
            yield f"{name} is called delivered and was not accepted"


def webhooks_keep_their_order(evidence):
    """Where the order was asked for, a message comes only after every earlier one of its
    account was accepted, or was parked: the server wanted none any more, or a wrong clock made
    it older than three days."""
    came = arrivals(evidence)
    for (endpoint, account), rows in grouped(
        evidence.ledger_webhooks, "endpoint", "account"
    ).items():
        if account == "" or not ENDPOINTS[endpoint][0]:
            continue
        rows.sort(key=lambda row: row["number"])
        for first, later in zip(rows, rows[1:]):
            name = f"webhook {first['number']} of {account}"
            if first["number"] == later["number"]:
                yield f"{name} stands there twice"
            entries = came.get((endpoint, first["message_id"]), [])
            arrived = came.get((endpoint, later["message_id"]))
            if not arrived:
                continue
            before = [entry for entry in entries if entry["at"] < arrived[0]["at"]]
            if not any(is_over(entry, evidence, arrived[0]["at"]) for entry in before):
                yield f"{name} was not accepted when {later['number']} came"


def is_over(entry, evidence, at):
    """Whether the answer to a message, given before an instant, lets the next one go."""
    if entry["answered_at"] is None or entry["answered_at"] > at:
        return False
    is_done = entry["status"] in ACCEPTED or entry["status"] == GONE
    return is_done or bool(evidence.seconds_stepped)


def events_are_reported_once(evidence):
    """Each purchase, redemption, spending, merge, move and share has its message, once, and
    there is none about anything else. The last that the store has signed was told."""
    if evidence.hooked is None:
        return
    messages, once = defaultdict(list), {}
    for row in evidence.ledger_webhooks:
        once[row["message_id"]] = row
    for row in once.values():
        messages[row["event"]].append(row["told"]["data"])
    gone = untold(evidence)
    happened = {
        "purchase.booked": [
            {"transactionId": str(row["transaction_id"]), "account": row["account"]}
            for row in evidence.ledger_purchases],
        "unit.redeemed": [named(row, "unit") for row in evidence.ledger_redemptions],
        "credits.spent": [
            named(row, "number") for row in evidence.ledger_credit_entries
            if row["kind"] == "spending"],
        "account.merged": [
            {"account": row["account"], "into": row["into_account"]}
            for row in evidence.ledger_merges],
    }
    for event, facts in happened.items():
        about = ABOUT[event]
        told = Counter(data[about] for data in messages[event])
        for fact in facts:
            if told[fact[about]] == 0 and not gone({"data": fact}):
                yield f"{event} of {fact[about]} was not reported"
        known = {fact[about] for fact in facts}
        for data in messages[event]:
            if data[about] not in known and not gone({"data": data}):
                yield f"{event} of {data[about]} was reported and never happened"
        for name, count in told.items():
            if count > 1:
                yield f"{event} of {name} was reported {count} times"
    yield from moves_reported(evidence, messages["purchase.restored"], gone)
    yield from fates_reported(
        evidence, messages["purchase.booked"] + messages["purchase.updated"], gone)


def named(row, place):
    """What a message about a redemption or a spending is known by."""
    return {
        "idempotencyKey": row["idempotency_key"], "account": row["account"],
        "place": row[place], "transactionId": str(row.get("transaction_id")),
    }


def moves_reported(evidence, messages, gone):
    told = {(data["transactionId"], data["account"], data["outcome"]) for data in messages}
    for entry in evidence.of("restore"):
        outcome = entry["answer"].get("outcome")
        if entry["status"] != 200 or outcome not in ("transferred", "shared"):
            continue
        fact = {"transactionId": str(entry["transaction"]), "account": entry["account"]}
        if (*fact.values(), outcome) not in told and not gone({"data": fact}):
            yield f"the restore of {fact} was not reported as {outcome}"


def fates_reported(evidence, messages, gone):
    told = {(data["transactionId"], data.get("revocationDate")) for data in messages}
    for row in evidence.ledger_purchases:
        fact = {"transactionId": str(row["transaction_id"]), "account": row["account"]}
        if (fact["transactionId"], row["revoked_at"]) not in told and not gone({"data": fact}):
            yield f"the state of {fact['transactionId']} was not reported: {row['revoked_at']}"


def replays_arrive(evidence):
    """A message that was asked for again, as the ledger acknowledged, comes again."""
    if evidence.hooked is None:
        return
    came = arrivals(evidence)
    kept = {(row["endpoint"], row["message_id"]) for row in evidence.ledger_webhooks}
    for entry in evidence.replays:
        if entry["changed"] is None or entry["changed"] < len(entry["ids"]):
            continue
        for name in entry["ids"]:
            key = (entry["endpoint"], name)
            if key in kept and not any(
                arrival["answered_at"] is not None and arrival["status"] in ACCEPTED
                and arrival["answered_at"] > entry["asked_at"] for arrival in came.get(key, [])
            ):
                yield f"webhook {name} was to come again, and did not"


RULES = [
    webhooks_are_signed, webhooks_tell_what_was_written, webhooks_arrive,
    webhooks_keep_their_order, events_are_reported_once, replays_arrive,
]
