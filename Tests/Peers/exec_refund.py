# SPDX-License-Identifier: Apache-2.0
"""Under `shopkeeper exec`: refunds, each notification and transaction read by Apple's library."""
import json
import sys

from appstoreserverlibrary.models.ConsumptionRequestReason import ConsumptionRequestReason
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.RevocationReason import RevocationReason
from appstoreserverlibrary.models.RevocationType import RevocationType
from appstoreserverlibrary.models.Status import Status

from merchant import client, heard, listen, next_note, shopkeeper, verifier

listen()


def told():
    """The next notification and its transaction, verified."""
    note = next_note()
    return note, verifier.verify_and_decode_signed_transaction(note.data.signedTransactionInfo)


def asked(transaction):
    """The transaction as the merchant asks for it, verified."""
    answer = client.get_transaction_info(transaction)
    return verifier.verify_and_decode_signed_transaction(answer.signedTransactionInfo)


checks = {}
pro = shopkeeper("buy", "pro")["transactionId"]
told()
shopkeeper("refund", pro, "--request", "UNSATISFIED_WITH_PURCHASE")
note, _ = told()
checks["the request asks about the consumption"] = (
    note.notificationType == NotificationTypeV2.CONSUMPTION_REQUEST
    and note.data.consumptionRequestReason == ConsumptionRequestReason.UNSATISFIED_WITH_PURCHASE
)
checks["the request waits"] = [r["transactionId"] for r in shopkeeper("refunds", "--state", "requested")] == [pro]
shopkeeper("refund", pro, "--decline")
note, transaction = told()
checks["it is declined"] = (
    note.notificationType == NotificationTypeV2.REFUND_DECLINED and transaction.revocationDate is None
)
granted = shopkeeper("refund", pro, "--reason", "issueWithApp")
note, transaction = told()
checks["it is granted"] = (
    note.notificationType == NotificationTypeV2.REFUND
    and transaction.transactionId == pro
    and transaction.revocationDate == granted["now"]
    and transaction.revocationReason == RevocationReason.REFUNDED_DUE_TO_ISSUE
)
checks["the merchant may ask for it"] = asked(pro).revocationDate == granted["now"]
checks["a repeated command changes nothing"] = shopkeeper("refund", pro)["events"] == []
shopkeeper("reverse", pro)
note, transaction = told()
checks["it is taken back"] = (
    note.notificationType == NotificationTypeV2.REFUND_REVERSED and transaction.revocationDate is None
)
shopkeeper("revoke", pro)
note, transaction = told()
checks["it is revoked"] = (
    note.notificationType == NotificationTypeV2.REVOKE
    and transaction.revocationReason == RevocationReason.REFUNDED_FOR_OTHER_REASON
)

paper = shopkeeper("buy", "paper")["transactionId"]
told()
shopkeeper("clock", "advance", "15d")
answer = shopkeeper("refund", paper, "--prorated")
note, transaction = told()
checks["a period is given back in part"] = (
    note.notificationType == NotificationTypeV2.REFUND
    and note.data.status == Status.REVOKED
    and 0 < answer["refund"]["sum"] < 4990
    and verifier.verify_and_decode_renewal_info(note.data.signedRenewalInfo).autoRenewStatus == 0
)
checks["its type and share are signed"] = (
    transaction.revocationType == RevocationType.REFUND_PRORATED
    and transaction.revocationPercentage == answer["refund"]["percentage"]
)
checks["nothing else was sent"] = heard.empty()
checks["the history has every step"] = [event["kind"] for event in shopkeeper("history", "customer")] == [
    "refundRequested", "refundDeclined", "refundGranted", "refundTakenBack", "transactionRevoked",
    "subscribed", "refundGranted", "refunded",
]

print(json.dumps(checks))
sys.exit(0 if all(checks.values()) else 1)
