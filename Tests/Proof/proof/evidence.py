# SPDX-License-Identifier: Apache-2.0
"""Gathers what the checker judges, from files and databases alone."""

import glob
import json
import os
import sqlite3
import subprocess
import time

from . import journal
from .facts import HOME_DEEDS, Evidence
from .signatures import Trust, payload, webhook_problem

TABLES = (
    "customers", "purchases", "transactions", "outbox", "sessions", "errands", "due_work",
    "notifications", "subscriptions", "subscription_events", "renewal_charges", "refunds",
    "refund_events", "clocks", "jumps",
)
#: Tables of the registry whose rows say that something is under way.
MARKS = {"restores": "finished_at", "advances": "finished_at", "rotation_notes": None}


class Sources:
    """Where a round's evidence lies. `realms` holds a reader for each realm and
    cluster that is judged; a reader returns a table's rows by its name."""

    def __init__(self, folder, realms, registry, roots):
        self.folder, self.realms, self.registry, self.roots = folder, realms, registry, roots
        self.ledger = None
        #: By the address of the merchant's server for webhooks: its name, and the secret.
        self.webhooks = {}
        #: What the ledger grants, by product.
        self.grants = {}
        self.has_processor = self.has_receiver = False
        self.catalogue, self.plans = {}, {}
        #: By the names of realms: the days of grace, and those without a processor.
        self.grace_days, self.unprocessed = {}, set()
        self.seconds_stepped = 0
        #: How far ahead the stores' clocks are.
        self.seconds_ahead = 0


def gather(sources):
    """Everything that a round left."""
    read_at = time.time_ns() // 1_000_000 + sources.seconds_ahead * 1000
    evidence = Evidence(
        catalogue=sources.catalogue, plans=sources.plans, read_at=read_at,
        seconds_stepped=sources.seconds_stepped)
    trust = Trust(sources.roots)
    evidence.sessions = []
    for reader in sources.realms:
        add_realm(evidence, reader, sources)
    for table, end in MARKS.items():
        for row in sources.registry(table):
            if end is None or row[end] is None:
                evidence.under_way.append({"table": table, **row})
    add_logs(evidence, sources, trust)
    if sources.ledger is not None:
        add_ledger(evidence, sources)
    evidence.signatures = trust.count
    return evidence


#: Tables of the ledger that are judged, beside those of units.
LEDGER_TABLES = (
    "accounts", "purchases", "terms", "renewals", "grants", "credit_books", "credit_entries",
    "shares")
#: Tables in which an account may be named.
NAMING_TABLES = (
    "accounts", "purchases", "redemptions", "grants", "credit_books", "credit_entries", "shares",
    "account_merges", "proofs_waiting", "audit", "webhooks_out")
#: What is left of the contents of a notification about an erased account.
REDACTED = "erased"
#: Requests of devices that are judged even without an answer.
JUDGED = ("purchase", "finish", "reserve", "spend", "spend otherwise", *HOME_DEEDS)


def add_ledger(evidence, sources):
    """The ledger's rows, and what it was told and answered."""
    for table in LEDGER_TABLES:
        setattr(evidence, f"ledger_{table}", sources.ledger(table))
    kept = sources.ledger("redemptions")
    evidence.ledger_redemptions = [row for row in kept if row["unit"] is not None]
    evidence.ledger_reservations = [row for row in kept if row["reserved_at"] is not None]
    evidence.grants = sources.grants
    handed = journal.read(os.path.join(sources.folder, "courier.log"))
    heard = {entry["call"]: entry for entry in handed if entry["act"] == "heard"}
    for entry in handed:
        if entry["act"] == "ask":
            add_handed_on(evidence, entry, heard.get(entry["call"], {}))
    evidence.audited = journal.read(os.path.join(sources.folder, "auditor.log"))
    add_accounts(evidence, sources.ledger)
    if sources.webhooks:
        add_webhooks(evidence, sources)


def add_accounts(evidence, reader):
    """What became of accounts, and where those that were to be erased are named."""
    evidence.ledger_merges = reader("account_merges")
    for row in reader("notifications_in"):
        if row["payload"] != REDACTED:
            inner = (payload(row["payload"]) or {}).get("data", {}).get("signedTransactionInfo")
            evidence.ledger_news.append({
                "notification_id": row["notification_id"],
                "transaction_id": (payload(inner) or {}).get("transactionId"),
            })
    names = {entry["account"] for entry in evidence.asked if entry["verb"] in ("erase", "merge")}
    for table in NAMING_TABLES if names else ():
        text = json.dumps(reader(table))
        evidence.ledger_mentions += [
            {"table": table, "name": name} for name in sorted(names) if name in text]


