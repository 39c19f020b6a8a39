# SPDX-License-Identifier: Apache-2.0
"""Under `shopkeeper exec`: a merchant's server asks the store with Apple's client, and verifies the answers."""
import json
import sys
import uuid

from appstoreserverlibrary.api_client import APIException, GetTransactionHistoryVersion
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.TransactionHistoryRequest import Order, ProductType, TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest

from merchant import client, heard, listen, next_note, shopkeeper, verifier

checks = {}
DAY = 86_400_000


def refused(ask):
    """The number of the refusal. 0 if there is none."""
    try:
        ask()
    except APIException as refusal:
        return refusal.raw_api_error
    return 0


def pages(transaction, request, version=GetTransactionHistoryVersion.V2):
    """All pages of a history, each transaction verified, and the last revision."""
    found, revision = [], None
    while True:
        page = client.get_transaction_history(transaction, revision, request, version)
        found.append([verifier.verify_and_decode_signed_transaction(one) for one in page.signedTransactions])
        revision = page.revision
        if not page.hasMore:
            return found, revision


coins = shopkeeper("buy", "coins")["transactionId"]
pro = shopkeeper("buy", "pro")["transactionId"]
paper = shopkeeper("buy", "paper")["transactionId"]
shopkeeper("clock", "advance", "28w", "--notifications", "drop")

status = client.get_all_subscription_statuses(coins)
last = status.data[0].lastTransactions[0]
current = verifier.verify_and_decode_signed_transaction(last.signedTransactionInfo)
renewal = verifier.verify_and_decode_renewal_info(last.signedRenewalInfo)
checks["any transaction finds the subscriptions"] = (
    len(status.data) == 1
    and last.status == Status.ACTIVE
    and last.originalTransactionId == paper
    and renewal.renewalDate == current.expiresDate
)
checks["statuses are filtered"] = client.get_all_subscription_statuses(coins, [Status.EXPIRED]).data == []

found, revision = pages(pro, TransactionHistoryRequest())
every = [one.transactionId for page in found for one in page]
checks["a history has pages of twenty, and each transaction once"] = (
    [len(page) for page in found] == [20, 11] and len(set(every)) == 31 and every[:3] == [coins, pro, paper]
)
newest, _ = pages(pro, TransactionHistoryRequest(sort=Order.DESCENDING))
checks["the other order is the same backwards"] = [one.transactionId for page in newest for one in page] == every[::-1]
bought, _ = pages(pro, TransactionHistoryRequest(productTypes=[ProductType.NON_CONSUMABLE, ProductType.CONSUMABLE]))
checks["types are filtered"] = [one.transactionId for page in bought for one in page] == [coins, pro]
bought, _ = pages(pro, TransactionHistoryRequest(productIds=["pro"]))
checks["products are filtered"] = [one.transactionId for page in bought for one in page] == [pro]
late, _ = pages(pro, TransactionHistoryRequest(startDate=current.purchaseDate, endDate=current.purchaseDate + 1))
checks["dates are filtered"] = [one.transactionId for page in late for one in page] == [current.transactionId]

client.finish_transaction(coins)
old, _ = pages(pro, TransactionHistoryRequest(), GetTransactionHistoryVersion.V1)
checks["the first version omits finished consumables"] = coins not in [one.transactionId for page in old for one in page]

shopkeeper("refund", pro)
checks["a revision shows what has changed since"] = [
    verifier.verify_and_decode_signed_transaction(one).transactionId
    for one in client.get_transaction_history(
        pro, revision, TransactionHistoryRequest(), GetTransactionHistoryVersion.V2
    ).signedTransactions
] == [pro]
refunds = client.get_refund_history(paper, None)
checks["refunds are listed"] = [
    verifier.verify_and_decode_signed_transaction(one).transactionId for one in refunds.signedTransactions
] == [pro] and not refunds.hasMore

token = str(uuid.uuid4())
client.set_app_account_token(paper, UpdateAppAccountTokenRequest(appAccountToken=token))
told = verifier.verify_and_decode_signed_transaction(client.get_transaction_info(current.transactionId).signedTransactionInfo)
checks["a purchase gets the app's token"] = told.appAccountToken == token
checks["only an original transaction gets one"] = refused(
    lambda: client.set_app_account_token(current.transactionId, UpdateAppAccountTokenRequest(appAccountToken=token))
) == 4000187


def extend(name, days=7):
    return client.extend_subscription_renewal_date(
        paper,
        ExtendRenewalDateRequest(
            extendByDays=days, extendReasonCode=ExtendReasonCode.SERVICE_ISSUE_OR_OUTAGE, requestIdentifier=name
        ),
    )


