# SPDX-License-Identifier: Apache-2.0
"""Rules about the ledger's grants, credits and reservations: what was proven, what follows
from that, and what was acknowledged to devices."""

from collections import Counter, defaultdict

from .entitled import FOREVER, reach, spans_of
from .facts import ERASED, grouped, holder, is_home

LEGS = ("wallet", "issued", "spent", "written_off")
#: Why a proof of a purchase may be refused: production takes none from the future.
EARLY = "proofInvalid"


def fate(signed):
    """What may change about a purchase, as it was signed."""
    return (
        signed.get("revocationDate"), signed.get("revocationReason"), signed.get("expiresDate"),
        bool(signed.get("isUpgraded")))


def kept_fate(row, terms):
    return (
        row["revoked_at"], row["revocation_reason"], terms and terms["expires_at"],
        bool(terms and terms["is_upgraded"]))


def terms_of(evidence):
    return {row["transaction_id"]: row for row in evidence.ledger_terms}


def ledger_holds_what_was_proven(evidence):
    """A purchase whose proof was acknowledged is booked, for the account that it was
    handed in for. Of what was signed about it the last counts, in whatever order it came."""
    if evidence.ledger_grants is None:
        return
    rows = {row["transaction_id"]: row for row in evidence.ledger_purchases}
    terms, known = terms_of(evidence), grouped_by_number(evidence.proofs, "transactionId")
    for number, proofs in known.items():
        taken = [proof for proof in proofs if proof["status"] == 200]
        row = rows.get(number)
        if row is None:
            if taken:
                yield f"transaction {number} was acknowledged and is not booked"
            continue
        yield from is_newest(
            f"transaction {number}", row["signed_at"], kept_fate(row, terms.get(number)), proofs,
            fate)
        for account in {proof["account"] for proof in taken} - {None, row["account"]}:
            yield f"transaction {number} was acknowledged to {account}, and is {row['account']}'s"
    for number in rows.keys() - known.keys():
        yield f"transaction {number} was booked without a proof"
    renewals = grouped_by_number(evidence.renewal_proofs, "originalTransactionId")
    for row in evidence.ledger_renewals:
        number = row["original_transaction_id"]
        yield from is_newest(
            f"the renewal of {number}", row["signed_at"], row["grace_until"],
            renewals.get(number, []), lambda signed: signed.get("gracePeriodExpiresDate"))


def grouped_by_number(proofs, field):
    groups = defaultdict(list)
    for proof in proofs:
        groups[proof["signed"][field]].append(proof)
    return groups


def is_newest(name, signed_at, kept, proofs, read):
    """What is kept was signed no earlier than anything that was acknowledged, and is what
    was signed then."""
    newest = max((p["signed"]["signedDate"] for p in proofs if p["status"] == 200), default=None)
    if newest is not None and signed_at < newest:
        yield f"{name} is kept as of {signed_at}, and {newest} was acknowledged"
    ways = [read(p["signed"]) for p in proofs if p["signed"]["signedDate"] == signed_at]
    if kept not in ways:
        yield f"{name} is kept as {kept}, and what was signed at {signed_at} is {ways}"


def proofs_are_accepted(evidence):
    """No genuine proof is refused for good."""
    for proof in [*evidence.proofs, *evidence.renewal_proofs]:
        if proof["status"] in (None, 200) or proof["status"] == 429:
            continue
        signed, code = proof["signed"], proof["answer"].get("code")
        if code != EARLY or signed.get("environment") != "Production":
            number = signed.get("transactionId")
            yield f"the {proof['road']}'s proof of {number} was refused: {code}"


def ledger_agrees_with_the_store(evidence):
    """Whatever was refunded, reversed, extended or upgraded: once devices have read to the
    end, the ledger has the store's last word. A jump that is stopped sets the store's clock
    back, and what is signed after it has an earlier date, so that such realms are not judged."""
    if evidence.ledger_grants is None:
        return
    stopped = {
        deed["realm"] for deed in evidence.deeds
        if deed["verb"] == "stop" and deed.get("status", 200) == 200}
    set_back = {number for number, name in evidence.realm_names.items() if name in stopped}
    terms = terms_of(evidence)
    booked = {row["transaction_id"]: row for row in evidence.ledger_purchases}
    for sale in evidence.transactions:
        number = str(sale["transaction_id"])
        row = booked.get(number)
        if row is None:
            if sale.get("realm") in evidence.moving:
                yield f"transaction {number} was read and is not in the ledger"
            continue
        if sale.get("realm") in set_back or row["account"] is None:
            continue
        own = terms.get(number)
        pairs = {
            "revocation": (row["revoked_at"], sale["revoked_at"]),
            "end": (own and own["expires_at"], sale.get("expires_at")),
            "upgrade": (bool(own and own["is_upgraded"]), bool(sale["is_upgraded"])),
        }
        for name, (kept, wanted) in pairs.items():
            if kept != wanted:
                yield f"transaction {number} has the {name} {kept!r} instead of {wanted!r}"