def add_webhooks(evidence, sources):
    """The ledger's messages, what came of them, and what was asked for again."""
    for row in sources.ledger("webhooks_out"):
        name, _ = sources.webhooks[row["url"]]
        evidence.ledger_webhooks.append(
            {**row, "endpoint": name, "told": json.loads(row["body"])})
    secrets = dict(sources.webhooks.values())
    entries = journal.read(os.path.join(sources.folder, "hooked.log"))
    answers = {entry["came"]: entry for entry in entries if entry["act"] == "answered"}
    evidence.hooked = [
        {
            "endpoint": entry["endpoint"], "id": entry["headers"]["webhook-id"],
            "timestamp": float(entry["headers"]["webhook-timestamp"] or 0),
            "body": entry["body"], "told": json.loads(entry["body"]), "at": entry["at"],
            "problem": webhook_problem(
                secrets[entry["endpoint"]], entry["headers"], entry["body"]),
            "wall": entry["wall"], "status": answers.get(entry["at"], {}).get("status"),
            "answered_at": answers.get(entry["at"], {}).get("at"),
        }
        for entry in entries if entry["act"] == "came"
    ]
    asked = journal.read(os.path.join(sources.folder, "replayer.log"))
    changed = {entry["call"]: entry["changed"] for entry in asked if entry["act"] == "heard"}
    evidence.replays = [
        {"endpoint": sources.webhooks[entry["url"]][0], "ids": entry["ids"],
         "asked_at": entry["at"], "changed": changed.get(entry["call"])}
        for entry in asked if entry["act"] == "ask"
    ]


def add_handed_on(evidence, ask, heard):
    """A notification that was handed to the ledger: what it proves."""
    facts = {
        "asked_at": ask["at"], "at": heard.get("at"), "status": heard.get("status"),
        "answer": heard.get("answer"), "account": None, "road": "notification",
    }
    data = (payload(ask["signed"]) or {}).get("data", {})
    if transaction := payload(data.get("signedTransactionInfo")):
        evidence.proofs.append(facts | {"signed": transaction})
    if renewal := payload(data.get("signedRenewalInfo")):
        evidence.renewal_proofs.append(facts | {"signed": renewal})


def add_taken(evidence, entries):
    """The signed transactions that devices handed in, with the answers."""
    heard = {entry["call"]: entry for entry in entries if entry["act"] == "heard"}
    for ask in entries:
        if ask["act"] != "ask":
            continue
        answer = heard.get(ask["call"], {})
        # A household's may be refused, and its purchases change hands.
        is_home = ask["verb"] in ("claim", "restore", "show") and answer.get("status") in (None, 200)
        if ask["verb"] == "take" or is_home:
            evidence.proofs.append({
                "asked_at": ask["at"], "at": answer.get("at"), "status": answer.get("status"),
                "answer": json.loads(answer.get("answer") or "{}"), "road": "device",
                "account": None if is_home else ask["asked"]["account"],
                "signed": payload(ask["asked"]["signedTransaction"]),
            })


def add_realm(evidence, reader, sources):
    """A realm's rows, each with its realm's id; what is copied to every cluster counts once."""
    (realm,) = reader("realm")
    evidence.realm = evidence.realm or realm["id"]
    evidence.realm_names[realm["id"]] = realm["name"]
    if realm["environment"] == "Production":
        evidence.unannounced.add(realm["id"])
    if realm["name"] in sources.unprocessed:
        evidence.unprocessed.add(realm["id"])
    if realm["name"] in sources.grace_days:
        evidence.moving.add(realm["id"])
        evidence.grace_days[realm["id"]] = sources.grace_days[realm["name"]]
    known = {row["customer_id"] for row in evidence.customers}
    for table in TABLES:
        rows = [{**row, "realm": realm["id"]} for row in reader(table)]
        if table == "customers":
            rows = [row for row in rows if row["customer_id"] not in known]
        getattr(evidence, table).extend(rows)
    evidence.purchases = [settled(row, evidence.purchases) for row in evidence.purchases]


def settled(row, purchases):
    """A purchase, or one that joined another in the state of that one."""
    if row["state"] != "joined":
        return row
    key = ("customer_id", "bundle_id")
    first = [
        other for other in purchases
        if other["purchase_id"] == row["joins"] and all(other[name] == row[name] for name in key)
    ]
    return row | {name: first[0][name] for name in ("state", "refusal", "transaction_id")}


def add_logs(evidence, sources, trust):
    """The histories of all programs that took part."""
    folder = sources.folder
    if sources.has_processor:
        evidence.processor = journal.read(os.path.join(folder, "processor.log"))
    for path in sorted(glob.glob(os.path.join(folder, "device-*.log"))):
        entries = journal.read(path)
        add_history(evidence, entries, trust)
        add_taken(evidence, entries)
    evidence.approvals = journal.read(os.path.join(folder, "guardian.log"))
    evidence.forks = journal.read(os.path.join(folder, "forks.log"))
    evidence.side = journal.read(os.path.join(folder, "side.log"))
    for path in sorted(glob.glob(os.path.join(folder, "kit-*.log"))):
        evidence.kits += journal.read(path)
    evidence.notifications_failed = failed_notifications(os.path.join(folder, "errors.txt"))
    for path in sorted(
        glob.glob(os.path.join(folder, "clerk-*.log"))
        + glob.glob(os.path.join(folder, "jumper-*.log"))
    ):
        add_deeds(evidence, journal.read(path))
    add_orders(evidence)
    if sources.has_receiver:
        evidence.received = []
        for entry in journal.read(os.path.join(folder, "received.log")):
            add_notification(evidence, entry, trust)


