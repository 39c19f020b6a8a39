# SPDX-License-Identifier: Apache-2.0
"""Under `shopkeeper exec`: a merchant's server on loopback, asked and read by Apple's library."""
import json
import os
import queue
import ssl
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from appstoreserverlibrary.api_client import APIException, AppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.SendAttemptResult import SendAttemptResult
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

env = os.environ
bundle_id = env["SHOPKEEPER_BUNDLE_ID"]
product = "com.example.monkeycredits.credits5"
heard = queue.Queue()
status = 200


class Merchant(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        kind = self.headers["Content-Type"]
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()
        heard.put((kind, json.loads(body)))

    def log_message(self, *arguments):
        pass


def shopkeeper(*arguments):
    return json.loads(subprocess.check_output(["shopkeeper", *arguments, "--json"]))


def settled(token):
    """What became of a test: the attempt may end a moment after it was heard."""
    while True:
        try:
            return client.get_test_notification_status(token)
        except APIException as error:
            if error.raw_api_error != 4040008:
                raise
            time.sleep(0.05)


with open(env["SHOPKEEPER_SERVER_KEY"], "rb") as file:
    key = file.read()
client = AppStoreServerAPIClient(
    key, env["SHOPKEEPER_SERVER_KEY_ID"], env["SHOPKEEPER_ISSUER_ID"], bundle_id, Environment.SANDBOX
)
client._base_url = env["SHOPKEEPER_URL"]
with open(env["SHOPKEEPER_ROOT"]) as file:
    root = ssl.PEM_cert_to_DER_cert(file.read())
verifier = SignedDataVerifier([root], False, Environment.SANDBOX, bundle_id)
checks = {}

try:
    client.request_test_notification()
    checks["without a URL there is no test"] = False
except APIException as error:
    checks["without a URL there is no test"] = error.raw_api_error == 4040007

server = ThreadingHTTPServer(("127.0.0.1", 0), Merchant)
threading.Thread(target=server.serve_forever, daemon=True).start()
shopkeeper("app", "notification-url", f"http://127.0.0.1:{server.server_port}/notifications")

token = client.request_test_notification().testNotificationToken
kind, body = heard.get(timeout=60)
told = verifier.verify_and_decode_notification(body["signedPayload"])
checks["a test arrives as JSON"] = kind == "application/json"
checks["a test says so"] = told.notificationType == NotificationTypeV2.TEST
checks["a test is about the app"] = told.data.bundleId == bundle_id
checks["a test has a version and an environment"] = (
    told.version == "2.0" and told.data.environment == Environment.SANDBOX
)
answer = settled(token)
checks["a test's status has what was sent"] = answer.signedPayload == body["signedPayload"]
checks["a test's attempt succeeded"] = [
    attempt.sendAttemptResult for attempt in answer.sendAttempts
] == [SendAttemptResult.SUCCESS]
try:
    client.get_test_notification_status("nonsense")
    checks["nonsense is no token"] = False
except APIException as error:
    checks["nonsense is no token"] = error.raw_api_error == 4000020

bought = shopkeeper("buy", product, "--quantity", "2")
_, body = heard.get(timeout=60)
told = verifier.verify_and_decode_notification(body["signedPayload"])
transaction = verifier.verify_and_decode_signed_transaction(told.data.signedTransactionInfo)
checks["a sale is told"] = told.notificationType == NotificationTypeV2.ONE_TIME_CHARGE
checks["a sale's transaction is the one bought"] = (
    transaction.transactionId == bought["transactionId"] and transaction.quantity == 2
)

status = 500
failed = client.request_test_notification().testNotificationToken
heard.get(timeout=60)
checks["a refusal is an attempt that failed"] = [
    attempt.sendAttemptResult for attempt in settled(failed).sendAttempts
] == [SendAttemptResult.UNSUCCESSFUL_HTTP_RESPONSE_CODE]

now = int(time.time() * 1000)
question = dict(startDate=now - 3_600_000, endDate=now + 60_000)


def history(**filters):
    found, page = [], None
    while True:
        answer = client.get_notification_history(page, NotificationHistoryRequest(**question, **filters))
        found += [verifier.verify_and_decode_notification(item.signedPayload) for item in answer.notificationHistory]
        if not answer.hasMore:
            return found
        page = answer.paginationToken


status = 200
for _ in range(20):
    settled(client.request_test_notification().testNotificationToken)
checks["the history is whole over its pages"] = len(history()) == 23
checks["the history knows what failed"] = len(history(onlyFailures=True)) == 1
checks["the history is narrowed by type"] = [
    item.notificationUUID for item in history(notificationType=NotificationTypeV2.ONE_TIME_CHARGE)
] == [told.notificationUUID]
checks["the history is narrowed by customer"] = (
    len(history(transactionId=bought["transactionId"])) == 1
)
try:
    client.get_notification_history(
        None, NotificationHistoryRequest(startDate=1, endDate=now)
    )
    checks["the history goes back half a year"] = False
except APIException as error:
    checks["the history goes back half a year"] = error.raw_api_error == 4000012

print(json.dumps(checks))
sys.exit(0 if all(checks.values()) else 1)
