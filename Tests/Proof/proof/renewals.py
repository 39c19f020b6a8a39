# SPDX-License-Identifier: Apache-2.0
"""Rules about subscriptions: their periods, what charged them, and what they grant."""

from collections import Counter

from .facts import approved, grouped, refunded, subject
from .fold import DAY, SALES, day_of, folded, later, parsed, steps

SUBSCRIPTION = "auto-renewable"


def periods_follow_each_other(evidence):
    """A period begins where the one before it ended, or at its purchase after a pause.
    Each has one transaction, which says the same, and no other has one."""
    rows = {row["transaction_id"]: row for row in evidence.transactions}
    sold = Counter()
    for number, events in evidence.events_of().items():
        ends, sales = {}, {}
        for kind, facts, at, cause, before in steps(events):
            # A test that ends it early also cuts the periods beside the current one.
            for known in before.periods():
                ends[known["transaction"]] = known["end"]
            if kind in SALES:
                period = facts["period"]
                sales[period["transaction"]] = period
                sold[period["transaction"]] += 1
                name = f"period {period['transaction']} of {number}"
                yield from follows(name, kind, period, at, before)
                yield from costs_what_was_agreed(name, period, before, evidence.plans)
        for transaction, period in sales.items():
            yield from is_recorded(period, ends[transaction], number, rows.get(transaction))
    for transaction, count in sold.items():
        if count > 1:
            yield f"transaction {transaction} sold {count} periods"
    for row in evidence.transactions:
        if row["product_type"] == SUBSCRIPTION and row["transaction_id"] not in sold:
            yield f"transaction {row['transaction_id']} of {row['product_id']} sold no period"


def follows(name, kind, period, at, before):
    """Where a period may begin, and how long it lasts."""
    start, last = period["start"], before.current
    wanted = start
    if kind == "renewed" or (kind == "recovered" and before.kind == "unpaid"
                             and "graceUntil" in before.failure):
        wanted = last["end"]
    elif kind in ("subscribed", "upgraded"):
        wanted = at
    if start != wanted:
        yield f"{name} was {kind} and begins at {start} instead of {wanted}"
    is_set_back = before.last_at is not None and at < before.last_at
    if kind in ("subscribed", "recovered") and last and before.kind != "revoked":
        if start < last["end"] and not is_set_back:
            yield f"{name} begins at {start}, before the end of the one before at {last['end']}"
    allowed = {
        "subscribed": {None, "active", "unpaid", "expired", "revoked"}, "renewed": {"active"},
        "recovered": {"unpaid"}, "upgraded": {"active"},
    }
    if before.kind not in allowed[kind]:
        yield f"{name} was {kind} while the subscription was {before.kind}"
    goes_on = last and last["end"] == start and {last["length"][-1], period["length"][-1]} <= {
        "M", "Y"}
    anchor = last["anchorDay"] if goes_on else day_of(start)
    if period["end"] != later(start, period["length"], anchor):
        yield f"{name} of {period['length']} lasts from {start} to {period['end']}"


def costs_what_was_agreed(name, period, before, plans):
    """The product's price, or that of an introductory offer, which a customer has once."""
    plan, offer = plans.get(period["productID"]), period.get("offer")
    if plan is None:
        yield f"{name} is of no product: {period['productID']}"
        return
    price, length = plan["price"], plan["period"]
    if offer:
        known = plan["introduction"] or {}
        price, length = known.get("price"), known.get("period")
        is_first = offer["periodsLeft"] + 1 == (
            known.get("count") if offer["mode"] == "payAsYouGo" else 1)
        if (offer["kind"], offer["mode"]) != ("introductory", known.get("mode")):
            yield f"{name} has an offer that the product does not have"
        if is_first and before.had_introduction:
            yield f"{name} begins a second introductory offer"
    if (period["price"]["amount"], period["length"]) != (price, length):
        yield f"{name} costs {period['price']['amount']} for {period['length']}"