def failed_notifications(path):
    """How many notifications met a fault of the store's own, by its log."""
    if not os.path.exists(path):
        return 0
    with open(path, encoding="utf-8", errors="replace") as file:
        return sum(
            "an errand failed" in line and "kind=notification" in line for line in file)


def add_deeds(evidence, entries):
    """What was asked at the doors of subscribers' sandboxes, and answered."""
    asked = {entry["call"]: entry for entry in entries if entry["act"] == "ask"}
    heard = {entry["call"]: entry for entry in entries if entry["act"] == "heard"}
    unsent = {entry["call"] for entry in entries if entry["act"] == "unsent"}
    for call, ask in asked.items():
        if call in unsent:
            continue
        deed = {**ask, "asked_at": ask["at"], "realm": ask["path"].split("/")[2]}
        if answer := heard.get(call):
            deed |= {name: answer[name] for name in ("at", "status", "answer")}
        evidence.deeds.append(deed)


def add_orders(evidence):
    """What apps on PurchaseKit were ordered to buy, under the purchase ids that
    their devices made."""
    orders = {entry["tag"]: entry for entry in evidence.kits if entry["word"] == "adding"}
    for row in evidence.purchases:
        if order := orders.get(row["application_username"]):
            evidence.asked.append({
                "verb": "order", "customer": row["customer_id"], "purchase": row["purchase_id"],
                "asked": {"productId": order["product"], "quantity": order["quantity"]},
            })


def add_notification(evidence, entry, trust):
    """A notification that the proof's own server received."""
    signed = entry["payload"]
    told = payload(signed) or {}
    inner = told.get("data", {}).get("signedTransactionInfo")
    for text in (signed, inner):
        if text:
            check(evidence, trust, text, f"notification {told.get('notificationUUID')}")
    evidence.received.append({
        "uuid": told.get("notificationUUID"), "status": entry["status"], "digest": signed,
        "payload": told, "signed": payload(inner), "at": entry["at"],
    })


def check(evidence, trust, signed, where):
    """Notes a signature that does not verify."""
    if problem := trust.problem(signed):
        evidence.forgeries.append({"where": where, "problem": problem})


def add_history(evidence, entries, trust):
    asked = {}
    for entry in entries:
        if entry["act"] == "ask":
            asked[entry["call"]] = entry
            if entry["verb"] in JUDGED:
                evidence.asked.append(entry)
        elif entry["act"] == "heard":
            ask = asked[entry["call"]]
            if ask["verb"] == "receipt" and entry["status"] == 200:
                add_receipt(evidence, ask, entry, trust)
            else:
                add_answer(evidence, ask, entry, trust)


def add_receipt(evidence, ask, heard, trust):
    """The last receipt that a device fetched counts."""
    purchases, problem = trust.receipt(heard["answer"])
    evidence.receipts = [
        receipt for receipt in evidence.receipts or [] if receipt["device"] != ask["device"]
    ] + [{
        "customer": ask["customer"], "bundle": ask["bundle"], "device": ask["device"],
        "problem": problem, "purchases": purchases,
    }]


def add_answer(evidence, ask, heard, trust):
    try:
        answer = json.loads(heard["answer"]) if heard["answer"] else {}
    except ValueError:
        answer = {}
    signed = answer.get("signedTransaction")
    items = answer.get("transactions", [])
    for text in [signed, *(item["signedTransaction"] for item in items)]:
        if text:
            check(evidence, trust, text, f"an answer to {ask['device']}")
    evidence.heard.append(
        {
            **ask,
            "asked_at": ask["at"],
            "at": heard["at"],
            "status": heard["status"],
            "answer": answer,
            "signed": payload(signed),
            "items": [
                {**item, "signed": payload(item["signedTransaction"])} for item in items
            ],
        }
    )


def sqlite_reader(path):
    """Reads a closed SQLite database, its log included."""

    def read(table):
        connection = sqlite3.connect(path)
        try:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(f"SELECT * FROM {table}")]
        finally:
            connection.close()

    return read


def postgres_reader(conninfo, schema=None):
    """Reads a PostgreSQL database through `psql`, a row a line."""

    def read(table):
        name = f'"{schema}".{table}' if schema else table
        outcome = subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-d", conninfo, "-c",
             f"SELECT row_to_json(t) FROM {name} t"],
            check=True, capture_output=True, text=True, timeout=120,
        )
        return [json.loads(line) for line in outcome.stdout.splitlines() if line]

    return read
