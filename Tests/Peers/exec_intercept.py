# SPDX-License-Identifier: Apache-2.0
"""Under `shopkeeper exec --intercept`: a merchant's server that knows only Apple's hosts."""
import json
import os
import sys
import urllib.error
import urllib.request

import requests
from appstoreserverlibrary.api_client import APIException, AppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment

from merchant import bundle_id, env, listen, next_note, shopkeeper, verifier

checks = {}
assert "SHOPKEEPER_TLS_URL" in os.environ


def client(environment, key_id=env["SHOPKEEPER_SERVER_KEY_ID"]):
    """As Apple's documentation makes one: its address is the library's own."""
    with open(env["SHOPKEEPER_SERVER_KEY"], "rb") as file:
        return AppStoreServerAPIClient(file.read(), key_id, env["SHOPKEEPER_ISSUER_ID"], bundle_id, environment)


def refused(ask):
    try:
        ask()
    except APIException as refusal:
        return refusal.http_status_code, refusal.raw_api_error
    return 200, None


bought = shopkeeper("buy", "com.example.monkeycredits.credits5")["transactionId"]
sandbox = client(Environment.SANDBOX)
told = verifier.verify_and_decode_signed_transaction(sandbox.get_transaction_info(bought).signedTransactionInfo)
checks["the sandbox's host answers"] = told.transactionId == bought
checks["the production host does not know what a sandbox sold"] = refused(
    lambda: client(Environment.PRODUCTION).get_transaction_info(bought)
) == (404, 4040010)
checks["an unknown key is refused"] = refused(
    lambda: client(Environment.SANDBOX, "2X9R4HXF34").get_transaction_info(bought)
) == (401, None)
listen()
sandbox.request_test_notification()
checks["a request with an effect has it"] = next_note().rawNotificationType == "TEST"

for host in [
    "api.storekit.apple.com", "api.storekit.itunes.apple.com", "api.storekit-sandbox.apple.com",
    "api.storekit-sandbox.itunes.apple.com", "buy.itunes.apple.com", "sandbox.itunes.apple.com",
]:
    checks[f"{host} is the store"] = requests.get(f"https://{host}/ready").json()["status"] == "ready"
    checks[f"{host} is it over plain HTTP"] = requests.get(f"http://{host}/ready").json()["status"] == "ready"
try:
    urllib.request.urlopen("https://api.storekit.apple.com/inApps/v1/transactions/1")
except urllib.error.HTTPError as answer:
    checks["Python's own client trusts it"] = answer.code == 401

try:
    requests.get("https://example.com/")
    checks["another host is refused"] = False
except requests.exceptions.ProxyError as error:
    checks["another host is refused"] = "403" in str(error)
answer = requests.get("http://example.com/")
checks["with a sentence"] = answer.status_code == 403 and "example.com was refused" in answer.text
checks["the store's own address needs no proxy"] = requests.get(env["SHOPKEEPER_URL"] + "/ready").ok

print(json.dumps(checks))
sys.exit(0 if all(checks.values()) else 1)
