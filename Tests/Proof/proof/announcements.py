# SPDX-License-Identifier: Apache-2.0
"""Rules about what merchants hear of subscriptions and refunds."""

from .facts import SALE, grouped, repeated
from .fold import read

#: The type and subtype by the kind of an event. Other kinds are not announced.
ANNOUNCED = {
    "renewed": ("DID_RENEW", None), "recovered": ("DID_RENEW", "BILLING_RECOVERY"),
    "upgraded": ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"),
    "switchedOn": ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"),
    "switchedOff": ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"),
    "stopped": ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"),
    "graceEnded": ("GRACE_PERIOD_EXPIRED", None), "extended": ("RENEWAL_EXTENDED", None),
    "requested": ("CONSUMPTION_REQUEST", None), "declined": ("REFUND_DECLINED", None),
    "reversed": ("REFUND_REVERSED", None),
}
EXPIRED = {"cancelled": "VOLUNTARY", "billing": "BILLING_RETRY"}


def announced(kind, facts):
    """The type and subtype of an event's notification; nothing if it has none."""
    if kind == "subscribed":
        return "SUBSCRIBED", "INITIAL_BUY" if facts["isFirst"] else "RESUBSCRIBE"
    if kind == "choseNext":
        return "DID_CHANGE_RENEWAL_PREF", None if facts["isReversal"] else "DOWNGRADE"
    if kind == "failed":
        return "DID_FAIL_TO_RENEW", "GRACE_PERIOD" if "graceUntil" in facts else None
    if kind == "expired":
        return "EXPIRED", EXPIRED.get(facts["reason"])
    if kind == "granted":
        grant = facts["grant"]["kind"]
        return None if grant == "upgrade" else ("REVOKE" if grant == "nothing" else "REFUND", None)
    return ANNOUNCED.get(kind)


def causes(evidence):
    """What each event causes: its row, and the notification that it owes, by its cause."""
    found = {}
    for row in evidence.subscription_events:
        kind, facts, *_ = read(row)
        cause = f"SUBSCRIPTION/{row['subscription_id']}.{row['event']}"
        found[cause] = (row, announced(kind, facts))
    for row in evidence.refund_events:
        kind, facts, *_ = read(row)
        cause = f"REFUND/{row['transaction_id']}.{row['refund']}.{row['event']}"
        found[cause] = (row, announced(kind, facts))
    return found


def events_are_announced_once(evidence):
    """Each event owes one notification of its kind at its own date, and nothing else owes
    one. What was received under its name is of that kind."""
    owed = grouped(evidence.outbox, "customer_id", "cause")
    for (customer, cause), rows in repeated(evidence.outbox, "customer_id", "cause").items():
        yield f"{cause} of {customer} owes {len(rows)} notifications"
    known = causes(evidence)
    for cause, (event, wanted) in known.items():
        rows = owed.get((event["customer_id"], cause), [])
        told = [(row["notification_type"], row["subtype"]) for row in rows]
        if told != ([wanted] if wanted else []):
            yield f"{cause} owes {wanted}, and {told} is owed"
        elif rows and rows[0]["created_at"] != event["happened_at"]:
            yield f"{cause} is owed at {rows[0]['created_at']}, not {event['happened_at']}"
    for row in evidence.outbox:
        if row["notification_type"] not in (SALE, "TEST") and row["cause"] not in known:
            yield f"{row['cause']} owes {row['notification_type']} and never happened"
    subtypes = {row["notification_uuid"]: row["subtype"] for row in evidence.outbox}
    for entry in evidence.received or []:
        told = entry["payload"].get("subtype")
        if told != subtypes.get(entry["uuid"], told):
            yield f"notification {entry['uuid']} has the subtype {told}"


def jumps_announce_in_order(evidence):
    """What jumps made happen to a subscription is received in that order, where a rule
    charges. While the machine's clock was wrong, it is unknown what belongs to a jump. After
    a fault of its database the store sends a notification later, and out of order."""
    if evidence.received is None or evidence.seconds_stepped or evidence.notifications_failed:
        return
    uuids = {row["cause"]: row["notification_uuid"] for row in evidence.outbox}
    first = {}
    for entry in evidence.received:
        first[entry["uuid"]] = min(first.get(entry["uuid"], entry["at"]), entry["at"])
    last = jumped_to(evidence)
    for number, events in evidence.events_of().items():
        if events[0].get("realm") not in evidence.unprocessed:
            continue
        at = name = None
        for row in events:
            cause = f"SUBSCRIPTION/{number}.{row['event']}"
            come = first.get(uuids.get(cause))
            is_of_jump = row["cause"] == "time" and row["happened_at"] <= last.get(
                row.get("realm"), 0)
            if come is None or not is_of_jump:
                continue
            if at is not None and come < at:
                yield f"{cause} was received before {name}"
            at, name = come, cause


def jumped_to(evidence):
    """Where the last jump of each realm went."""
    return {
        row["realm"]: row["jumped_to"] for row in evidence.clocks
        if row["jumped_to"] is not None
    }


RULES = [events_are_announced_once, jumps_announce_in_order]
