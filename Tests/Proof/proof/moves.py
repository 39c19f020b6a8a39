# SPDX-License-Identifier: Apache-2.0
"""Rules about purchases that go from one account of the ledger to another, about accounts that
became part of another, and about accounts that were erased (`household.py`)."""

from collections import defaultdict

from .books import LEGS
from .facts import ERASED, HOME_DEEDS, grouped

#: Why each deed may be refused.
REFUSALS = {
    "claim": {"purchaseClaimed"},
    "restore": {"restoreRefused", "purchaseReserved", "creditsOwed", "sharesTooMany",
                "accountMerged"},
    "rehearse": {"restoreRefused", "purchaseReserved", "creditsOwed", "sharesTooMany"},
    "merge": {"mergeContradicts", "accountMerged", "accountReserved"},
    "erase": {"accountUnknown", "accountMerged"},
}
#: So many accounts share a purchase beside its own.
SHARES_MAX = 10
#: What answers name that an account has.
HELD = ("entitlements", "balances", "purchases", "events")


def deeds(evidence, verb):
    """What households asked for, each as often as it was sent."""
    return [entry for entry in evidence.asked if entry["verb"] == verb]


def erased(evidence):
    """The accounts whose erasure was acknowledged, with those that were part of them."""
    names = {
        entry["account"] for entry in evidence.of("erase")
        if entry["status"] == 200 or entry["answer"].get("code") == "accountUnknown"}
    return with_parts(names, merges_done(evidence))


def touched(evidence):
    """The accounts whose erasure was asked for, with all that may have been part of them."""
    merges = [(entry["account"], entry["asked"]["into"]) for entry in deeds(evidence, "merge")]
    return with_parts({entry["account"] for entry in deeds(evidence, "erase")}, merges)


def merges_done(evidence):
    return [
        (entry["account"], entry["asked"]["into"])
        for entry in evidence.of("merge") if entry["status"] == 200]


def with_parts(names, merges):
    """Accounts, and those that became part of them."""
    found, size = set(names), -1
    while len(found) > size:
        size = len(found)
        found |= {account for account, into in merges if into in found}
    return found


def sent_to(evidence):
    """The accounts to which each purchase was claimed or restored, and those of which they may
    have become part."""
    found = defaultdict(set)
    for entry in deeds(evidence, "claim") + deeds(evidence, "restore"):
        found[str(entry["transaction"])].add(entry["account"])
    merges = [(entry["asked"]["into"], entry["account"]) for entry in deeds(evidence, "merge")]
    return {number: with_parts(names, merges) for number, names in found.items()}


def heir(evidence, account):
    """The account that an account has become part of, or itself."""
    into = {row["account"]: row["into_account"] for row in evidence.ledger_merges}
    return into.get(account, account)


def moves_are_answered(evidence):
    """What households ask for is done, or refused for a reason that a rule has."""
    for entry in evidence.of(*HOME_DEEDS):
        code = entry["answer"].get("code")
        if entry["status"] != 200 and code not in REFUSALS[entry["verb"]]:
            yield f"the {entry['verb']} for {entry['account']} was refused: {code}"


def moves_take_what_they_give(evidence):
    """What a move of credits gives to one account it takes from another, and what was told of
    it is in the books."""
    moved = [row for row in evidence.ledger_credit_entries if row["kind"] == "transfer"]
    for (number, at, currency), rows in grouped(
        moved, "transaction_id", "recorded_at", "currency"
    ).items():
        for leg in LEGS:
            if total := sum(row[leg] for row in rows):
                yield f"the move of {number} at {at} changes the sum of {leg} by {total} {currency}"
    given = defaultdict(set)
    for row in moved:
        given[str(row["transaction_id"]), row["currency"]].add((row["account"], row["wallet"]))
    for entry in evidence.of("restore"):
        if entry["status"] != 200 or entry["answer"]["outcome"] != "transferred":
            continue
        number = str(entry["transaction"])
        for told in entry["answer"]["credits"]:
            ways = given[number, told["currency"]]
            if not any(
                amount == told["amount"] and (
                    account == entry["account"] or account.startswith(ERASED))
                for account, amount in ways
            ):
                yield f"{number} was told to give {told}, and the books have {sorted(ways)}"