def grants_are_those_of_the_products(evidence):
    """A purchase of an account has granted what its product grants, once, and nothing else."""
    if evidence.ledger_grants is None:
        return
    grants = {
        (row["transaction_id"], row["kind"], row["name"]): row for row in evidence.ledger_grants}
    if len(grants) < len(evidence.ledger_grants):
        yield "a grant stands twice in the ledger"
    for row in evidence.ledger_purchases:
        number = row["transaction_id"]
        wanted = evidence.grants.get(row["product_id"], []) if row["account"] else []
        for rule in wanted:
            grant = grants.pop((number, rule["kind"], rule["name"]), None)
            if grant is None:
                yield f"transaction {number} of {row['product_id']} did not grant {rule['name']}"
                continue
            yield from is_granted(number, row, rule, grant)
    for number, kind, name in grants:
        yield f"transaction {number} granted {kind} {name} without a rule"


def is_granted(number, row, rule, grant):
    """A grant has its purchase's facts, and is reversed as long as that is revoked."""
    is_credits = rule["kind"] == "credits"
    pairs = {
        "account": (grant["account"], row["account"]),
        "date": (grant["purchased_at"], row["purchased_at"]),
        "amount": (grant["amount"], rule["amount"] * row["quantity"] if is_credits else 0),
        "reversal": (bool(grant["is_reversed"]), is_credits and row["revoked_at"] is not None),
        "policy": (grant["on_reversal"], rule.get("onReversal", "remove")),
    }
    for name, (kept, wanted) in pairs.items():
        if kept != wanted:
            yield f"the grant {rule['name']} of {number} has the {name} {kept!r}, not {wanted!r}"


def credits_add_up(evidence):
    """The entries of a book have no gap, each comes to zero, and together they are the book.
    It is what grants, their reversals and spendings come to. It is below zero only by a debt."""
    if evidence.ledger_grants is None:
        return
    place = ("account", "environment", "currency")
    entries = grouped(evidence.ledger_credit_entries, *place)
    lots = grouped(
        [{**row, "currency": row["name"]} for row in evidence.ledger_grants
         if row["kind"] == "credits"], *place)
    books = {tuple(row[name] for name in place): row for row in evidence.ledger_credit_books}
    for key in entries.keys() | lots.keys() - books.keys():
        if key not in books:
            yield f"{key} has no book"
    for key, book in books.items():
        own = sorted(entries.get(key, []), key=lambda row: row["number"])
        yield from adds_up(key, book, own)
        yield from follows_from_lots(key, book, own, lots.get(key, []))


def adds_up(key, book, entries):
    if [row["number"] for row in entries] != list(range(1, book["entries"] + 1)):
        yield f"the book {key} of {book['entries']} entries has {len(entries)}"
    wallet = 0
    for row in [*entries, book]:
        if sum(row[leg] for leg in LEGS) != 0:
            yield f"the legs of {key} do not come to zero"
    for row in entries:
        wallet += row["wallet"]
        if row["balance"] != wallet:
            yield f"entry {row['number']} of {key} has the balance {row['balance']}, not {wallet}"
    for leg in LEGS:
        found = sum(row[leg] for row in entries)
        if found != book[leg]:
            yield f"the book {key} has {book[leg]} {leg}, and its entries {found}"


def follows_from_lots(key, book, entries, lots):
    """The same from the grants: each gives its amount, and takes back by its policy. What was
    spent of one that changed hands went with it."""
    spent = sum(row["spent"] for row in entries if row["kind"] in ("spending", "transfer"))
    consumed = sum(lot["consumed"] for lot in lots)
    if consumed != spent:
        yield f"of {key} {spent} were spent, and {consumed} taken from purchases"
    wallet = sum(lot["amount"] for lot in lots) - spent
    issued = 0
    for lot in lots:
        issued -= 0 if lot["is_reversed"] else lot["amount"]
        if lot["is_reversed"]:
            wallet -= {
                "remove": lot["amount"] - lot["consumed"], "debt": lot["amount"], "keep": 0,
            }[lot["on_reversal"]]
    if (book["wallet"], book["issued"]) != (wallet, issued):
        yield (
            f"the book {key} has {book['wallet']} of {-book['issued']} granted, and its "
            f"purchases come to {wallet} of {-issued}")
    has_debt = any(lot["is_reversed"] and lot["on_reversal"] == "debt" for lot in lots)
    if book["wallet"] < 0 and not has_debt:
        yield f"the book {key} is at {book['wallet']} without a debt"


