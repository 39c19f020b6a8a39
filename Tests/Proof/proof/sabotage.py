# SPDX-License-Identifier: Apache-2.0
"""Triggers in the databases of a real store, which make it do wrong behind its
own back. Each names the rule that must find it.

Others leave out syncs of its log, or of the ledger's, which shows once the power is cut.

A round with `--sabotage NAME` must end with a breach of that rule: it judges
the proof and not the store.
"""

import glob
import os
import sqlite3


def changed(assignment, condition="1"):
    """A trigger that changes each new transaction behind the store's back."""
    return f"""
        CREATE TRIGGER sabotage AFTER INSERT ON transactions WHEN {condition} BEGIN
            UPDATE transactions SET {assignment} WHERE transaction_id = NEW.transaction_id;
        END"""


def forgotten(kind):
    """A trigger that forgets errands of a kind."""
    return f"""
        CREATE TRIGGER sabotage AFTER INSERT ON errands WHEN NEW.kind = '{kind}' BEGIN
            DELETE FROM errands WHERE kind = '{kind}' AND subject = NEW.subject;
        END"""


def altered(table, assignment, condition):
    """Triggers that change each row of a table as it is put there, new or known."""
    return [
        f"""
        CREATE TRIGGER sabotage_{event.lower()} AFTER {event} ON {table} WHEN {condition} BEGIN
            UPDATE {table} SET {assignment}
            WHERE customer_id = NEW.customer_id AND subscription_id = NEW.subscription_id;
        END"""
        for event in ("INSERT", "UPDATE")
    ]


#: A renewal that was charged is charged once more under another name, and what is then to
#: be given back is forgotten.
CHARGED_TWICE = ["""
        CREATE TRIGGER sabotage_charge AFTER UPDATE ON renewal_charges
        WHEN NEW.state = 'sold' AND OLD.state = 'asked' BEGIN
            INSERT INTO renewal_charges (customer_id, subscription_id, period_end, attempt, state,
                total_price, currency, storefront, body, events, asked_at)
            VALUES (NEW.customer_id, NEW.subscription_id, NEW.period_end, NEW.attempt + 1000,
                'asked', NEW.total_price, NEW.currency, NEW.storefront, NEW.body, NEW.events,
                NEW.asked_at);
            INSERT INTO errands (customer_id, kind, subject, lane, due_at, attempt, fence)
            VALUES (NEW.customer_id, 'renewal', NEW.subscription_id || '/' || NEW.period_end
                || '/' || (NEW.attempt + 1000), 'processor', NEW.asked_at, 0, 0);
        END""", """
        CREATE TRIGGER sabotage_void AFTER INSERT ON errands
        WHEN NEW.kind = 'renewalVoid' AND NEW.subject LIKE '%/100_' BEGIN
            DELETE FROM errands WHERE kind = 'renewalVoid' AND subject = NEW.subject;
        END"""]


