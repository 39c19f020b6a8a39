# SPDX-License-Identifier: Apache-2.0
"""Rounds of the proof:

    python -m proof --command build/shopkeeper --seconds 10
    python -m proof --command build/shopkeeper --minutes 20

Prints its seed, what it did, and what it found: an object on the last line of
standard output with `--json`. Exit code 0: nothing lost, nothing doubled.
"""

import argparse
import json
import os
import secrets
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass

from . import counts as counting
from . import rules
from .disk import may_mount
from .programs import Trouble
from .sabotage import LEDGER_SABOTAGES, LEFT_UNSYNCED, SABOTAGES
from .stage import Stage
from .worlds import DEVICES_OF_ALL_WORLDS

ROUND_SECONDS = 120
# A run that is so long plays every fault at least once.
ALL_ACTS_MINUTES = 3


@dataclass
class Plan:
    command: list
    engine: str
    servers: int
    seed: int
    processor: bool
    devices: int
    customers: int
    purchases_max: int
    ledger: bool = True
    approvals: bool = True
    standby: bool = True
    notifications: bool = True
    #: One realm and one app alone: what `FlawedStore` serves.
    is_plain: bool = False
    moves_clocks: bool = True
    kits: bool = True
    sabotage: str | None = None
    clusters: int = 1
    #: A round in which not everything can be done.
    is_short: bool = False
    acts: list = ()
    without_acts: list = ()
    serve_options: list = ()
    disk_megabytes: int = 256


