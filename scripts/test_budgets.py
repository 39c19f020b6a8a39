# SPDX-License-Identifier: Apache-2.0
"""What each test target may cost, in CPU seconds, and what it did cost."""
import json
import pathlib
import re
import resource

BUDGETS = pathlib.Path("Tests/budgets.json")
MANIFEST = pathlib.Path("Package.swift")
#: How many of a target's tests are listed as the slowest.
SLOWEST = 3
#: The same tests take up to a third more on a crowded machine, and more where one test is most
#: of a small target. Beyond its budget a target is named; beyond so many times its budget, and
#: by more than so many seconds, the run fails.
TOLERANCE = 1.5
TOLERATED_SECONDS = 10
ENDED = re.compile(r"[✔✘━] Test (?!run |case )(.+?)(?: with \d+ test cases?)? "
                   r"(?:passed|failed) after ([0-9.]+) seconds")


def targets():
    """The test targets of the package, in its order."""
    return re.findall(r'^ {8}tests\(\s*"(\w+)"', MANIFEST.read_text(), re.MULTILINE)


def cpu_seconds():
    """The CPU time of all processes that this one has waited for, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Cost:
    """What one target cost."""

    def __init__(self, target):
        self.target = target
        self.tests = {}
        self.before = cpu_seconds()
        self.cpu = 0.0
        self.wall = 0.0

    def read(self, line):
        if found := ENDED.search(line):
            self.tests[found[1]] = float(found[2])

    def end(self, wall):
        self.cpu, self.wall = cpu_seconds() - self.before, wall

    def slowest(self):
        rows = sorted(self.tests.items(), key=lambda test: -test[1])[:SLOWEST]
        return [(name, seconds) for name, seconds in rows if seconds >= 1]


def budgets(engine):
    """The CPU seconds that each target may take on an engine."""
    return json.loads(BUDGETS.read_text())[engine]


def report(costs, engine):
    """Prints what each target cost, and which are over their budgets. Returns the sentences
    about those that are far over it."""
    allowed, broken = budgets(engine), []
    print(f"\nWhat the tests cost on {engine}, in CPU seconds "
          f"(allowed: {BUDGETS}; seconds of the slowest tests in the crowd):")
    for cost in costs:
        limit = allowed.get(cost.target)
        shown = "no budget" if limit is None else f"of {limit}"
        print(f"  {cost.target:<22}{len(cost.tests):>5} tests {cost.cpu:>7.1f} {shown:<10}"
              f"{cost.wall:>7.1f} s")
        for name, seconds in cost.slowest():
            print(f"      {seconds:>6.1f} s  {name[:90]}")
        if limit is None:
            broken.append(f"{cost.target} has no budget for {engine} in {BUDGETS}: give it one")
        elif cost.cpu > max(limit * TOLERANCE, limit + TOLERATED_SECONDS):
            broken.append(
                f"{cost.target} took {cost.cpu:.1f} CPU seconds on {engine}, more than "
                f"{TOLERANCE} times its {limit}: make it faster, or raise it in {BUDGETS}")
        elif cost.cpu > limit:
            print(f"      over its budget of {limit}")
    total = sum(cost.cpu for cost in costs)
    print(f"  {'all':<22}{sum(len(c.tests) for c in costs):>5} tests {total:>7.1f} "
          f"of {sum(allowed.values())}")
    return broken
