# SPDX-License-Identifier: Apache-2.0
"""Rules about sandboxes' clocks that were moved."""

from .facts import grouped
from .fold import folded

# A request without an answer may come so much later.
LATE_NANOSECONDS = 15_000_000_000
# When what nobody bought was acknowledged: before everything.
NEVER_ASKED = float("-inf")
#: The names of a clock's columns that each cluster must agree on.
SHARED = ("clock_ahead", "clock_stands_at", "clock_rate")


def jumps_leave_nothing_due(evidence):
    """At the end every clock stands still, with no jump under way, no work due, and
    nothing that a subscription demands by then. Each that goes on has its next step."""
    for row in evidence.jumps:
        if row["realm"] in evidence.moving:
            yield f"a jump of {row['realm']} to {row['target']} was left under way"
    for row in evidence.due_work:
        if row.get("realm") in evidence.moving and row["due_at"] <= evidence.now(row):
            yield f"{row['kind']} {row['subject']} was due at {row['due_at']}"
    asked = {
        row["subscription_id"] for row in evidence.renewal_charges if row["state"] == "asked"
    }
    steps = {
        row["subject"]: row["due_at"] for row in evidence.due_work if row["kind"] == "subscription"
    }
    for number, events in evidence.events_of().items():
        demanded = folded(events).demanded()
        if demanded is None or number in asked:
            continue
        kinds, instant = demanded
        now = evidence.now(events[0])
        if instant <= now:
            yield f"subscription {number} was to be {sorted(kinds)} at {instant}, before {now}"
        if steps.get(str(number), 0) < instant:
            yield f"subscription {number} has no step at {instant}"


def clocks_agree(evidence):
    """The clusters of a realm show the same time."""
    for (realm,), rows in grouped(evidence.clocks, "realm").items():
        if len({tuple(row[name] for name in SHARED) for row in rows}) > 1:
            yield f"the clusters of {realm} have {len(rows)} clocks"


def moves(evidence):
    """By realm: moves and the clocks that answered them, in order of the answers."""
    found = [
        deed for deed in evidence.deeds
        if deed["verb"] in ("jump", "stop", "stand") and deed.get("status") == 200
    ]
    return grouped(sorted(found, key=lambda deed: deed["at"]), "realm")


def is_done(clock):
    """Whether a clock says that nothing of a jump is under way."""
    return "jump" not in clock and "clustersAway" not in clock


def answered_jumps_stay(evidence):
    """A clock that answered where it had come to is never behind that again. As long as
    the machine's clock is wrong, it may be behind by as much as that was wrong."""
    lost = 2 * 1000 * evidence.seconds_stepped
    for (realm,), deeds in moves(evidence).items():
        furthest = []
        for deed in deeds:
            now = deed["answer"]["now"]
            before = max((other for at, other in furthest if at < deed["asked_at"]), default=now)
            if now < before - lost:
                yield f"the clock of {realm} was at {before}, and then at {now}"
            if is_done(deed["answer"]):
                furthest.append((deed["at"], now))


def jumps_are_done_when_answered(evidence):
    """After a jump was answered, and before another is asked for, no subscription that an
    operator is shown has a period that has ended and was neither paid nor given up. A stop
    ends a jump also while a charge has no answer, so no jump beside a stop is judged. Nor is
    a purchase beside the jump, which has its date before it is written."""
    lost = 2 * 1000 * evidence.seconds_stepped
    acknowledged = first_acknowledgements(evidence)
    for (realm,), deeds in grouped(evidence.deeds, "realm").items():
        stops = [deed for deed in deeds if deed["verb"] == "stop"]
        for deed in deeds:
            if deed["verb"] != "jump" or deed.get("status") != 200 or not is_done(deed["answer"]):
                continue
            if any(is_beside(stop, deed) for stop in stops):
                continue
            for look in deeds:
                if look["verb"] == "look" and look.get("status") == 200 and (
                    look["asked_at"] > deed["at"]
                ):
                    told = [
                        one for one in look["answer"]["subscriptions"]
                        if acknowledged.get(one.get("transactionId"), NEVER_ASKED)
                        < deed["asked_at"]]
                    yield from shown_in_time(realm, least_target(deed) - lost, told)


def least_target(jump):
    """The earliest instant that a jump can have gone to. Its clock ran on until the answer,
    and what falls due on the way is no part of the jump."""
    return jump["answer"]["now"] - -(-(jump["at"] - jump["asked_at"]) // 1_000_000)


def is_beside(stop, jump):
    """Whether a stop may have come while a jump was under way."""
    last = stop.get("at", stop["asked_at"] + LATE_NANOSECONDS)
    return stop["asked_at"] <= jump["at"] and last >= jump["asked_at"]


def first_acknowledgements(evidence):
    """When each bought transaction was first acknowledged: never, if no answer came."""
    found = {
        str(row["transaction_id"]): float("inf")
        for row in evidence.transactions if row["purchase_id"] is not None}
    for entry in evidence.sold():
        number = entry["signed"]["transactionId"]
        found[number] = min(found.get(number, float("inf")), entry["at"])
    return found


def shown_in_time(realm, now, subscriptions):
    """Nothing that was shown after an instant had been due before it."""
    for told in subscriptions:
        name = f"subscription {told['subscriptionId']} of {realm}"
        if told["status"] == "active" and told["endDate"] <= now:
            yield f"{name} was active at {now}, and had ended at {told['endDate']}"
        elif told["status"] == "grace" and told["usableUntil"] <= now:
            yield f"{name} had grace at {now}, which had ended at {told['usableUntil']}"


RULES = [
    jumps_leave_nothing_due, clocks_agree, answered_jumps_stay, jumps_are_done_when_answered,
]