def parse():
    parser = argparse.ArgumentParser(prog="python -m proof")
    parser.add_argument("--command", required=True, help="the built shopkeeper")
    parser.add_argument("--engine", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--seed", type=int, help="of the first round; drawn where missing")
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--seconds", type=float, help="one round of so many")
    length.add_argument("--minutes", type=float, help="rounds until so many are over")
    parser.add_argument("--servers", type=int, help="1 on SQLite, 2 on PostgreSQL")
    parser.add_argument("--devices", type=int, default=12)
    parser.add_argument("--purchases-max", type=int, default=100_000, help="of one device")
    parser.add_argument("--without-processor", action="store_true")
    parser.add_argument("--without-ledger", action="store_true")
    parser.add_argument("--without-approvals", action="store_true")
    parser.add_argument("--without-standby", action="store_true")
    parser.add_argument("--without-notifications", action="store_true")
    parser.add_argument("--plain", action="store_true", help="one realm and one app alone")
    parser.add_argument("--without-minimums", action="store_true", help="however little happens")
    parser.add_argument(
        "--sabotage", choices=sorted(SABOTAGES | LEDGER_SABOTAGES | LEFT_UNSYNCED), help="spoil a store on SQLite")
    parser.add_argument(
        "--clusters", type=int, choices=[1, 2],
        help="on PostgreSQL; else two under odd seeds, and so in every second round")
    parser.add_argument("--acts", help="of the supervisor, by name, with commas; else all")
    parser.add_argument("--without-acts", default="", help="all but these, with commas")
    parser.add_argument("--serve-option", action="append", default=[], help="for every server")
    parser.add_argument("--folder", help="kept; else one that is removed when all is well")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    return arguments


def plan(arguments, seed):
    is_sqlite = arguments.engine == "sqlite"
    return Plan(
        command=[os.path.abspath(arguments.command)], engine=arguments.engine,
        servers=arguments.servers or (1 if is_sqlite else 2), seed=seed,
        processor=not arguments.without_processor, devices=arguments.devices,
        customers=max(1, arguments.devices // 2), purchases_max=arguments.purchases_max,
        ledger=not arguments.without_ledger, standby=not arguments.without_standby,
        approvals=not arguments.without_approvals,
        notifications=not (arguments.without_notifications or arguments.plain),
        is_plain=arguments.plain, moves_clocks=not arguments.plain,
        serve_options=arguments.serve_option,
        kits=os.path.exists(os.path.join(os.path.dirname(arguments.command), "ProofDevice")),
        clusters=clusters(arguments, seed),
        sabotage=arguments.sabotage, is_short=arguments.seconds is not None,
        acts=arguments.acts.split(",") if arguments.acts else (),
        without_acts=arguments.without_acts.split(","),
    )


def clusters(arguments, seed):
    """How many databases share out the customers."""
    if arguments.engine == "sqlite" or arguments.plain:
        return 1
    return arguments.clusters or 1 + seed % 2


def play(arguments, seed, seconds, folder, acts):
    """A round; its breaches and its counts. Adds to `acts` what could be played."""
    say(f"seed {seed}: {arguments.engine}, {seconds:.0f} s, histories in {folder}")
    stage = Stage(plan(arguments, seed), folder)
    try:
        try:
            complaints = stage.play(seconds)
        except (Trouble, sqlite3.DatabaseError) as problem:
            # Nothing of it is judged: a world that did not come to rest has sales
            # whose answers are on their way, and work that is not done yet.
            stage.halt()
            stage.keep()
            raise Trouble(f"{problem}") from problem
        try:
            gathered = stage.evidence()
        except (subprocess.CalledProcessError, sqlite3.DatabaseError, IndexError) as problem:
            stage.keep()
            raise Trouble(f"{complaints}; its databases cannot be read: {problem}") from problem
        counts = stage.tally(gathered)
        acts.update(act.name for act in stage.supervisor.acts)
        breaches = rules.judge(gathered)
        if complaints:
            breaches["devices_came_to_rest"] = complaints
        if breaches:
            stage.keep()
    finally:
        stage.close()
    for name, value in counts.items():
        say(f"  {name}: {value}")
    for name, found in breaches.items():
        say(f"  BROKEN {name}: {len(found)}, such as: {found[0]}")
    return breaches, counts


def main():
    arguments = parse()
    # Private mounts, which no other process sees and which end with this one.
    if may_mount() and "PROOF_MOUNTS" not in os.environ:
        os.environ["PROOF_MOUNTS"] = "own"
        os.execvp("unshare", ["unshare", "-m", sys.executable, "-m", "proof", *sys.argv[1:]])
    seed = arguments.seed if arguments.seed is not None else secrets.randbits(31)
    base = arguments.folder or tempfile.mkdtemp(prefix="proof.")
    start, total, found, rounds = time.monotonic(), Counter(), {}, 0
    acts = set()
    limit = arguments.seconds or arguments.minutes * 60
    while not rounds or time.monotonic() - start < limit - 5:
        left = limit - (time.monotonic() - start)
        folder = os.path.join(base, f"round-{rounds + 1}")
        try:
            breaches, counts = play(
                arguments, seed + rounds, min(left, ROUND_SECONDS) if rounds or arguments.minutes
                else limit, folder, acts)
        except Trouble as trouble:
            breaches, counts = {"the_round_could_be_played": [str(trouble)]}, {}
        rounds += 1
        add(total, counts)
        if breaches:
            found[seed + rounds - 1] = breaches
            break
        shutil.rmtree(folder, ignore_errors=True)
        if arguments.seconds:
            break
    if not found and not arguments.folder:
        shutil.rmtree(base, ignore_errors=True)
    missing = [] if arguments.without_minimums or found else shortfalls(
        arguments, total, limit, acts)
    if missing:
        found[seed] = {"enough_happened": missing}
    report(arguments, seed, rounds, total, found, base)


def shortfalls(arguments, total, seconds, acts):
    """What the whole run had too little of."""
    # Copies are taken up in long rounds, for which a short one has no time.
    takes_copies = {"restore twice", "advance twice"} & acts
    absent = set() if arguments.minutes and takes_copies else {"restored"}
    if arguments.seconds:
        # A charge is given back only where two for one subscription cross, of which a round
        # of seconds has two to ten, and about once in fifty none.
        absent.add("voided")
        # A purchase is shared only in such a life of the ledger as shares.
        absent.add("purchases shared")
    if arguments.without_processor:
        absent |= {"captured", "voided"}
    if arguments.without_ledger:
        absent |= counting.BOOKED | counting.BOOKED_OF_SUBSCRIBERS | counting.REPORTED
    if arguments.without_notifications or arguments.plain:
        absent.add("notified")
    if arguments.plain or arguments.devices < DEVICES_OF_ALL_WORLDS:
        absent |= counting.SUBSCRIBED | counting.BOOKED_OF_SUBSCRIBERS
    is_long = arguments.minutes and arguments.minutes >= ALL_ACTS_MINUTES
    return list(counting.shortfalls(
        total, seconds, absent, sorted(acts) if is_long else (), arguments.engine))


def add(total, counts, prefix=""):
    for name, value in counts.items():
        if isinstance(value, dict):
            add(total, value, f"{prefix}{name}: ")
        else:
            total[prefix + name] += sum(value) if isinstance(value, list) else value


def report(arguments, seed, rounds, total, found, base):
    say(f"{rounds} rounds from seed {seed} on {arguments.engine}: " + (
        f"BROKEN, histories and databases in {base}" if found else "nothing lost, nothing doubled"
    ))
    for breaches in found.values():
        for name in ("the_round_could_be_played", "enough_happened"):
            for sentence in breaches.get(name, []):
                say(f"  BROKEN {name}: {sentence}")
    for name, value in total.items():
        say(f"  {name}: {value}")
    if arguments.json:
        print(json.dumps({"seed": seed, "counts": total, "breaches": found}))
    sys.exit(1 if found else 0)


def say(text):
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
