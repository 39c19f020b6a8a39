# SPDX-License-Identifier: Apache-2.0
"""Reads from the ledger at the end, when nothing changes any more, what each account may
use, spend and redeem."""

import json
import os
import time
import urllib.parse

from .actor import exchange
from .journal import Journal

ENVIRONMENTS = ("Sandbox", "Production")


def audit(folder, ledger, key, accounts, seconds_ahead):
    """The answers are in `auditor.log`, each with the ledger's time before and after it."""
    log = Journal(os.path.join(folder, "auditor.log"))
    for account in accounts:
        for environment in ENVIRONMENTS:
            for verb in ("entitlements", "balances", "unspent"):
                name = urllib.parse.quote(account, safe="")
                path = f"/ledger/v1/accounts/{name}/{verb}?environment={environment}"
                asked = wall(seconds_ahead)
                status, text = exchange(ledger.port, "GET", path, None, key)
                log.write(
                    act="audited", verb=verb, account=account, environment=environment,
                    status=status, answer=json.loads(text), between=[asked, wall(seconds_ahead)])
    log.close()


def wall(seconds_ahead):
    """The time that the ledger's process sees."""
    return time.time_ns() // 1_000_000 + seconds_ahead * 1000
