# SPDX-License-Identifier: Apache-2.0
"""Under `shopkeeper exec`: merchants' servers of long ago post receipts to /verifyReceipt, each with a library of others."""
import base64
import json
import os
import ssl
import subprocess
import sys
import urllib.request
import warnings

import itunesiap
from apple_purchase_receipt_verifier import Config, Environment, Verifier
from inapppy import AppStoreValidator, InAppPyValidationError
from itunesiap.request import RequestBase

warnings.simplefilter("ignore")
base = os.environ["SHOPKEEPER_URL"]
sandbox, production = base + "/verifyReceipt", base + "/realms/live/verifyReceipt"
checks = {}


def shopkeeper(*arguments):
    return json.loads(subprocess.check_output(["shopkeeper", *arguments, "--json"]))


def ask(method, url, body=None, token=None):
    request = urllib.request.Request(url, method=method, data=None if body is None else json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    if token:
        request.add_header("Authorization", "Bearer " + token)
    with urllib.request.urlopen(request) as answer:
        return answer.read()


def receipt():
    """The receipt of a device of the customer."""
    told = ask("POST", base + "/device/v1/sessions", {"deviceUUID": "0f0f0f0f-1111-4222-8333-444444444444"})
    return base64.b64encode(ask("GET", base + "/device/v1/receipt", token=json.loads(told)["token"])).decode()


class Validator(AppStoreValidator):
    """inapppy, whose addresses are Apple's."""

    def _change_url_by_sandbox(self):
        self.url = sandbox if self.sandbox else production


def refused(validator, *arguments):
    """The status of a refusal."""
    try:
        validator.validate(*arguments)
    except InAppPyValidationError as refusal:
        return refusal.raw_response["status"]
    return 0


def differences(theirs, ours, path=""):
    """What two answers do not have in common, but for the date of the request."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        found = []
        for key in sorted(set(theirs) | set(ours)):
            if key.startswith("request_date"):
                continue
            if key not in ours or key not in theirs:
                found.append(("+" if key in ours else "-") + path + key)
            else:
                found += differences(theirs[key], ours[key], path + key + ".")
        return found
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        return [one for pair in zip(theirs, ours) for one in differences(*pair, path)]
    return [] if theirs == ours and type(theirs) is type(ours) else ["!" + path]


shopkeeper("realm", "create", "live", "--production")
secret = shopkeeper("app", "shared-secret", "--new")["sharedSecret"]
coins = shopkeeper("buy", "coins")["transactionId"]
pro = shopkeeper("buy", "pro")["transactionId"]
paper = shopkeeper("buy", "paper")["transactionId"]
shopkeeper("refund", pro)
old = receipt()
shopkeeper("clock", "advance", "3w", "--notifications", "drop")

validator = Validator(auto_retry_wrong_env_request=True)
answer = validator.validate(old, secret)
latest = answer["latest_receipt_info"]
checks["production sends the server to the sandbox, which answers"] = validator.sandbox and answer["status"] == 0
checks["a receipt of long ago has the renewals since"] = (
    [one["product_id"] for one in latest] == ["paper"] * 4 + ["pro"]
    and latest[0]["original_transaction_id"] == paper
    and len(answer["receipt"]["in_app"]) == 2
)
checks["a refund is a cancellation"] = latest[-1]["transaction_id"] == pro and "cancellation_date_ms" in latest[-1]
checks["a finished consumable is in neither list"] = coins not in json.dumps(answer)
checks["old transactions are left out"] = [
    one["product_id"] for one in validator.validate(old, secret, True)["latest_receipt_info"]
] == ["paper", "pro"]
checks["refusals have Apple's statuses"] = [
    refused(Validator(), old, secret),
    refused(Validator(sandbox=True), old, "wrong"),
    refused(Validator(sandbox=True), old),
    refused(Validator(sandbox=True), "AAAA", secret),
] == [21007, 21004, 21004, 21002]

RequestBase.PRODUCTION_VALIDATION_URL, RequestBase.SANDBOX_VALIDATION_URL = production, sandbox
told = itunesiap.verify(answer["latest_receipt"], secret, env=itunesiap.env.review)
checks["the latest receipt is one, also for itunes-iap"] = (
    told.status == 0
    and len(told.receipt.in_app) == len(latest)
    and told.latest_receipt_info[0].product_id == "paper"
    and told.receipt.bundle_id == os.environ["SHOPKEEPER_BUNDLE_ID"]
)
shopkeeper("subscription", "cancel", paper)
told = itunesiap.verify(old, secret, env=itunesiap.env.sandbox)
checks["a cancelled subscription says so"] = told.pending_renewal_info[0].auto_renew_status == 0

with open(os.environ["SHOPKEEPER_ROOT"]) as file:
    judge = Verifier(Config(roots=[ssl.PEM_cert_to_DER_cert(file.read())]))
found = set()
for one in [old, answer["latest_receipt"], receipt()]:
    body = {"receipt-data": one, "password": secret}
    theirs = json.loads(judge.verify_receipt_endpoint(Environment.SANDBOX, json.dumps(body)))
    ours = json.loads(ask("POST", sandbox, body))
    found |= set(differences(theirs, {key: ours[key] for key in ours if key in theirs or key == "receipt"}))
print(sorted(found), file=sys.stderr)
# Our receipts do not contain these two attributes. verifyReceipt has 0 for them, and the oracle null or nothing.
checks["an oracle reads the same from each receipt"] = found == {
    "!receipt.download_id.", "+receipt.version_external_identifier",
}
for data in ["", "AAAA", "moon"]:
    body = json.dumps({"receipt-data": data})
    theirs = json.loads(judge.verify_receipt_endpoint(Environment.SANDBOX, body))
    checks[f"an oracle refuses {data!r} alike"] = json.loads(ask("POST", sandbox, json.loads(body))) == theirs
shopkeeper("fault", "set", "verify-receipt", "21105")
simulated = json.loads(ask("POST", sandbox, {"receipt-data": old, "password": secret}))
checks["a status is simulated, with both spellings"] = simulated == {
    "status": 21105, "is_retryable": True, "is-retryable": True,
}

print(json.dumps(checks))
sys.exit(0 if all(checks.values()) else 1)
