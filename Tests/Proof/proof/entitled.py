# SPDX-License-Identifier: Apache-2.0
"""What an account may use, by the checker's own reading of docs/LEDGER.md: from purchases,
what they granted, and the dates that the store has signed."""

from collections import defaultdict

from .facts import grouped
from .fold import DAY

FOREVER = float("inf")


def spans_of(facts, rules, periods=None):
    """The time that each purchase gives, by the name of the entitlement: start and end.
    `facts` are purchases with `terms` (a row or nothing) and `grace_until`. `periods`: all
    purchases of the ledger by their subscriptions, whoever has them."""
    if periods is None:
        periods = grouped(facts, "original_transaction_id")
    spans, paid_until = defaultdict(list), {}
    for purchase in sorted(facts, key=lambda each: (each["purchased_at"], number_of(each))):
        for grant in rules.get(purchase["product_id"], []):
            if grant["kind"] != "entitlement":
                continue
            name, start = grant["name"], purchase["purchased_at"]
            if grant["lasting"] == "forever":
                end = FOREVER
            elif grant["lasting"] == "period":
                start = max(start, paid_until.get(name, start))
                end = start + grant["days"] * DAY * purchase["quantity"]
            else:
                own = periods[purchase["original_transaction_id"],]
                end = subscribed_until(purchase, grant, own)
            if purchase["revoked_at"] is not None:
                end = max(start, min(end, purchase["revoked_at"]))
            if grant["lasting"] == "period":
                paid_until[name] = end
            spans[name].append((start, end))
    return spans


def number_of(purchase):
    """As something that can be compared: of two numbers, the shorter is the smaller one."""
    text = str(purchase["transaction_id"])
    return len(text), text


def subscribed_until(purchase, grant, own):
    """The end of a subscription's period: as signed, the purchase of another product that
    took its place, or the end of its grace. `own`: the periods of the subscription."""
    terms = purchase["terms"]
    if terms is None or terms["expires_at"] is None:
        return purchase["purchased_at"]
    replaced, ended, newest = life_of(own)
    number = number_of(purchase)
    end = min(terms["expires_at"], ended.get(number, FOREVER))
    if replaced.get(number, FOREVER) < end:
        return replaced[number]
    grace = purchase["grace_until"]
    if grant["lasting"] != "grace" or grace is None or grace <= end or newest != number:
        return end
    return end if terms["is_upgraded"] or number in ended else grace


def life_of(own):
    """What became of the periods of a subscription, by their numbers: when another one took
    its place, when a tester ended it earlier than signed, and which is the newest."""
    replaced, ended, sold_since, newest = {}, {}, {}, None
    known = []
    for one in sorted(own, key=lambda each: (each["purchased_at"], number_of(each))):
        number, start, revoked = number_of(one), one["purchased_at"], one["revoked_at"]
        stands = one.get("environment") != "Production"
        # The periods that it goes on from.
        before = [each for each in known if end_of(each) == start]
        earlier = [each for each in before if not stands or number_of(each) < number]
        since = [sold_since.get(number_of(each)) for each in earlier]
        if end_of(one) < start or (end_of(one) == start and before):
            ended.update({number_of(each): end_of(one) for each in before})
        elif earlier and all(
                other is not None and (not stands or number < other) for other in since):
            # It was charged ahead, and replaced with them.
            replaced[number] = start
        elif not before or revoked is None or revoked > start:
            newest = number
            for each in known:
                if start < end_of(each):
                    sold_since[number_of(each)] = number
                    marked = (each["terms"] or {}).get("is_upgraded")
                    if marked or each["product_id"] != one["product_id"]:
                        replaced.setdefault(number_of(each), start)
        known.append(one)
    return replaced, ended, newest


def end_of(purchase):
    end = (purchase["terms"] or {}).get("expires_at")
    return purchase["purchased_at"] if end is None else end


def reach(spans, now):
    """Until when spans cover an instant without a gap; nothing if they do not."""
    whole = sorted(span for span in spans if span[0] < span[1])
    until = None
    for start, end in whole:
        if until is not None and start <= until:
            until = max(until, end)
        elif until is None or until <= now:
            if start > now:
                break
            until = end
    return until if until is not None and until > now else None