def is_recorded(period, end, number, row):
    """A period's transaction has its facts."""
    name = f"the transaction {period['transaction']} of a period"
    if row is None:
        yield f"{name} is lost"
        return
    pairs = {
        "product": (row["product_id"], period["productID"]),
        "price": (row["total_price"], period["price"]["amount"]),
        "currency": (row["currency"], period["price"]["currency"]),
        "start": (row["purchased_at"], period["start"]), "end": (row["expires_at"], end),
        "subscription": (row["original_transaction_id"], number),
    }
    for fact, (kept, wanted) in pairs.items():
        if kept != wanted:
            yield f"{name} has the {fact} {kept!r} instead of {wanted!r}"


def periods_are_charged_once(evidence):
    """One charge of a period took money and kept it. It is that of its transaction, and
    the store's answers are the processor's."""
    if evidence.processor is None:
        return
    log = evidence.processor_entries()
    voided = {entry["key"] for entry in evidence.processor if entry["act"] == "void"}
    taken = {
        key for (key,), entries in log.items()
        if "/renewal/" in key and approved(entries) and key not in voided
    }
    # A period that was charged ahead and refunded whole may be sold again.
    kept = {key for key in taken if not is_returned(log[key,])}
    for period, count in Counter(key.rsplit("/", 1)[0] for key in kept).items():
        if count > 1:
            yield f"{period} was charged {count} times"
    pending = {
        (row["customer_id"], row["subject"])
        for row in evidence.errands if row["kind"] in ("renewal", "renewalVoid")
    }
    for key, row in evidence.renewals_by_key().items():
        if (row["customer_id"], subject(row)) in pending:
            continue
        if (row["state"] == "sold") != (key in taken):
            yield f"{key} is {row['state']}, and was {'' if key in taken else 'not '}charged"
        if row["state"] == "dropped" and key not in voided:
            yield f"{key} was dropped and not given back"
        if row["state"] == "asked":
            yield f"{key} has no answer"
    yield from renewals_have_their_charge(evidence)


def is_returned(entries):
    """Whether refunds that stand gave the whole sum of a charge back."""
    taken = sum(entry["order"]["total"] for entry in approved(entries))
    back = sum(entry["order"]["total"] for entry in refunded(entries).values())
    return taken > 0 and back == taken


def renewals_have_their_charge(evidence):
    """A renewal that costs something has one charge that sold it, of its sum."""
    charges = grouped(
        [row for row in evidence.renewal_charges if row["state"] == "sold"], "transaction_id")
    for row in evidence.transactions:
        if row["product_type"] != SUBSCRIPTION or row["reason"] != "renewal":
            continue
        if row.get("realm") in evidence.unprocessed or not row["total_price"]:
            continue
        found = charges.get((row["transaction_id"],), [])
        if len(found) != 1:
            yield f"renewal {row['transaction_id']} has {len(found)} charges"
        elif found[0]["total_price"] != row["total_price"]:
            yield f"renewal {row['transaction_id']} was charged with {found[0]['total_price']}"


def events_make_the_state(evidence):
    """A subscription's row is the fold of its events, which are numbered from 1."""
    events = evidence.events_of()
    for row in evidence.subscriptions:
        number = row["subscription_id"]
        own = events.pop(number, [])
        if [each["event"] for each in own] != list(range(1, row["events"] + 1)):
            yield f"subscription {number} of {row['events']} events has {len(own)}"
            continue
        whole = folded(own)
        columns = {
            "state": parsed(row["state"]), "status": row["status"], "ends_at": row["ends_at"],
            "product_id": row["product_id"], "transaction_id": row["transaction_id"],
        }
        wanted = {
            "state": whole.stored(), "status": whole.status, "ends_at": whole.current["end"],
            "product_id": whole.current["productID"],
            "transaction_id": whole.current["transaction"],
        }
        for name, kept in columns.items():
            if kept != wanted[name]:
                yield f"subscription {number} has the {name} {kept!r} instead of {wanted[name]!r}"
    for number in events:
        yield f"subscription {number} has events and no row"


