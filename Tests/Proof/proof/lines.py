# SPDX-License-Identifier: Apache-2.0
"""Rules about customers' lines, about what is left over, and about the ledger's accounts."""

from collections import Counter

from .facts import grouped, is_home
from .fold import read


def revisions_have_no_gaps(evidence):
    """Every step of a customer's line is a commit whose effect is there."""
    if evidence.sessions is None:
        return
    steps, traceless = Counter(), Counter()
    for row in evidence.sessions:
        steps[row["customer_id"]] += 1
    for row in evidence.purchases:
        steps[row["customer_id"]] += steps_of(row)
    for row in evidence.transactions:
        steps[row["customer_id"]] += row["finished_at"] is not None
    add_events(evidence, steps)
    add_renewals(evidence, steps, traceless)
    for row in evidence.customers:
        # One step is the customer's own, when the row was made.
        wanted = 1 + steps[row["customer_id"]]
        most = wanted + traceless[row["customer_id"]]
        if not wanted <= row["revision"] <= most:
            yield (
                f"the line of {row['customer_id']} is at {row['revision']}, and what there is "
                f"accounts for {wanted}" + (f" to {most}" if most > wanted else "")
            )


def add_events(evidence, steps):
    """The commits that wrote events of subscriptions and refunds. A customer's purchase
    wrote some of them, and is counted as such."""
    bought, others = set(), set()
    for row in evidence.subscription_events:
        place = (row["customer_id"], row["revision"])
        (bought if row["cause"] == "customer" else others).add(place)
    for row in evidence.refund_events:
        kind, facts, *_ = read(row)
        is_upgrade = kind == "granted" and facts["grant"]["kind"] == "upgrade"
        (bought if is_upgrade else others).add((row["customer_id"], row["revision"]))
    for customer, _ in others - bought:
        steps[customer] += 1
    for row in evidence.refunds:
        steps[row["customer_id"]] += (row["returned_at"] is not None) + (
            row["taken_back_at"] is not None)


def add_renewals(evidence, steps, traceless):
    """The commits that asked for renewals' charges, and wrote what became of them. A refusal
    may have written an event or none, and so may a test's order."""
    for row in evidence.renewal_charges:
        customer = row["customer_id"]
        steps[customer] += (
            1 + (row["state"] == "dropped") + (row["captured_at"] is not None)
            + (row["voided_at"] is not None)
        )
        traceless[customer] += row["state"] == "declined"
    owners = {str(row["subscription_id"]): row["customer_id"] for row in evidence.subscriptions}
    for deed in evidence.deeds:
        # Each may have come twice, and been committed without a change.
        if deed["verb"] in ("renewals", "billing"):
            traceless[owners.get(deed["subscription"])] += 2


def steps_of(row):
    """The commits of one purchase: asked, approved, settled, captured, voided. One that
    joined another was asked only."""
    if row.get("joins") is not None:
        return 1
    return (
        1
        + (row["waiting_for"] is not None and row["approval"] is not None)
        + (row["processor_reference"] is not None or row["refusal"] == "declined")
        + (row["captured_at"] is not None)
        + (row["voided_at"] is not None)
    )


#: Servers look for work whose lease has ended this often, and then have to do it.
LOOK_MILLISECONDS = 20_000


def nothing_is_left_over(evidence):
    """Once all is calm no errand is due, nothing waits to fall due, and nothing
    is under way in the registry."""
    for row in evidence.errands:
        # What failed is tried again later; what a dead process held, when its lease is over.
        is_later = row["due_at"] > evidence.now(row)
        lease = row["lease_until"]
        is_held = lease is not None and lease > evidence.read_at - LOOK_MILLISECONDS
        if not is_later and not is_held:
            yield f"the errand {row['kind']} {row['subject']} of {row['customer_id']} was left"
    open_purchases = {
        f"{row['bundle_id']}/{row['purchase_id']}"
        for row in evidence.purchases if row["state"] == "waiting"
    }
    live = {
        str(row["subscription_id"]) for row in evidence.subscriptions
        if row["status"] not in (2, 5)
    }
    for row in evidence.due_work:
        if row["subject"] not in (live if row["kind"] == "subscription" else open_purchases):
            yield f"{row['kind']} {row['subject']} falls due for nothing"
    for row in evidence.under_way:
        yield f"the registry has a row in {row['table']}: {row}"


