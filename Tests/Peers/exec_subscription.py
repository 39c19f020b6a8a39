# SPDX-License-Identifier: Apache-2.0
"""Under `shopkeeper exec`: the life of a subscription, each step read by Apple's library."""
import json
import os
import queue
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from appstoreserverlibrary.api_client import AppStoreServerAPIClient
from appstoreserverlibrary.models.AutoRenewStatus import AutoRenewStatus
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExpirationIntent import ExpirationIntent
from appstoreserverlibrary.models.OfferDiscountType import OfferDiscountType
from appstoreserverlibrary.models.OfferType import OfferType
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.TransactionReason import TransactionReason
from appstoreserverlibrary.models.Type import Type
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

env = os.environ
bundle_id = env["SHOPKEEPER_BUNDLE_ID"]
heard = queue.Queue()


class Merchant(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        heard.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def shopkeeper(*arguments):
    return json.loads(subprocess.check_output(["shopkeeper", *arguments, "--json"]))


with open(env["SHOPKEEPER_ROOT"]) as file:
    root = ssl.PEM_cert_to_DER_cert(file.read())
verifier = SignedDataVerifier([root], False, Environment.SANDBOX, bundle_id)
server = ThreadingHTTPServer(("127.0.0.1", 0), Merchant)
threading.Thread(target=server.serve_forever, daemon=True).start()
shopkeeper("app", "notification-url", f"http://127.0.0.1:{server.server_port}/")
with open(env["SHOPKEEPER_SERVER_KEY"], "rb") as file:
    key = file.read()
client = AppStoreServerAPIClient(
    key, env["SHOPKEEPER_SERVER_KEY_ID"], env["SHOPKEEPER_ISSUER_ID"], bundle_id, Environment.SANDBOX
)
client._base_url = env["SHOPKEEPER_URL"]


def told():
    """The next notification, its transaction and its renewal, verified."""
    note = verifier.verify_and_decode_notification(heard.get(timeout=60)["signedPayload"])
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
