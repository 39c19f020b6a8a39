# SPDX-License-Identifier: Apache-2.0
"""What there was to judge, and whether that was enough to mean anything."""

from collections import Counter

from . import webhooks
from .fold import read

#: Of a round: events that every one must have, so many for each second that it
#: lasts, and at least so many. A round in which nothing was sold proves nothing.
EVENTS = {
    "sold": (3, 20),
    "refused": (0.2, 1),
    "finished": (0.5, 4),
    "redeemed": (2, 10),
    "captured": (2, 10),
    "voided": (0, 1),
    "notified": (1, 5),
    "restored": (0, 1),
    "receipts": (0, 1),
    "signatures": (10, 50),
    "renewals": (0.5, 5),
    "upgrades": (0.03, 1),
    "refunds": (0.1, 1),
    "reversals": (0.03, 1),
    "jumps": (0.2, 2),
    "granted": (0.5, 5),
    "spendings": (0.02, 1),
    "revocations booked": (0.01, 1),
    "reservations confirmed": (0.1, 1),
    "reservations released": (0.02, 1),
    "reservations expired": (0.02, 1),
    "purchases moved": (0.02, 1),
    "purchases shared": (0.005, 1),
    "accounts merged": (0.01, 1),
    "accounts erased": (0.01, 1),
    "webhooks": (2, 20),
    "webhooks asked for again": (0.02, 1),
}
#: What two servers and a standby get done less of, on as many cores.
ON_POSTGRES = {"renewals": (0.25, 5)}
#: What only the ledger has, and what it has of subscribers alone.
BOOKED = {
    "redeemed", "granted", "reservations confirmed", "reservations released",
    "reservations expired"}
BOOKED_OF_SUBSCRIBERS = {
    "spendings", "revocations booked", "purchases moved", "purchases shared", "accounts merged",
    "accounts erased"}
#: What only the merchant's server for webhooks has.
REPORTED = {"webhooks", "webhooks asked for again"}
#: What only sandboxes of subscribers have.
SUBSCRIBED = {"renewals", "upgrades", "refunds", "reversals", "jumps"}


def tally(evidence):
    """What there was to judge, for people."""
    states = Counter(row["state"] for row in evidence.purchases)
    counts = {
        "purchases asked": len(
            {(e["customer"], e["purchase"]) for e in evidence.asked if e["verb"] == "purchase"}
        ),
        "acknowledged sales": len({e["purchase"] for e in evidence.sold()}),
        "answers to purchases": len(evidence.of("purchase")),
        "finishes acknowledged": len(
            {e["transaction"] for e in evidence.of("finish") if e["status"] == 200}
        ),
        "proofs from the future": sum(
            e["status"] == 400 and e["answer"].get("code") == "proofInvalid"
            for e in evidence.of("take")
        ),
        "rows: purchases": dict(states),
        "rows: transactions": len(evidence.transactions),
        "rows: outbox": len(evidence.outbox),
        "rows: errands left for later": len(evidence.errands),
        "approvals answered": len(
            {(e["customer"], e["purchase"]) for e in evidence.approvals if e["status"] == 200}
        ),
    }
    return counts | {f"event: {name}": count for name, count in events(evidence).items()}


def events(evidence):
    """How often each kind of event was acknowledged or seen."""
    counts = {
        "sold": len({e["purchase"] for e in evidence.sold()}),
        "refused": len(
            {
                e["purchase"] for e in evidence.of("purchase")
                if e["status"] == 200 and e["answer"].get("state") == "refused"
            }
        ),
        "finished": len(
            {e["transaction"] for e in evidence.of("finish") if e["status"] == 200}
        ),
        "signatures": evidence.signatures,
        "restored": sum(len(fork["sales"]) > 0 for fork in evidence.forks),
        "kit deliveries": len({e.get("tag") for e in evidence.kits if e["word"] == "purchased"}),
        "kit failures": len({e.get("tag") for e in evidence.kits if e["word"] == "failed"}),
    }
    if evidence.receipts is not None:
        counts["receipts"] = len(evidence.receipts)
    if evidence.received is not None:
        counts["notified"] = len({e["uuid"] for e in evidence.received})
    if evidence.processor is not None:
        acts = Counter(e["act"] for e in {(e["act"], e["key"]): e for e in evidence.processor
                                          if e.get("state") != "declined"}.values())
        counts |= {"charged": acts["charge"], "captured": acts["capture"], "voided": acts["void"]}
    if evidence.ledger_redemptions is not None:
        counts["redeemed"] = len(evidence.ledger_redemptions)
        counts |= booked(evidence) | moved(evidence)
    if evidence.hooked is not None:
        counts |= {
            "webhooks": len({(e["endpoint"], e["id"]) for e in evidence.hooked}),
            "webhooks refused": sum(
                e["status"] not in webhooks.ACCEPTED for e in evidence.hooked),
            "webhooks asked for again": sum(
                len(e["ids"]) for e in evidence.replays if e["changed"]),
        }
    if evidence.moving:
        counts |= subscribed(evidence)
    for word in ("cleared", "reset", "rotated"):
        counts[word] = sum(entry["act"] == word for entry in evidence.side)
    return counts