def purchases_are_where_they_were_sent(evidence):
    """A household's purchase is in an account that it was claimed for or restored to, or one
    of which that became part. Once no request can be late it is where the last one was sent."""
    if evidence.ledger_grants is None:
        return
    targets, gone, last = sent_to(evidence), touched(evidence), {}
    for entry in evidence.of("claim", "restore"):
        is_done = entry["status"] == 200 and entry["answer"].get("outcome") not in (
            "kept", "shared")
        if is_done and entry.get("calm"):
            number = str(entry["transaction"])
            last[number] = max(last.get(number, (0, "")), (entry["asked_at"], entry["account"]))
    claimed = {
        str(entry["transaction"]) for entry in evidence.of("claim") if entry["status"] == 200}
    for row in evidence.ledger_purchases:
        number, account = str(row["transaction_id"]), row["account"]
        names = targets.get(number)
        if names is None:
            if account is not None and not account.isdigit():
                yield f"transaction {number} is in {account}, and was never sent there"
            continue
        if account is None:
            if number in claimed:
                yield f"transaction {number} was acknowledged to an account, and has none"
        elif account.startswith(ERASED):
            if not names & gone:
                yield f"transaction {number} is in an account that was not to be erased"
        elif account not in names:
            yield f"transaction {number} is in {account}, and was sent to {sorted(names)}"
        elif number in last and account != heir(evidence, last[number][1]):
            yield f"transaction {number} is in {account}, and not in {last[number][1]}"


def shares_are_what_was_asked_for(evidence):
    """An account shares a purchase if that was asked for, beside at most nine others, and never
    its own. A share that was acknowledged stays, unless the purchase is moved."""
    if evidence.ledger_grants is None:
        return
    targets, gone = sent_to(evidence), touched(evidence)
    shares = {(str(row["transaction_id"]), row["account"]) for row in evidence.ledger_shares}
    owners = {
        str(row["transaction_id"]): row["account"] for row in evidence.ledger_purchases}
    for number, account in sorted(shares):
        if account not in targets.get(number, ()):
            yield f"{account} shares {number}, and that was not asked for"
        if owners.get(number) == account:
            yield f"{account} shares its own purchase {number}"
    for (number,), rows in grouped(evidence.ledger_shares, "transaction_id").items():
        if len(rows) > SHARES_MAX:
            yield f"{len(rows)} accounts share {number}"
    may_move = {
        str(entry["transaction"]) for entry in evidence.of("restore")
        if entry["answer"].get("outcome") in ("transferred", "owned", "claimed")}
    answered = {str(entry["transaction"]): 0 for entry in deeds(evidence, "restore")}
    for entry in evidence.of("restore"):
        answered[str(entry["transaction"])] += 1
    for entry in deeds(evidence, "restore"):
        answered[str(entry["transaction"])] -= 1
    for entry in evidence.of("restore"):
        number, account = str(entry["transaction"]), entry["account"]
        is_shared = entry["status"] == 200 and entry["answer"]["outcome"] == "shared"
        if not is_shared or account in gone or number in may_move or answered[number]:
            continue
        now = heir(evidence, account)
        if (number, now) not in shares and owners.get(number) != now:
            yield f"{account} was told that it shares {number}, and does not"


