# SPDX-License-Identifier: Apache-2.0
"""What the checker judges: histories, logs and rows as plain dictionaries."""

from collections import defaultdict
from dataclasses import dataclass, field

SETTLED = ("sold", "refused")
#: The kind of notification that a sale owes.
SALE = "ONE_TIME_CHARGE"
#: How the ledger's accounts of households are named (`household.py`), and what it makes of
#: the name of an account that was erased.
HOME, ERASED = "house-", "erased:"
#: What households do with their accounts.
HOME_DEEDS = ("claim", "restore", "rehearse", "merge", "erase")


@dataclass
class Evidence:
    """Everything a round left. Rows of several realms stand together; each
    names its realm, since customers and transactions are numbered by the store."""

    realm: str = ""
    #: Answers with a status below 400 or a lasting refusal, in no order: verb,
    #: customer, device, purchase or transaction, asked (the body), status,
    #: answer (the body), signed (the decoded transaction), asked_at, at.
    heard: list = field(default_factory=list)
    #: What was asked for, of some kinds: verb, customer, purchase or transaction, account.
    asked: list = field(default_factory=list)
    customers: list = field(default_factory=list)
    purchases: list = field(default_factory=list)
    transactions: list = field(default_factory=list)
    outbox: list = field(default_factory=list)
    #: Sessions, one row a sign-in; None where the revisions are not accounted for.
    sessions: list | None = None
    errands: list = field(default_factory=list)
    due_work: list = field(default_factory=list)
    #: Notifications as the store signed them.
    notifications: list = field(default_factory=list)
    #: Rows of the registry that say that something is under way, with `table`.
    under_way: list = field(default_factory=list)
    #: What the proof's own server received: uuid, status, digest, problem,
    #: payload, signed; None where there was no such server.
    received: list | None = None
    #: Realms whose apps have no such server: production takes public addresses alone.
    unannounced: set = field(default_factory=set)
    #: Receipts of the end: customer, bundle, device, problem, purchases.
    receipts: list | None = None
    #: How many signatures were checked.
    signatures: int = 0
    #: Signed data that did not verify: where, problem.
    forgeries: list = field(default_factory=list)
    #: What the catalogue says by product id: price, isOnce, currency, storefront.
    catalogue: dict = field(default_factory=dict)
    #: The processor's log; None where there was no processor.
    processor: list | None = None
    #: The ledger's rows; None where there was no ledger.
    ledger_purchases: list | None = None
    #: Units that were spent, and those that were reserved at any time.
    ledger_redemptions: list | None = None
    ledger_reservations: list = field(default_factory=list)
    #: What was granted, with the facts that it depends on; None as above.
    ledger_grants: list | None = None
    ledger_terms: list = field(default_factory=list)
    ledger_renewals: list = field(default_factory=list)
    ledger_credit_books: list = field(default_factory=list)
    ledger_credit_entries: list = field(default_factory=list)
    #: What its accounts have to do with each other.
    ledger_accounts: list = field(default_factory=list)
    ledger_shares: list = field(default_factory=list)
    ledger_merges: list = field(default_factory=list)
    #: Where its tables name an account whose erasure was asked for: table, name.
    ledger_mentions: list = field(default_factory=list)
    #: The notifications that it keeps with their contents: notification_id, transaction_id.
    ledger_news: list = field(default_factory=list)
    #: Its messages to the merchant's server, with `endpoint` and `told` (the body).
    ledger_webhooks: list = field(default_factory=list)
    #: What that server received: endpoint, id, timestamp, body, told, problem, at, wall,
    #: answered_at, status; None where there was none.
    hooked: list | None = None
    #: Messages that were asked for again: endpoint, ids, asked_at, changed, or None.
    replays: list = field(default_factory=list)
    #: What the ledger's file grants, by product (`worlds.py`).
    grants: dict = field(default_factory=dict)
    #: Signed transactions that the ledger was given, and what was signed of renewals:
    #: signed (decoded), account, road, asked_at; at, status and answer, or None.
    proofs: list = field(default_factory=list)
    renewal_proofs: list = field(default_factory=list)
    #: The ledger's answers at the end (`auditor.py`).
    audited: list = field(default_factory=list)
    #: What the operator's door said to approvals: purchase, customer, word
    #: (approved or declined), status.
    approvals: list = field(default_factory=list)
    #: What copies of the store were used for (`forks.py`).
    forks: list = field(default_factory=list)
    #: What happened to histories that were cleared and realms that were reset (`side.py`).
    side: list = field(default_factory=list)
    #: What apps built on PurchaseKit did and saw (`kit.py`).
    kits: list = field(default_factory=list)
    #: The wall clock's milliseconds when the databases were read.
    read_at: int = 0
    #: Subscriptions, what happened to them, and the charges of renewals.
    subscriptions: list = field(default_factory=list)
    subscription_events: list = field(default_factory=list)
    renewal_charges: list = field(default_factory=list)
    #: Refunds and what happened to them.
    refunds: list = field(default_factory=list)
    refund_events: list = field(default_factory=list)
    #: Clocks, and the jumps that are under way.
    clocks: list = field(default_factory=list)
    jumps: list = field(default_factory=list)
    #: What the catalogue says of subscriptions: price, level, period, introduction.
    plans: dict = field(default_factory=dict)
    #: By realm: the days for which an unpaid renewal can be used.
    grace_days: dict = field(default_factory=dict)
    #: Realms in which a rule charges, and no processor.
    unprocessed: set = field(default_factory=set)
    #: The names of realms by their ids.
    realm_names: dict = field(default_factory=dict)
    #: Realms of subscribers, whose clocks are moved.
    moving: set = field(default_factory=set)
    #: Answers to what clerks and jumpers asked for (`clerk.py`, `jumper.py`): realm,
    #: verb, path, body, asked_at, at, status, answer. Without status: none came.
    deeds: list = field(default_factory=list)
    #: How many notifications met a fault of the store's own.
    notifications_failed: int = 0
    #: By how many seconds the machine's clock was wrong at most.
    seconds_stepped: int = 0

    def of(self, *verbs):
        """The answers to these verbs."""
        return [entry for entry in self.heard if entry["verb"] in verbs]

    def sold(self):
        """Acknowledged sales: what a client received as sold."""
        return [
            entry
            for entry in self.of("purchase")
            if entry["status"] == 200 and entry["answer"].get("state") == "sold"
        ]

    def key(self, row, history=None):
        """The charge key of a purchase's or a transaction's row. `history` is the
        `history_revision` of the purchase."""
        parts = (
            row.get("realm", self.realm), row["customer_id"], row["bundle_id"],
            row["purchase_id"], history,
        )
        return "/".join(str(part) for part in parts if part is not None)

    def bought(self):
        """Transactions that the processor charged for, by charge key: those that came
        from a purchase, and renewals."""
        histories = {self.key(row): row.get("history_revision") for row in self.purchases}
        paid = {
            self.key(row, histories.get(self.key(row))): row
            for row in self.transactions
            if row["purchase_id"] is not None and row.get("realm") not in self.unprocessed
        }
        rows = {row["transaction_id"]: row for row in self.transactions}
        for key, charge in self.renewals_by_key().items():
            if charge["transaction_id"] in rows:
                paid[key] = rows[charge["transaction_id"]]
        return paid

    def renewals_by_key(self):
        """The rows of renewals' charges by charge key."""
        apps = {each["subscription_id"]: each["bundle_id"] for each in self.subscriptions}
        return {
            "/".join(str(part) for part in (
                row.get("realm", self.realm), row["customer_id"],
                apps.get(row["subscription_id"]), "renewal", subject(row),
            )): row
            for row in self.renewal_charges
        }

    def now(self, row):
        """The commercial time of a row's realm when the databases were read."""
        stands = [
            clock["clock_stands_at"] for clock in self.clocks
            if clock["realm"] == row.get("realm") and clock["clock_stands_at"] is not None
        ]
        return stands[0] if stands else self.read_at

    def realm_of(self, customer):
        """The realm of a customer."""
        return next(
            (row.get("realm") for row in self.customers if row["customer_id"] == customer), None)

    def events_of(self):
        """The events of each subscription in order, by its number."""
        groups = grouped(self.subscription_events, "subscription_id")
        return {
            number: sorted(rows, key=lambda row: row["event"])
            for (number,), rows in groups.items()
        }

    def processor_entries(self):
        """The processor's log by key, each in the order in which it was written."""
        return grouped(self.processor or [], "key")


def is_home(account):
    """Whether an account is, or was, one of those that households make."""
    return account is not None and account.startswith((HOME, ERASED))


def holder(account):
    """Whose a key of the ledger is: an account's. What a household's accounts spend keeps its
    key when they become part of another or are erased."""
    return HOME if is_home(account) else account


def subject(row):
    """How errands name the charge of a renewal."""
    return f"{row['subscription_id']}/{row['period_end']}/{row['attempt']}"


def grouped(rows, *names):
    """Rows by the values of some fields."""
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return groups


def repeated(rows, *names):
    """The groups of more than one row."""
    return {key: group for key, group in grouped(rows, *names).items() if len(group) > 1}


def approved(entries):
    """The charges among a processor's entries that took money."""
    return [
        entry for entry in entries if entry["act"] == "charge" and entry["state"] == "approved"
    ]
def refunded(entries):
    """A charge's refunds that stand, by their names."""
    found = {}
    for entry in entries:
        if entry["act"] == "refund":
            found[entry["refund"]] = entry
        elif entry["act"] == "take back":
            found.pop(entry["refund"], None)
    return found


