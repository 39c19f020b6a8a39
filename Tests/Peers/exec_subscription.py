# SPDX-License-Identifier: Apache-2.0
"""Under `shopkeeper exec`: the life of a subscription, each step read by Apple's library."""
import json
import sys

from appstoreserverlibrary.models.AutoRenewStatus import AutoRenewStatus
from appstoreserverlibrary.models.ExpirationIntent import ExpirationIntent
from appstoreserverlibrary.models.OfferDiscountType import OfferDiscountType
from appstoreserverlibrary.models.OfferType import OfferType
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.TransactionReason import TransactionReason
from appstoreserverlibrary.models.Type import Type

from merchant import client, heard, listen, next_note, shopkeeper, verifier

listen()


def told():
    """The next notification, its transaction and its renewal, verified."""
    note = next_note()
    return (
        note,
        verifier.verify_and_decode_signed_transaction(note.data.signedTransactionInfo),
        verifier.verify_and_decode_renewal_info(note.data.signedRenewalInfo),
    )


def kind(note):
    return f"{note.rawNotificationType} {note.rawSubtype or '-'}"


checks = {}
bought = shopkeeper("buy", "paper")
note, first, renewal = told()
checks["a purchase subscribes"] = kind(note) == "SUBSCRIBED INITIAL_BUY" and note.data.status == Status.ACTIVE
checks["it begins with a free week"] = (
    first.type == Type.AUTO_RENEWABLE_SUBSCRIPTION
    and first.offerType == OfferType.INTRODUCTORY_OFFER
    and first.offerDiscountType == OfferDiscountType.FREE_TRIAL
    and first.price == 0
    and first.expiresDate - first.purchaseDate == 7 * 86_400_000
)
checks["it renews at its price"] = (
    renewal.autoRenewStatus == AutoRenewStatus.ON
    and renewal.autoRenewProductId == "paper"
    and renewal.renewalPrice == 4990
    and renewal.renewalDate == first.expiresDate
)

shopkeeper("clock", "advance", "1w")
note, second, renewal = told()
checks["a jump renews it"] = kind(note) == "DID_RENEW -"
checks["the new period begins where the old one ends"] = (
    second.purchaseDate == first.expiresDate
    and second.originalTransactionId == first.transactionId
    and second.transactionReason == TransactionReason.RENEWAL
    and second.price == 4990
)
asked = verifier.verify_and_decode_signed_transaction(
    client.get_transaction_info(second.transactionId).signedTransactionInfo
)
checks["the merchant may ask for the renewal"] = asked.expiresDate == second.expiresDate

shopkeeper("subscription", "fail-billing", first.transactionId)
shopkeeper("clock", "advance", "1mo")
note, _, renewal = told()
checks["a failed renewal is retried"] = (
    kind(note) == "DID_FAIL_TO_RENEW -"
    and note.data.status == Status.BILLING_RETRY
    and renewal.isInBillingRetryPeriod is True
)
fixed = shopkeeper("subscription", "fix-billing", first.transactionId)
note, third, _ = told()
checks["and recovers"] = (
    kind(note) == "DID_RENEW BILLING_RECOVERY" and [e["kind"] for e in fixed["events"]] == ["recovered"]
)

shopkeeper("buy", "all")
note, upgraded, renewal = told()
checks["an upgrade begins at once"] = (
    kind(note) == "DID_CHANGE_RENEWAL_PREF UPGRADE"
    and upgraded.productId == "all"
    and renewal.productId == "all"
)
old = verifier.verify_and_decode_signed_transaction(
    client.get_transaction_info(third.transactionId).signedTransactionInfo
)
checks["the period before is marked as upgraded"] = old.isUpgraded is True
shopkeeper("buy", "paper")
note, current, renewal = told()
checks["a downgrade waits"] = (
    kind(note) == "DID_CHANGE_RENEWAL_PREF DOWNGRADE"
    and current.transactionId == upgraded.transactionId
    and renewal.autoRenewProductId == "paper"
)
shopkeeper("subscription", "cancel", first.transactionId)
note, _, renewal = told()
checks["a cancellation is announced"] = (
    kind(note) == "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED"
    and renewal.autoRenewStatus == AutoRenewStatus.OFF
)
shopkeeper("clock", "advance", "1mo")
note, _, renewal = told()
checks["it expires"] = (
    kind(note) == "EXPIRED VOLUNTARY"
    and note.data.status == Status.EXPIRED
    and renewal.expirationIntent == ExpirationIntent.CUSTOMER_CANCELLED
)
shopkeeper("buy", "paper")
note, again, _ = told()
checks["it is won back without a second free week"] = (
    kind(note) == "SUBSCRIBED RESUBSCRIBE" and again.price == 4990 and again.offerType is None
)
checks["nothing else was sent"] = heard.empty()
history = shopkeeper("history", "customer")
checks["the history has every step"] = [event["kind"] for event in history] == [
    "subscribed", "renewed", "chargeDeclined", "failed", "recovered", "upgradeRefunded", "upgraded", "choseProduct",
    "switchedOff", "expired", "resubscribed",
]

print(json.dumps(checks))
sys.exit(0 if all(checks.values()) else 1)