def spendings_are_done_once(evidence):
    """A key spends once, what was asked for with it. An acknowledged spending is in the
    book, as it was told each time; nothing else is."""
    if evidence.ledger_grants is None:
        return
    asked = grouped(
        [{"key": entry["idempotency_key"], "account": spender(entry),
          "amount": entry["asked"]["amount"]}
         for entry in evidence.asked if entry["verb"] in ("spend", "spend otherwise")],
        "account", "key")
    kept = grouped(
        [{**row, "account": holder(row["account"])} for row in evidence.ledger_credit_entries
         if row["kind"] == "spending"],
        "account", "idempotency_key")
    for (account, key), rows in kept.items():
        if len(rows) > 1:
            yield f"the spending {key} of {account} was done {len(rows)} times"
        if rows[0]["spent"] not in {entry["amount"] for entry in asked.get((account, key), [])}:
            yield f"the spending {key} of {account} took {rows[0]['spent']} unasked"
    for entry in evidence.of("spend", "spend otherwise"):
        account, key = spender(entry), entry["idempotency_key"]
        answer, rows = entry["answer"], kept.get((account, key), [])
        if entry["status"] == 200:
            told = (answer["amount"], answer["balance"], answer["entry"], answer["spentDate"])
            ways = [
                (row["spent"], row["balance"], row["number"], row["recorded_at"]) for row in rows]
            if told not in ways or answer["amount"] != entry["asked"]["amount"]:
                yield f"the spending {key} of {account} was told {told}, and is {ways}"
        elif answer.get("code") not in ("creditsMissing", "spendingContradicts"):
            yield f"the spending {key} of {account} was refused: {answer.get('code')}"


def spender(entry):
    """Whose credits a request spends."""
    return holder(entry.get("account") or str(entry["customer"]))


def entitlements_are_what_was_proven(evidence):
    """At the end the ledger answers what follows from the purchases that an account has or
    shares, by the checker's own reading of the rules; and the balances that its books have."""
    if evidence.ledger_grants is None:
        return
    terms = terms_of(evidence)
    graces = {
        row["original_transaction_id"]: row["grace_until"] for row in evidence.ledger_renewals}
    facts = [
        {**row, "terms": terms.get(row["transaction_id"]),
         "grace_until": graces.get(row["original_transaction_id"])}
        for row in evidence.ledger_purchases]
    known = {(row["transaction_id"], row["environment"]): row for row in facts}
    shared = [
        {**known[row["transaction_id"], row["environment"]], "account": row["account"]}
        for row in evidence.ledger_shares]
    owned = grouped(facts + shared, "account", "environment")
    periods = grouped(facts, "original_transaction_id")
    books = grouped(evidence.ledger_credit_books, "account", "environment")
    for entry in evidence.audited:
        key = (entry["account"], entry["environment"])
        if entry["account"].startswith(ERASED) or entry["verb"] == "unspent":
            continue
        if entry["status"] != 200:
            yield f"the {entry['verb']} of {key} were refused: {entry['status']}"
        elif entry["verb"] == "balances":
            told = {each["currency"]: each["balance"] for each in entry["answer"]["balances"]}
            wanted = {row["currency"]: row["wallet"] for row in books.get(key, [])}
            if told != wanted:
                yield f"the balances of {key} are told as {told} instead of {wanted}"
        else:
            yield from told_as_proven(
                key, entry, owned.get(key, []), evidence.grants, periods)


def told_as_proven(key, entry, facts, rules, periods):
    told = {
        each["name"]: each.get("endDate", FOREVER) if each["isActive"] else None
        for each in entry["answer"]["entitlements"]
    }
    granting = [each for each in facts if rules.get(each["product_id"], [{}])[0].get("lasting")]
    newest = max((each["signed_at"] for each in granting), default=0)
    if key[1] == "Production":
        newest = 0
    spans = spans_of(granting, rules, periods)
    ways = [
        {name: reach(each, max(now, newest)) for name, each in spans.items()}
        for now in entry["between"]
    ]
    for name in told.keys() | spans.keys():
        wanted = [way.get(name, "nothing") for way in ways]
        if told.get(name, "nothing") not in wanted:
            yield (
                f"{name} of {key} lasts until {told.get(name, 'nothing')}, and its purchases "
                f"until {wanted}")


def answers_have_what_was_acknowledged(evidence):
    """Once a purchase is acknowledged to an account, every answer names its entitlement."""
    taken = defaultdict(list)
    for proof in evidence.proofs:
        if proof["status"] == 200 and proof["account"] is not None:
            for grant in evidence.grants.get(proof["signed"]["productId"], []):
                if grant["kind"] == "entitlement":
                    taken[proof["account"]].append((proof["at"], grant["name"]))
    for entry in evidence.of("entitlements"):
        if entry["status"] != 200:
            continue
        names = {each["name"] for each in entry["answer"]["entitlements"]}
        account = str(entry["customer"])
        for at, name in taken[account]:
            if at < entry["asked_at"] and name not in names:
                yield f"{account} was answered without {name}, which was acknowledged before"