def booked(evidence):
    """What the ledger granted, took back, spent and reserved."""
    spendings = [row for row in evidence.ledger_credit_entries if row["kind"] == "spending"]
    kept = evidence.ledger_reservations
    open_ends = [row for row in kept if row["unit"] is None and row["released_at"] is None]
    counts = Counter(
        f"entries: {row['kind']}" for row in evidence.ledger_credit_entries
        if row["kind"] != "spending")
    return counts | {
        "granted": len(evidence.ledger_grants or []), "spendings": len(spendings),
        "revocations booked": sum(
            row.get("revoked_at") is not None for row in evidence.ledger_purchases),
        "reservations confirmed": sum(row["unit"] is not None for row in kept),
        "reservations released": sum(row["released_at"] is not None for row in kept),
        "reservations expired": len(open_ends),
        "proofs handed in": len(evidence.proofs),
    }


def moved(evidence):
    """What became of purchases and accounts of households, as was acknowledged."""
    outcomes = Counter(
        entry["answer"].get("outcome") for entry in evidence.of("restore")
        if entry["status"] == 200)
    return {
        "purchases moved": outcomes["transferred"], "purchases shared": outcomes["shared"],
        "purchases kept": outcomes["kept"],
        "moves refused": sum(e["status"] != 200 for e in evidence.of("restore", "merge")),
        "moves tried": sum(e["status"] == 200 for e in evidence.of("rehearse")),
        "accounts merged": len({
            e["account"] for e in evidence.of("merge") if e["status"] == 200}),
        "accounts erased": len({
            e["account"] for e in evidence.of("erase") if e["status"] == 200}),
        "accounts exported": sum(e["status"] == 200 for e in evidence.of("export")),
    }


def subscribed(evidence):
    """What happened to subscriptions and their money, and to clocks."""
    kinds = Counter(read(row)[0] for row in evidence.subscription_events)
    decided = Counter()
    for row in evidence.refund_events:
        kind, facts, *_ = read(row)
        decided[kind] += facts.get("grant", {}).get("kind") != "upgrade"
    jumps = [deed for deed in evidence.deeds if deed["verb"] == "jump"]
    return {
        "renewals": kinds["renewed"] + kinds["recovered"], "upgrades": kinds["upgraded"],
        "downgrades": kinds["choseNext"], "subscribed": kinds["subscribed"],
        "unpaid": kinds["failed"], "recovered": kinds["recovered"], "expired": kinds["expired"],
        "refunds": decided["granted"], "reversals": decided["reversed"],
        "jumps": sum(deed.get("status") == 200 for deed in jumps),
        "jumps cut off": sum("status" not in deed for deed in jumps),
        "jumps stopped": sum(
            deed["verb"] == "stop" and deed.get("status") == 200 for deed in evidence.deeds),
    }


def shortfalls(counts, seconds, absent=(), acts=(), engine="sqlite"):
    """Sentences about what a run of so many seconds had too little of. `absent`
    names events that its options rule out; `acts` names the faults due in it."""
    events = EVENTS | (ON_POSTGRES if engine == "postgres" else {})
    for name, (each_second, least) in events.items():
        if name in absent:
            continue
        wanted = max(least, int(each_second * seconds))
        found = counts.get(f"event: {name}", 0)
        if found < wanted:
            yield f"{name}: {found} in {seconds:.0f} s, at least {wanted} wanted"
    for name in acts:
        if not counts.get(f"disturbances: {name}"):
            yield f"the fault `{name}` was never played"