#: By name: the rule, and statements for each realm's SQLite database.
SABOTAGES = {
    "empty-receipts": ("receipts_hold_what_is_owned", [changed("record = x''")]),
    "never-captured": ("sales_are_captured", [forgotten("capture")]),
    "revoked-and-sold-again": ("non_consumables_are_paid_once", ["""
        CREATE TRIGGER sabotage AFTER INSERT ON purchases
        WHEN EXISTS (SELECT 1 FROM transactions WHERE product_type = 'non-consumable'
            AND customer_id = NEW.customer_id AND product_id = NEW.product_id)
        BEGIN
            UPDATE transactions SET revoked_at = 1 WHERE product_type = 'non-consumable'
                AND customer_id = NEW.customer_id AND product_id = NEW.product_id;
        END"""]),
    "wrong-currency": ("sums_are_right", [changed("currency = 'EUR'")]),
    "wrong-storefront": ("sums_are_right", [changed("storefront = 'DEU'")]),
    "wrong-sum": ("sums_are_right", [changed("total_price = unit_price", "NEW.quantity > 1")]),
    "another-app-in-the-outbox": ("notifications_are_attempted", ["""
        CREATE TRIGGER sabotage AFTER INSERT ON outbox BEGIN
            UPDATE outbox SET bundle_id = 'com.example.stranger'
            WHERE notification_uuid = NEW.notification_uuid;
        END"""]),
    "never-notified": ("notifications_are_attempted", [forgotten("notification")]),
    "purchases-forgotten": ("revisions_have_no_gaps", ["""
        CREATE TRIGGER sabotage AFTER INSERT ON purchases
        WHEN NEW.state = 'refused' BEGIN
            DELETE FROM purchases WHERE purchase_id = NEW.purchase_id;
        END"""]),
    "voids-forgotten": ("charges_and_transactions_pair", [forgotten("void")]),
    "work-left-for-nothing": ("nothing_is_left_over", ["""
        CREATE TRIGGER sabotage AFTER UPDATE ON purchases
        WHEN NEW.approval IS NOT NULL AND OLD.approval IS NULL BEGIN
            INSERT OR IGNORE INTO due_work (customer_id, kind, subject, due_at)
            VALUES (NEW.customer_id, 'approval', NEW.bundle_id || '/sabotaged', 9999999999999);
        END"""]),
    "renewals-charged-twice": ("periods_are_charged_once", CHARGED_TWICE),
    "refunds-forgotten": ("money_adds_up", [forgotten("refund")]),
    "reversals-forgotten": ("money_adds_up", [forgotten("takeBack")]),
    "renewals-unannounced": ("events_are_announced_once", ["""
        CREATE TRIGGER sabotage AFTER INSERT ON outbox
        WHEN NEW.notification_type = 'DID_RENEW' BEGIN
            DELETE FROM outbox WHERE notification_uuid = NEW.notification_uuid;
        END"""]),
    # Each period grants 30 days more than were paid.
    "entitlements-that-outlive": ("entitlements_end_with_what_was_paid", altered(
        "subscriptions", """ends_at = NEW.ends_at + 2592000000,
            state = json_set(NEW.state, '$.current.end', NEW.ends_at + 2592000000)""",
        """NEW.status = 1 AND NEW.ends_at = (
            SELECT expires_at FROM transactions WHERE transaction_id = NEW.transaction_id)""")),
    "renewals-not-stopped": ("renewals_stop_when_switched_off", altered(
        "subscriptions", "state = json_set(NEW.state, '$.renewal.isOn', json('true'))",
        "NEW.status = 1 AND json_extract(NEW.state, '$.renewal.stop') = 'cancelled'")),
    "steps-forgotten": ("jumps_leave_nothing_due", ["""
        CREATE TRIGGER sabotage AFTER INSERT ON due_work
        WHEN NEW.kind = 'subscription' AND NEW.due_at % 3 = 0 BEGIN
            DELETE FROM due_work WHERE customer_id = NEW.customer_id
                AND kind = NEW.kind AND subject = NEW.subject;
        END"""]),
    "upgrades-that-give-too-much": ("upgrades_refund_once", ["""
        CREATE TRIGGER sabotage AFTER INSERT ON refunds WHEN NEW.kind = 'upgrade' BEGIN
            UPDATE refunds SET sum = sum + 10 WHERE customer_id = NEW.customer_id
                AND transaction_id = NEW.transaction_id AND refund = NEW.refund;
        END"""]),
    "everything-refused": ("enough_happened", ["""
        CREATE TRIGGER sabotage AFTER INSERT ON customers BEGIN
            UPDATE customers SET may_buy = 0 WHERE customer_id = NEW.customer_id;
        END""", "UPDATE customers SET may_buy = 0"]),
}


#: By name: the rule, and whether it is the ledger's log whose commits are not synced.
LEFT_UNSYNCED = {
    "log-not-synced": ("acknowledged_purchases_are_there", False),
    "ledger-log-not-synced": ("purchases_are_redeemed_once", True),
}


