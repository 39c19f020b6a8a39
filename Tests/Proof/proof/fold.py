# SPDX-License-Identifier: Apache-2.0
"""A subscription as its events make it: the proof's own reading of them, as plain
dictionaries in the form in which the store keeps its own."""

import json
from copy import deepcopy
from datetime import datetime, timedelta, timezone

DAY = 86_400_000
MINUTE = 60_000
#: When a declined charge is repeated, in days since the end of the paid period.
RETRY_DAYS = [1, 2, 4, 7, 12, 19, 28, 40, 52]
RETRY_DAYS_MAX = 60
PAUSE = 60 * DAY
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
#: Events that sell a period.
SALES = {"subscribed", "renewed", "recovered", "upgraded"}


def parsed(text):
    """A column of JSON."""
    return json.loads(text) if isinstance(text, str) else text


def read(row):
    """An event's row: its kind, its facts, and its date and cause."""
    body = parsed(row["body"])
    ((kind, facts),) = body["change"].items()
    return kind, facts, body["at"], body["cause"]


def day_of(instant):
    return (EPOCH + timedelta(milliseconds=instant)).day


def later(instant, length, anchor):
    """The instant that is a length later, on a day of the month if it has that day."""
    count, unit = int(length[1:-1]), length[-1]
    if unit in "DW":
        return instant + count * (7 if unit == "W" else 1) * DAY
    date = EPOCH + timedelta(milliseconds=instant)
    month = date.year * 12 + date.month - 1 + count * (12 if unit == "Y" else 1)
    year, month = divmod(month, 12)
    after = datetime(year + month // 11, (month + 1) % 12 + 1, 1, tzinfo=timezone.utc)
    last = (after - timedelta(days=1)).day
    moved = date.replace(year=year, month=month + 1, day=min(anchor, last))
    return (moved - EPOCH) // timedelta(milliseconds=1)


def offer_after(offer):
    """The offer of the period after one with this offer."""
    if offer is None or offer["periodsLeft"] == 0:
        return None
    return offer | {"periodsLeft": offer["periodsLeft"] - 1}


def cut(period, instant):
    """Moves the end of a period, which may be before its start."""
    period |= {"end": instant, "anchorDay": day_of(instant)}


def without_nothing(facts):
    return {name: value for name, value in facts.items() if value is not None}


class Subscription:
    """`state` is one of active, unpaid, expired and revoked, with its facts."""

    def __init__(self):
        self.current = self.renewal = self.kept = None
        self.kind, self.facts = None, {}
        self.recent_start = self.original = self.group = None
        self.had_introduction = False
        #: The period before the current one, if that was charged ahead.
        self.running = None
        #: A period that was charged ahead and given back while the current one ran.
        self.given_back = None
        self.renewals = 0
        self.last_at = None

    def apply(self, kind, facts, at, cause):
        getattr(self, f"_{kind}")(facts, at, cause)
        self.last_at = at

    # Periods

    def _begin(self, facts):
        self.current = deepcopy(facts["period"])
        offer = self.current.get("offer")
        after, later_offer = offer_after(offer), facts.get("laterOffer")
        self.renewal = without_nothing({
            "isOn": True, "productID": self.current["productID"],
            "price": facts["regularPrice"], "offer": after or later_offer,
            "laterOffer": later_offer if after else None, "isCommitted": False,
        })
        self.kept = self.running = self.given_back = None
        self.had_introduction |= offer is not None and offer["kind"] == "introductory"
        self.kind, self.facts = "active", {"hasFailedAhead": False}

    def _subscribed(self, facts, at, cause):
        start = facts["period"]["start"]
        if self.current is None:
            self.original, self.group = facts["period"]["transaction"], facts["groupID"]
        if self.current is None or start - self.current["end"] > PAUSE:
            self.recent_start = start
        self._begin(facts)
        self.renewals = 0

    def _upgraded(self, facts, at, cause):
        self._begin(facts)

    def _renewed(self, facts, at, cause):
        self.renewals += 1
        runs = at < self.current["end"]
        self.running = {"period": self.current, "isRevoked": False} if runs else None
        self.current, self.given_back = deepcopy(facts["period"]), None
        self.kind, self.facts = "active", {"hasFailedAhead": False}
        self.kept = None
        offer = self.current.get("offer")
        following = offer_after(offer)
        self.renewal["offer"] = following or self.renewal.pop("laterOffer", None)
        if offer is None:
            self.renewal["price"] = self.current["price"]
        self.renewal = without_nothing(self.renewal)

    _recovered = _renewed

    def _extended(self, facts, at, cause):
        cut(self.current, facts["to"])
        self.given_back = None
        self.kind, self.facts = "active", {"hasFailedAhead": False}

    # The renewal

    def _choseNext(self, facts, at, cause):
        chosen = without_nothing({
            "isOn": True, "productID": facts["product"], "price": facts["price"],
            "offer": facts.get("offer"), "isCommitted": facts["isCommitted"],
        })
        if facts["isReversal"]:
            self.renewal, self.kept = self.kept or chosen, None
            self._switchedOn({}, at, cause)
        else:
            self.kept = self.kept or self.renewal
            self.renewal = chosen

    def _switchedOn(self, facts, at, cause):
        self.renewal = without_nothing(self.renewal | {"isOn": True, "stop": None})

    def _switchedOff(self, facts, at, cause):
        self._stop("cancelled")

    def _stopped(self, facts, at, cause):
        self._stop(facts["reason"])

    def _stop(self, reason):
        self.renewal = self.renewal | {"isOn": False, "stop": reason}

    # What fails, and ends

    def _failedAhead(self, facts, at, cause):
        self.kind, self.facts = "active", {"hasFailedAhead": True}

    def _failed(self, facts, at, cause):
        failure = {"since": self.current["end"], "attempts": 1} | facts
        self.kind, self.facts = "unpaid", {"failure": failure}

    def _failedAgain(self, facts, at, cause):
        # A test's attempt takes none from those that come by themselves.
        if cause == "time" and self.kind == "unpaid":
            self.failure["attempts"] += 1

    def _graceEnded(self, facts, at, cause):
        if self.kind == "unpaid":
            self.failure.pop("graceUntil", None)

    def _expired(self, facts, at, cause):
        if at < self.current["end"]:
            for period in self.periods():
                if at < period["end"]:
                    cut(period, at)
        self._stop(facts["reason"])
        self.kind, self.facts = "expired", {"reason": facts["reason"], "at": at}

    def _refunded(self, facts, at, cause):
        self._stop_if_on()
        self.kind, self.facts = "revoked", {"at": at}

    _revoked = _refunded

    def _stop_if_on(self):
        if self.renewal["isOn"]:
            self._stop("other")

    def _refundReversed(self, facts, at, cause):
        if at < self.current["end"]:
            self.kind, self.facts = "active", {"hasFailedAhead": False}
        else:
            self.kind, self.facts = "expired", {"reason": "other", "at": at}

    def _runningRevoked(self, facts, at, cause):
        self.running["isRevoked"] = True

    def _runningReinstated(self, facts, at, cause):
        self.running["isRevoked"] = False
        if self.kind == "revoked":
            self._aheadRevoked(facts, at, cause)

    def _aheadRevoked(self, facts, at, cause):
        self.given_back, self.current, self.running = (
            self.current, self.running["period"], None)
        self.renewals -= 1
        self.kind, self.facts = "active", {"hasFailedAhead": False}
        self._stop_if_on()

    def _aheadReinstated(self, facts, at, cause):
        is_revoked = self.kind == "revoked"
        self.running = (
            {"period": self.current, "isRevoked": is_revoked}
            if at < self.current["end"] else None)
        self.current, self.given_back = self.given_back, None
        self.renewals += 1
        self._refundReversed(facts, at, cause)

    # Answers

    def periods(self):
        """The current one, and those beside it whose end can still move."""
        before = self.running["period"] if self.running else None
        return [p for p in (self.current, before, self.given_back) if p is not None]

    def runs(self, at):
        """Whether the period before the current one still runs."""
        running = self.running
        return running is not None and not running["isRevoked"] and at < running["period"]["end"]

    @property
    def failure(self):
        return self.facts["failure"]

    @property
    def status(self):
        """The number in the store's column."""
        if self.kind == "unpaid":
            return 4 if "graceUntil" in self.failure else 3
        return {"active": 1, "expired": 2, "revoked": 5}[self.kind]

    @property
    def usable_until(self):
        """Until when the customer may use it, if nothing else happens."""
        if self.kind == "active":
            return self.current["end"]
        return self.failure.get("graceUntil") if self.kind == "unpaid" else None

    def stored(self):
        """As the store's column has it."""
        return without_nothing({
            "originalID": self.original, "groupID": self.group, "current": self.current,
            "recentStart": self.recent_start, "renewal": self.renewal, "kept": self.kept,
            "state": {self.kind: self.facts}, "hadIntroduction": self.had_introduction,
            "running": deepcopy(self.running), "givenBack": self.given_back,
            "renewals": self.renewals,
        })

    def demanded(self):
        """What happens by itself next, and when: kinds of events, and the instant.
        Nothing if it has ended."""
        if self.kind == "active":
            return self._demanded_active()
        if self.kind != "unpaid":
            return None
        since, attempts = self.failure["since"], self.failure["attempts"]
        steps = [({"expired"}, since + RETRY_DAYS_MAX * DAY)]
        if grace := self.failure.get("graceUntil"):
            steps.insert(0, ({"graceEnded"}, grace))
        if 1 <= attempts <= len(RETRY_DAYS):
            retry = since + RETRY_DAYS[attempts - 1] * DAY
            steps.insert(0, ({"recovered", "failedAgain"}, retry))
        # Of several at one instant the first in this order.
        return min(steps, key=lambda step: step[1])

    def _demanded_active(self):
        start, end = self.current["start"], self.current["end"]
        if not self.renewal["isOn"]:
            return {"expired"}, end
        if self.facts["hasFailedAhead"]:
            return {"renewed", "failed"}, end
        at = end - min(MINUTE, (end - start) // 2)
        instant = max(at, self.last_at)
        return {"renewed", "failedAhead" if instant < end else "failed"}, at


def steps(rows):
    """Each event of a subscription with what it was before: kind, facts, date, cause
    and the subscription, which is none at first; the rows are in order. The last one
    yielded has no event, and the subscription at the end."""
    whole = Subscription()
    for row in rows:
        kind, facts, at, cause = read(row)
        yield kind, facts, at, cause, whole
        whole.apply(kind, facts, at, cause)
    yield None, None, None, None, whole


def folded(rows):
    """The subscription after all of its events."""
    *_, (*_, whole) = steps(rows)
    return whole