listen()
first = extend("one")
note = next_note()
checks["a renewal date is extended"] = (
    first.success and first.effectiveDate == current.expiresDate + 7 * DAY
    and note.rawNotificationType == "RENEWAL_EXTENDED"
)
checks["once under an identifier"] = extend("one").effectiveDate == first.effectiveDate


def extend_all():
    """The request's identifier, and the notifications: kinds, and the counts of summaries."""
    request = str(uuid.uuid4())
    client.extend_renewal_date_for_all_active_subscribers(
        MassExtendRenewalDateRequest(
            extendByDays=2, extendReasonCode=ExtendReasonCode.OTHER, requestIdentifier=request, productId="paper"
        )
    )
    notes = [next_note(), next_note()]
    return request, sorted((note.rawNotificationType, note.rawSubtype or "") for note in notes), [
        (note.summary.requestIdentifier == request, note.summary.succeededCount, note.summary.failedCount)
        for note in notes if note.summary is not None
    ]


request, kinds, summaries = extend_all()
checks["all renewal dates are extended, with a summary"] = (
    kinds == [("RENEWAL_EXTENDED", ""), ("RENEWAL_EXTENSION", "SUMMARY")] and summaries == [(True, 1, 0)]
)
checks["and twice in a year"] = refused(lambda: extend("three")) == 4030005
_, kinds, summaries = extend_all()
checks["also by a request for all"] = (
    kinds == [("RENEWAL_EXTENSION", "FAILURE"), ("RENEWAL_EXTENSION", "SUMMARY")] and summaries == [(True, 0, 1)]
)
state = client.get_status_of_subscription_renewal_date_extensions(request, "paper")
checks["its status can be asked for"] = state.complete and state.succeededCount == 1 and state.failedCount == 0
checks["refusals have Apple's numbers"] = [
    refused(lambda: client.get_all_subscription_statuses("2000000000999000")),
    refused(lambda: client.get_transaction_history("x", None, TransactionHistoryRequest(), GetTransactionHistoryVersion.V2)),
    refused(lambda: client.get_transaction_history(pro, "x", TransactionHistoryRequest(), GetTransactionHistoryVersion.V2)),
    refused(lambda: extend("four", 91)),
    refused(lambda: client.get_status_of_subscription_renewal_date_extensions(str(uuid.uuid4()), "paper")),
] == [4040010, 4000006, 4000005, 4000009, 4040009]
asked = shopkeeper("refund", "--request", "UNSATISFIED_WITH_PURCHASE", coins)
note = next_note()
client.send_consumption_information(
    coins,
    ConsumptionRequest(
        customerConsented=True, sampleContentProvided=False, deliveryStatus=DeliveryStatus.DELIVERED,
        consumptionPercentage=60000,
    ),
)
decided = shopkeeper("refund", "--as-advised", coins)
refund = next_note()
sold = verifier.verify_and_decode_signed_transaction(refund.data.signedTransactionInfo)
checks["a report on consumption decides a refund"] = (
    note.rawNotificationType == "CONSUMPTION_REQUEST"
    and note.data.rawConsumptionRequestReason == "UNSATISFIED_WITH_PURCHASE"
    and decided["refund"]["percentage"] == 40000
    and refund.rawNotificationType == "REFUND"
    and sold.rawRevocationType == "REFUND_PRORATED"
)
order = [one["orderId"] for one in shopkeeper("transaction", "list") if one["transactionId"] == coins][0]
found = client.look_up_order_id(order)
checks["an order is found"] = found.rawStatus == 0 and [
    verifier.verify_and_decode_signed_transaction(one).transactionId for one in found.signedTransactions
] == [coins] and client.look_up_order_id("MK5TTTVWJH").rawStatus == 1
app = verifier.verify_and_decode_app_transaction(client.get_app_transaction_info(coins).signedAppTransactionInfo)
checks["an app transaction is returned"] = app.appTransactionId == sold.appTransactionId
kinds = [
    "EXPIRED/VOLUNTARY", "RENEWAL_EXTENSION/SUMMARY", "EXTERNAL_PURCHASE_TOKEN/UNREPORTED", "RESCIND_CONSENT",
    "METADATA_UPDATE",
]
heard_kinds = []
for kind in kinds:
    shopkeeper("notify", kind)
    note = next_note()
    heard_kinds.append("/".join(part for part in [note.rawNotificationType, note.rawSubtype] if part))
checks["any type is sent by hand"] = heard_kinds == kinds
shopkeeper("fault", "set", "rate-limits", "1")
checks["limits are simulated"] = [
    refused(lambda: client.get_transaction_info(coins)) for _ in range(2)
] == [0, 4290000]
shopkeeper("fault", "clear", "rate-limits")
checks["nothing else was sent"] = heard.empty()

print(json.dumps(checks))
sys.exit(0 if all(checks.values()) else 1)