#: The same for the ledger's database.
LEDGER_SABOTAGES = {
    "grants-doubled": ("grants_are_those_of_the_products", ["""
        CREATE TRIGGER sabotage AFTER INSERT ON grants WHEN NEW.kind = 'credits' BEGIN
            UPDATE grants SET amount = 2 * amount WHERE transaction_id = NEW.transaction_id;
        END"""]),
    "revocations-forgotten": ("ledger_holds_what_was_proven", ["""
        CREATE TRIGGER sabotage AFTER UPDATE ON purchases WHEN NEW.revoked_at IS NOT NULL BEGIN
            UPDATE purchases SET revoked_at = NULL, revocation_reason = NULL
            WHERE transaction_id = NEW.transaction_id;
        END"""]),
    "subscriptions-for-ever": ("entitlements_are_what_was_proven", ["""
        CREATE TRIGGER sabotage AFTER INSERT ON grants WHEN NEW.lasting = 'grace' BEGIN
            UPDATE grants SET lasting = 'forever' WHERE transaction_id = NEW.transaction_id;
        END"""]),
    "spendings-forgotten": ("spendings_are_done_once", ["""
        CREATE TRIGGER sabotage AFTER INSERT ON credit_entries WHEN NEW.kind = 'spending' BEGIN
            DELETE FROM credit_entries WHERE account = NEW.account AND number = NEW.number;
        END"""]),
    "refunds-without-entries": ("credits_add_up", ["""
        CREATE TRIGGER sabotage AFTER INSERT ON credit_entries WHEN NEW.kind = 'reversal' BEGIN
            DELETE FROM credit_entries WHERE account = NEW.account AND number = NEW.number;
        END"""]),
    "moves-without-entries": ("moves_take_what_they_give", ["""
        CREATE TRIGGER sabotage AFTER INSERT ON credit_entries
        WHEN NEW.kind = 'transfer' AND NEW.wallet > 0 BEGIN
            DELETE FROM credit_entries WHERE account = NEW.account AND number = NEW.number;
        END"""]),
    "moves-forgotten": ("purchases_are_where_they_were_sent", ["""
        CREATE TRIGGER sabotage AFTER UPDATE ON purchases
        WHEN NEW.account <> OLD.account AND NEW.account LIKE 'house-%' BEGIN
            UPDATE purchases SET account = OLD.account
            WHERE transaction_id = NEW.transaction_id AND account <> OLD.account;
        END"""]),
    "merges-that-leave-grants": ("merged_accounts_are_empty", ["""
        CREATE TRIGGER sabotage AFTER INSERT ON account_merges BEGIN
            UPDATE grants SET account = NEW.account WHERE account = NEW.into_account;
        END"""]),
    "erasures-that-remember": ("erased_accounts_are_gone", ["""
        CREATE TRIGGER sabotage BEFORE DELETE ON webhooks_out WHEN OLD.account <> '' BEGIN
            SELECT RAISE(IGNORE);
        END"""]),
    "notifications-not-erased": ("news_of_the_erased_is_deleted", ["""
        CREATE TRIGGER sabotage BEFORE UPDATE ON notifications_in
        WHEN NEW.payload = 'erased' BEGIN
            SELECT RAISE(IGNORE);
        END"""]),
    "webhooks-forgotten": ("events_are_reported_once", ["""
        CREATE TRIGGER sabotage AFTER INSERT ON webhooks_out
        WHEN NEW.event = 'unit.redeemed' BEGIN
            DELETE FROM webhooks_out WHERE url = NEW.url AND message_id = NEW.message_id;
        END"""]),
    "webhooks-not-sent": ("webhooks_arrive", ["""
        CREATE TRIGGER sabotage AFTER INSERT ON webhooks_out
        WHEN NEW.event = 'purchase.booked' BEGIN
            UPDATE webhooks_out SET sent_at = created_at
            WHERE url = NEW.url AND message_id = NEW.message_id;
        END"""]),
    "webhooks-without-numbers": ("webhooks_keep_their_order", ["""
        CREATE TRIGGER sabotage AFTER INSERT ON webhooks_out WHEN NEW.number > 1 BEGIN
            UPDATE webhooks_out SET number = 1
            WHERE url = NEW.url AND message_id = NEW.message_id;
        END"""]),
    "webhooks-of-other-contents": ("webhooks_tell_what_was_written", ["""
        CREATE TRIGGER sabotage AFTER UPDATE ON webhooks_out
        WHEN NEW.sent_at IS NOT NULL AND OLD.sent_at IS NULL BEGIN
            UPDATE webhooks_out SET body = NEW.body || ' '
            WHERE url = NEW.url AND message_id = NEW.message_id;
        END"""]),
    "releases-forgotten": ("reservations_end_one_way", ["""
        CREATE TRIGGER sabotage AFTER UPDATE ON redemptions
        WHEN NEW.released_at IS NOT NULL BEGIN
            UPDATE redemptions SET released_at = NULL, expires_at = reserved_at
            WHERE account = NEW.account AND idempotency_key = NEW.idempotency_key;
        END"""]),
}


def spoil_ledger(folder, name):
    """Puts a sabotage's triggers into a ledger on SQLite."""
    _, statements = LEDGER_SABOTAGES.get(name, ("", []))
    run(os.path.join(folder, "ledger.sqlite"), statements)


def run(path, statements):
    connection = sqlite3.connect(path, timeout=10, isolation_level=None)
    try:
        for statement in statements:
            connection.execute(statement)
    finally:
        connection.close()


def spoil(folder, name):
    """Puts a sabotage's triggers into every realm of a store on SQLite."""
    _, statements = SABOTAGES.get(name, ("", []))
    for path in glob.glob(os.path.join(folder, "realms", "*.sqlite")):
        run(path, statements)