def merged_accounts_are_empty(evidence):
    """An account that became part of another has nothing, and that one has all of it, of which
    its own books are judged."""
    if evidence.ledger_grants is None:
        return
    into = {row["account"]: row["into_account"] for row in evidence.ledger_merges}
    asked = {(entry["account"], entry["asked"]["into"]) for entry in deeds(evidence, "merge")}
    for account, other in into.items():
        if other in into:
            yield f"{account} is part of {other}, which is itself part of {into[other]}"
        if account not in with_parts({other}, asked):
            yield f"{account} is part of {other}, and that was not asked for"
    gone = touched(evidence)
    for account, other in merges_done(evidence):
        if account not in gone and account not in into:
            yield f"{account} was told to be part of {other}, and is not"
    for name in ("purchases", "grants", "shares"):
        for row in getattr(evidence, f"ledger_{name}"):
            if row["account"] in into:
                yield f"{row['account']} is empty, and the {name} have a row of it"
    for row in evidence.ledger_credit_books:
        if row["account"] in into and any(row[leg] for leg in LEGS):
            yield f"{row['account']} is empty, and its book of {row['currency']} is not"
    for entry in evidence.audited:
        if entry["account"] in into and has_something(entry):
            yield f"{entry['account']} is empty, and is told to have {entry['answer']}"


def has_something(entry):
    """Whether an answer names anything of an account's."""
    if entry["status"] != 200:
        return False
    return any(
        each.get("balance", 1) != 0
        for name in HELD for each in entry["answer"].get(name, []))


def erased_accounts_are_gone(evidence):
    """Once it is erased, no table names an account and no answer has anything of it. What it had
    is booked under an opaque name, of which nothing is told."""
    if evidence.ledger_grants is None:
        return
    names = erased(evidence)
    for entry in evidence.ledger_mentions:
        if entry["name"] in names:
            yield f"{entry['name']} was erased, and {entry['table']} has its name"
    for entry in evidence.of("ask after"):
        if entry["question"] == "export" and entry["status"] != 404:
            yield f"{entry['account']} was erased, and is exported: {entry['status']}"
        elif has_something(entry):
            yield f"{entry['account']} was erased, and has {entry['question']}"
    for entry in evidence.audited:
        if entry["account"].startswith(ERASED) and entry["status"] == 200:
            yield f"the {entry['verb']} of {entry['account']} are told"


def news_of_the_erased_is_deleted(evidence):
    """Of a notification about a purchase of an account that was erased the contents are
    deleted, whether it came before, meanwhile or later."""
    if evidence.ledger_grants is None:
        return
    opaque = {
        str(row["transaction_id"]) for row in evidence.ledger_purchases
        if (row["account"] or "").startswith(ERASED)}
    for entry in evidence.ledger_news:
        if entry["transaction_id"] in opaque:
            yield (
                f"notification {entry['notification_id']} about {entry['transaction_id']} of an "
                "erased account is kept")


def rehearsals_change_nothing(evidence):
    """Nothing is known of an account for which a restore was only tried."""
    known = {row["account"] for row in evidence.ledger_accounts}
    for entry in deeds(evidence, "rehearse"):
        if entry["account"] in known:
            yield f"a restore to {entry['account']} was only tried, and the ledger has it"


def units_are_in_one_account(evidence):
    """At the end a purchase can be redeemed by its own account alone."""
    if evidence.ledger_grants is None:
        return
    owners = {
        (str(row["transaction_id"]), row["environment"]): row["account"]
        for row in evidence.ledger_purchases}
    for entry in evidence.audited:
        if entry["verb"] != "unspent" or entry["status"] != 200:
            continue
        for told in entry["answer"]["purchases"]:
            owner = owners.get((told["transactionId"], entry["environment"]))
            if owner != entry["account"]:
                yield (
                    f"{entry['account']} may redeem {told['transactionId']}, which is "
                    f"{owner}'s")


RULES = [
    moves_are_answered, moves_take_what_they_give, purchases_are_where_they_were_sent,
    shares_are_what_was_asked_for, merged_accounts_are_empty, erased_accounts_are_gone,
    news_of_the_erased_is_deleted, rehearsals_change_nothing, units_are_in_one_account,
]
