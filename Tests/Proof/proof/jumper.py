# SPDX-License-Identifier: Apache-2.0
"""The jumper of a sandbox of subscribers moves its clock forward by weeks and months,
stops jumps, makes two at once, and is cut off by kills."""

import threading
import time

from .actor import Actor

DAY = 86_400_000
PERIODS = ["P1W", "P1W", "P1W", "P2W", "P1M", "P1M", "P3M"]
STOP_SECONDS = 0.15
KILL_SECONDS = 0.2
# How often a stand is tried, and for how long what is owed may take after each leap.
REST_TRIES = 40
LEAP_MILLISECONDS = 2 * 3_600_000
# So many leaps are short. Later ones double, up to six weeks.
SHORT_LEAPS, DOUBLINGS = 8, 9


class Jumper(Actor):
    def __init__(self, servers, path, seed, realm):
        super().__init__(servers, path, seed, pauses=(0.15, 0.7))
        self.realm = realm
        self._clock = f"/realms/{realm}/control/v1/clock"
        self._look = f"/realms/{realm}/operator/v1/subscriptions"

    def act(self):
        drawn = self.random.randrange(20)
        if drawn < 3:
            self.at_once(self.jump, self.jump)
        elif drawn < 7:
            self.at_once(self.jump, self.stop)
        elif self.jump() is not None and drawn < 14:
            self.look()

    def jump(self, server=None):
        """A jump; its answer if everything has happened that was due by then."""
        if self.random.randrange(3) == 0:
            move = {"advanceMilliseconds": self.random.randint(1, 12 * DAY)}
        else:
            move = {"advancePeriod": self.random.choice(PERIODS)}
        if self.random.randrange(8) == 0:
            move["notifications"] = "await"
        answer = self.call("control", "POST", self._clock, move, server, verb="jump")
        return answer if answer is not None and is_done(answer) else None

    def stop(self):
        """Stops a jump that has just begun."""
        time.sleep(self.random.uniform(0, STOP_SECONDS))
        self.call("control", "POST", self._clock, {"stopsJump": True}, verb="stop")

    def look(self):
        """After a jump: what the subscriptions are, at an instant of the clock."""
        self.call("operator", "GET", self._look, verb="look")

    def jump_and_kill(self, server, start):
        """A jump whose server is killed in the middle of it, and started by `start`."""
        jump = threading.Thread(target=self.jump, args=(server,))
        jump.start()
        time.sleep(self.random.uniform(0, KILL_SECONDS))
        server.kill()
        start(server)
        jump.join()

    # In the calm

    def rest(self, is_owed, seconds):
        """Lets the clock come to a stand with nothing owed: `is_owed` reads that. True if
        that was possible. What failed and is tried again later comes by short leaps. A sale
        in a jump that was stopped is dated by where the jump went, so that its notification
        may be due months later."""
        for number in range(REST_TRIES):
            doublings = min(max(number - SHORT_LEAPS, 0), DOUBLINGS)
            leap = {"advanceMilliseconds": LEAP_MILLISECONDS << doublings}
            self.call("control", "POST", self._clock, leap, verb="jump")
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline and is_owed():
                time.sleep(0.05)
            answer = self._move(True)
            if answer is not None and is_done(answer) and not is_owed():
                return True
            self._move(False)
        return False

    def _move(self, is_standing):
        return self.call(
            "control", "POST", self._clock, {"isStanding": is_standing}, verb="stand")


def is_done(answer):
    """Whether a move's answer says that nothing of it is under way."""
    status, clock = answer
    return status == 200 and "jump" not in clock and "clustersAway" not in clock