def reservations_end_one_way(evidence):
    """A reservation that was acknowledged is there, with the seconds that were asked for. It
    was confirmed or released, never both, and what was told of its end stays so."""
    if evidence.ledger_grants is None:
        return
    place = ("account", "idempotency_key")
    kept = {tuple(row[name] for name in place): row for row in evidence.ledger_reservations}
    asked = grouped([e for e in evidence.asked if e["verb"] == "reserve"], "idempotency_key")
    ends = defaultdict(set)
    for entry in evidence.of("reserve", "confirm", "release"):
        if entry["status"] != 200:
            continue
        key = (str(entry["customer"]), entry["idempotency_key"])
        row = kept.get(key)
        if row is None:
            yield f"the reservation {key} was acknowledged and is lost"
            continue
        if entry["verb"] != "reserve":
            ends[key].add(entry["verb"])
        if str(row["transaction_id"]) != str(entry["transaction"]):
            yield f"the reservation {key} is of {row['transaction_id']}"
    for key, row in kept.items():
        if is_home(row["account"]):
            continue
        is_spent, is_released = row["unit"] is not None, row["released_at"] is not None
        if is_spent and is_released:
            yield f"the reservation {key} was confirmed and released"
        if "confirm" in ends[key] and not is_spent:
            yield f"the reservation {key} was told confirmed, and is not"
        if "release" in ends[key] and not is_released:
            yield f"the reservation {key} was told released, and is not"
        seconds = {entry["asked"]["seconds"] * 1000 for entry in asked.get(key[1:], [])}
        if row["expires_at"] - row["reserved_at"] not in seconds:
            yield f"the reservation {key} lasts {row['expires_at'] - row['reserved_at']} ms"


def units_are_promised_once(evidence):
    """At no instant are more units spent and held than were bought. Dates say so, unless a
    clock was stepped."""
    if evidence.ledger_grants is None or evidence.seconds_stepped:
        return
    units = {row["transaction_id"]: row["quantity"] for row in evidence.ledger_purchases}
    known = {
        (row["account"], row["idempotency_key"]): row
        for row in [*evidence.ledger_redemptions, *evidence.ledger_reservations]
    }
    for (number,), rows in grouped(known.values(), "transaction_id").items():
        for at in [row["reserved_at"] for row in rows if row["reserved_at"] is not None]:
            taken = sum(is_taken(row, at) for row in rows)
            if taken > units.get(number, 0):
                yield f"of transaction {number} {taken} units were promised at {at}"


def is_taken(row, at):
    """Whether a unit was spent or held at an instant."""
    if row["redeemed_at"] is not None and row["redeemed_at"] <= at:
        return True
    if row["reserved_at"] is None or not row["reserved_at"] <= at < row["expires_at"]:
        return False
    return row["released_at"] is None or at < row["released_at"]


def what_was_taken_back_is_not_spent(evidence):
    """After the ledger acknowledged that a purchase is revoked, none of its units is spent
    or reserved under a new key, unless it was told that the revocation was taken back."""
    gone, back = {}, set()
    for proof in evidence.proofs:
        signed = proof["signed"]
        if signed.get("revocationDate") is None:
            back.add((signed["transactionId"], signed["signedDate"]))
        elif proof["status"] == 200:
            known = gone.setdefault(signed["transactionId"], (proof["at"], signed["signedDate"]))
            gone[signed["transactionId"]] = min(known, (proof["at"], signed["signedDate"]))
    newest = Counter()
    for number, signed_at in back:
        newest[number] = max(newest[number], signed_at)
    begun = {}
    for entry in evidence.of("redeem", "overspend", "reserve"):
        key = (entry["customer"], entry["idempotency_key"])
        begun[key] = min(begun.get(key, entry["asked_at"]), entry["asked_at"])
    for entry in evidence.of("redeem", "overspend", "reserve"):
        number = str(entry["transaction"])
        if entry["status"] != 200 or number not in gone:
            continue
        at, signed_at = gone[number]
        if newest[number] >= signed_at:
            continue
        if begun[entry["customer"], entry["idempotency_key"]] > at:
            yield f"transaction {number} was revoked, and a unit was spent afterwards"


RULES = [
    ledger_holds_what_was_proven, proofs_are_accepted, ledger_agrees_with_the_store,
    grants_are_those_of_the_products, credits_add_up, spendings_are_done_once,
    entitlements_are_what_was_proven, answers_have_what_was_acknowledged,
    reservations_end_one_way, units_are_promised_once, what_was_taken_back_is_not_spent,
]
