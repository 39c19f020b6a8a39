# SPDX-License-Identifier: Apache-2.0
"""Changes of evidence, of which the tables of spoilt evidence are made."""


def row(name, place=0, **changed):
    """Changes fields of a row of a table."""
    return lambda evidence: getattr(evidence, name)[place].update(changed)


def add(name, *entries):
    """Adds entries to a list of the evidence."""
    return lambda evidence: getattr(evidence, name).extend(entries)


def drop(name, place=0):
    """Takes a row out of a table."""
    return lambda evidence: getattr(evidence, name).pop(place)


def both(*changes):
    """One change after the other."""
    def spoil(evidence):
        for change in changes:
            change(evidence)
    return spoil


def check_spoilt(case, table, sound):
    """Each rule of a table finds nothing in sound evidence, and what its line spoils.
    `sound` makes the evidence for a rule."""
    for name, rule, spoil in table:
        with case.subTest(name):
            evidence = sound(rule)
            case.assertEqual(list(rule(evidence)), [])
            spoil(evidence)
            case.assertTrue(list(rule(evidence)), rule.__name__)


def check_sound(case, rules, table, sound):
    """No rule finds anything in sound evidence, nor after what a line of a table changes."""
    for name, change in [("nothing", lambda _: None), *table]:
        with case.subTest(name):
            evidence = sound()
            change(evidence)
            case.assertEqual(
                {rule.__name__: list(rule(evidence)) for rule in rules},
                {rule.__name__: [] for rule in rules})
