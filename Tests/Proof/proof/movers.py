# SPDX-License-Identifier: Apache-2.0
"""What changes subscribers' sandboxes besides their devices: a clerk and a jumper each."""

import os
import random

from .clerk import Clerk
from .jumper import Jumper
from .programs import Trouble
from .worlds import RULED


class Movers:
    """The clerks and jumpers of a round, started and ended together."""

    def __init__(self, stage, seed):
        self._stage = stage
        self._random = random.Random(seed)
        realms = stage.worlds.moving
        self._clerks = [
            self._actor(Clerk, realm, *([stage.worlds.households] if realm == RULED else []))
            for realm in realms]
        self._jumpers = [self._actor(Jumper, realm) for realm in realms]

    def _actor(self, kind, realm, *others):
        path = os.path.join(self._stage.folder, f"{kind.__name__.lower()}-{realm}.log")
        return kind(
            self._stage.servers, path, self._random.getrandbits(32), realm, *others).start()

    def end(self):
        for actor in (*self._clerks, *self._jumpers):
            actor.end()

    def close(self):
        """Returns when nothing that they began is under way."""
        for actor in (*self._clerks, *self._jumpers):
            actor.close()

    def rest(self, seconds):
        """Lets the clocks come to a stand, with nothing owed before them. Before that,
        what a short round had no time for is done."""
        for clerk in self._clerks:
            clerk.catch_up()
        for jumper in self._jumpers:
            readers = self._stage.readers_of(jumper.realm)

            def is_owed(readers=readers):
                return any(reader("errands") or reader("jumps") for reader in readers)

            if not jumper.rest(is_owed, seconds):
                raise Trouble(f"the clock of {jumper.realm} did not come to a stand")

    # What a supervisor may do

    def kill_in_a_jump(self):
        """A server is killed in the middle of a jump that it was asked for."""
        server = self._random.choice(self._stage.servers)
        self._random.choice(self._jumpers).jump_and_kill(server, self._stage.supervisor.start)