def renewals_stop_when_switched_off(evidence):
    """Nothing is renewed by time or charged ahead while the renewal is off."""
    for number, events in evidence.events_of().items():
        for kind, _, _, cause, before in steps(events):
            if before.current is None or before.renewal["isOn"]:
                continue
            if kind in ("renewed", "failedAhead", "failed", "failedAgain"):
                yield f"subscription {number} {kind} by {cause} while its renewal was off"
            elif kind == "recovered" and cause != "customer":
                yield f"subscription {number} was charged while its renewal was off"


def entitlements_end_with_what_was_paid(evidence):
    """No subscription can be used beyond the end of what was paid, plus grace; neither
    in the store, nor in what an operator was told."""
    until, grace = paid_until(evidence)
    for row in evidence.subscriptions:
        number, state = row["subscription_id"], parsed(row["state"])
        end = state["current"]["end"] if "active" in state["state"] else None
        end = state["state"].get("unpaid", {}).get("failure", {}).get("graceUntil", end)
        yield from outlives(f"subscription {number}", end, until.get(number, 0) + grace[number])
        yield from outlives(f"the row of {number}", row["ends_at"], until.get(number, 0))
    for row in evidence.transactions:
        if row["product_type"] == SUBSCRIPTION:
            number = row["original_transaction_id"]
            yield from outlives(
                f"transaction {row['transaction_id']}", row["expires_at"], until.get(number, 0))
    for deed in evidence.deeds:
        if deed["verb"] != "look" or deed.get("status") != 200:
            continue
        for told in deed["answer"]["subscriptions"]:
            number = int(told["subscriptionId"])
            yield from outlives(
                f"subscription {number} as it was told", told.get("usableUntil"),
                until.get(number, 0) + grace.get(number, 0))
    yield from revoked_grants_nothing(evidence)


def paid_until(evidence):
    """The latest end that was paid or given, and the length of grace, by subscription."""
    until, grace = {}, {}
    for number, events in evidence.events_of().items():
        for _, _, _, _, before in steps(events):
            if before.current:
                until[number] = max(until.get(number, 0), before.current["end"])
    for row in evidence.subscriptions:
        grace[row["subscription_id"]] = DAY * evidence.grace_days.get(row.get("realm"), 0)
    return until, grace


def outlives(name, end, limit):
    if end is not None and end > limit:
        yield f"{name} can be used until {end}, {end - limit} ms beyond what was paid"


def revoked_grants_nothing(evidence):
    """The period that an active subscription stands on is not revoked."""
    revoked = {
        row["transaction_id"] for row in evidence.transactions if row["revoked_at"] is not None
    }
    for row in evidence.subscriptions:
        if row["status"] == 1 and row["transaction_id"] in revoked:
            yield f"subscription {row['subscription_id']} is active with a revoked period"


def events_come_at_their_time(evidence):
    """What happens by itself is what the state demands next, at the very instant. With a
    processor it may come later, since answers may."""
    for number, events in evidence.events_of().items():
        is_exact = events[0].get("realm") in evidence.unprocessed
        for kind, _, at, cause, before in steps(events):
            if cause != "time":
                continue
            demanded = before.demanded()
            if demanded is None:
                yield f"subscription {number} {kind} by itself after it had ended"
                continue
            kinds, instant = demanded
            wanted = max(instant, before.last_at)
            if is_exact and (kind not in kinds or at != wanted):
                yield f"subscription {number} {kind} at {at} instead of {sorted(kinds)} at {wanted}"
            elif not is_exact and at < instant:
                yield f"subscription {number} {kind} at {at}, before {instant}"


RULES = [
    periods_follow_each_other, periods_are_charged_once, events_make_the_state,
    renewals_stop_when_switched_off, entitlements_end_with_what_was_paid,
    events_come_at_their_time,
]
