# SPDX-License-Identifier: Apache-2.0
"""Gathers what the checker judges, from files and databases alone."""

import base64
import glob
import json
import os
import sqlite3
import subprocess

from . import journal
from .rules import Evidence

TABLES = ("customers", "purchases", "transactions", "outbox")


def gather(folder, database, has_processor, ledger=None):
    """`folder` holds the histories; `database` reads a table's rows by its name."""
    evidence = Evidence()
    evidence.realm = database("realm")[0]["id"]
    for name in TABLES:
        setattr(evidence, name, database(name))
    if has_processor:
        evidence.processor = journal.read(os.path.join(folder, "processor.log"))
    for path in sorted(glob.glob(os.path.join(folder, "device-*.log"))):
        add_history(evidence, journal.read(path))
    evidence.approvals = journal.read(os.path.join(folder, "guardian.log"))
    if ledger is not None:
        evidence.ledger_purchases = ledger("purchases")
        evidence.ledger_redemptions = ledger("redemptions")
    return evidence


def add_history(evidence, entries):
    asked = {}
    for entry in entries:
        if entry["act"] == "ask":
            asked[entry["call"]] = entry
            if entry["verb"] in ("purchase", "finish"):
                evidence.asked.append(entry)
        elif entry["act"] == "heard":
            add_answer(evidence, asked[entry["call"]], entry)


def add_answer(evidence, ask, heard):
    try:
        answer = json.loads(heard["answer"]) if heard["answer"] else {}
    except ValueError:
        answer = {}
    evidence.heard.append(
        {
            **ask,
            "asked_at": ask["at"],
            "at": heard["at"],
            "status": heard["status"],
            "answer": answer,
            "signed": payload(answer.get("signedTransaction")),
            "items": [
                {**item, "signed": payload(item["signedTransaction"])}
                for item in answer.get("transactions", [])
            ],
        }
    )


def payload(signed):
    """What a JWS says; signatures are judged by others."""
    if not signed:
        return None
    part = signed.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


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