def ledger_accounts_agree(evidence):
    """A purchase is in its customer's account, and what was spent of it is what
    that account redeemed. Purchases of households change hands."""
    if evidence.ledger_purchases is None:
        return
    spent = Counter(
        (str(row["transaction_id"]), row["account"]) for row in evidence.ledger_redemptions
    )
    total = Counter(str(row["transaction_id"]) for row in evidence.ledger_redemptions)
    sales = {str(row["transaction_id"]): row for row in evidence.transactions}
    for row in evidence.ledger_purchases:
        number = str(row["transaction_id"])
        if row["spent"] != total[number]:
            yield f"transaction {number} counts {row['spent']} spent of {total[number]} redeemed"
        if is_home(row["account"]):
            continue
        if spent[number, row["account"]] != total[number]:
            yield f"transaction {number} of {row['account']} was redeemed by another account"
        sale = sales.get(number)
        if sale is None:
            continue
        if row["account"] is not None and row["account"] != str(sale["customer_id"]):
            yield f"transaction {number} of {sale['customer_id']} is in account {row['account']}"
        for name, kept in (("price", "total_price"), ("quantity", "quantity"),
                           ("currency", "currency"), ("bundle_id", "bundle_id"),
                           ("product_id", "product_id")):
            if row[name] != sale[kept]:
                yield f"transaction {number} has the {name} {row[name]!r} in the ledger"


def numbers_are_given_out_once(evidence):
    """Whatever was copied, restored, advanced or put back, in whatever order: a
    number stands for one purchase of one customer. A purchase that was answered with an
    earlier one's transaction has no number of its own."""
    told = [
        {"number": entry["signed"]["transactionId"], "purchase": entry["purchase"],
         "customer": entry["customer"], "where": "the store"}
        for entry in evidence.sold()
        if entry["signed"]["type"] == "Consumable" and not entry["answer"].get("isRepeat")
    ]
    told += [sale for fork in evidence.forks for sale in fork["sales"]]
    told += [entry for entry in evidence.side if entry["act"] == "sold"]
    for (number,), entries in grouped(told, "number").items():
        ways = {(str(entry["customer"]), entry["purchase"]) for entry in entries}
        if len(ways) > 1:
            places = sorted({entry["where"] for entry in entries})
            yield f"transaction {number} was given out for {len(ways)} purchases, in {places}"
    made = [
        {"customer": str(entry["customer"]), "name": entry["name"]}
        for fork in evidence.forks for entry in fork["customers"]
    ]
    for (number,), entries in grouped(made, "customer").items():
        if len({entry["name"] for entry in entries}) > 1:
            yield f"customer {number} was made {len(entries)} times"


def copies_hold_what_was_acknowledged(evidence):
    """A copy holds every sale that was acknowledged before it was begun, sells
    under its own numbers, and what it sells can be redeemed."""
    sold = sorted((entry["at"], int(entry["signed"]["transactionId"])) for entry in evidence.sold())
    for fork in evidence.forks:
        held = set(fork["transactions"])
        for at, number in sold:
            if at < fork["begun_at"] and number not in held:
                yield f"{fork['name']} lacks transaction {number}, acknowledged before it"
        for complaint in fork["complaints"]:
            yield f"{fork['name']}: {complaint}"


def histories_go_whole(evidence):
    """A history that was cleared and a realm that was reset keep nothing, and
    one whose answer did not come keeps all or nothing."""
    for entry in evidence.side:
        if entry["act"] == "complaint":
            yield entry["text"]


RULES = [
    revisions_have_no_gaps, nothing_is_left_over, ledger_accounts_agree,
    numbers_are_given_out_once, copies_hold_what_was_acknowledged, histories_go_whole,
]
