# SPDX-License-Identifier: Apache-2.0
"""A sandbox and a production realm of one store, each under Apple's hosts of its environment.

Starts a payment processor, and then itself again under `shopkeeper exec --intercept`. With the argument
`local` the store's own realm is for LocalTesting.
"""
import base64
import json
import os
import ssl
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from appstoreserverlibrary.api_client import APIException, AppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

env = os.environ
checks = {}


class Processor(BaseHTTPRequestHandler):
    """Approves and captures whatever is asked."""

    protocol_version = "HTTP/1.1"

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = self.path.split("/")
        state = {"capture": "captured", "void": "voided"}.get(parts[-1], "approved")
        body = json.dumps({"key": urllib.parse.unquote(parts[2]), "state": state, "reference": "r"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *arguments):
        pass


def shopkeeper(*arguments, **variables):
    return json.loads(subprocess.check_output(["shopkeeper", *arguments, "--json"], env={**env, **variables}))


def client(environment, key):
    """As Apple's documentation makes one: its address is the library's own."""
    with open(key["path"], "rb") as file:
        return AppStoreServerAPIClient(file.read(), key["keyId"], key["issuerId"], bundle_id, environment)


def info(environment, key, transaction):
    """The environment in what is answered, or the number of the refusal."""
    try:
        answer = client(environment, key).get_transaction_info(transaction)
    except APIException as refusal:
        return refusal.raw_api_error
    part = answer.signedTransactionInfo.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))["environment"]


def ask(method, url, body=None, token=None):
    request = urllib.request.Request(url, method=method, data=None if body is None else json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    if token:
        request.add_header("Authorization", "Bearer " + token)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read()


def sign_in(realm, **fields):
    status, body = ask(
        "POST", f"{env['SHOPKEEPER_URL']}/realms/{realm}/device/v1/sessions",
        {"deviceUUID": "0f0f0f0f-1111-4222-8333-444444444444", "bundleId": bundle_id, **fields})
    return status, json.loads(body)


def both():
    product = "com.example.monkeycredits.credits5"
    tested = shopkeeper("buy", product)["transactionId"]
    shopkeeper("realm", "create", "live", "--production")
    shopkeeper("catalogue", "export", "--output", "sold.storekit")
    shopkeeper("catalogue", "import", "sold.storekit", "--realm", "live")
    shopkeeper("app", "version", "add", "1.0", "--product", product, "--realm", "live")
    shopkeeper("app", "version", "live", "1.0", "--realm", "live")
    shopkeeper("customer", "create", "ann", "--password", "correct horse", "--realm", "live")
    sold = shopkeeper(
        "buy", product, "--realm", "live", "--customer", "ann", SHOPKEEPER_PASSWORD="correct horse")["transactionId"]
    own = {
        "path": env["SHOPKEEPER_SERVER_KEY"], "keyId": env["SHOPKEEPER_SERVER_KEY_ID"],
        "issuerId": env["SHOPKEEPER_ISSUER_ID"],
    }
    live = shopkeeper("key", "create", "--realm", "live")
    live["path"] = live["file"]

    checks["production's host answers production's key"] = info(Environment.PRODUCTION, live, sold) == "Production"
    checks["the sandbox's host answers the sandbox's key"] = info(Environment.SANDBOX, own, tested) == "Sandbox"
    checks["production's key finds nothing at the sandbox's host"] = info(Environment.SANDBOX, live, sold) == 4040010
    checks["neither finds what the other realm sold"] = (
        info(Environment.PRODUCTION, live, tested) == 4040010
        and info(Environment.SANDBOX, own, sold) == 4040010
    )

    status, session = sign_in("live", customer="ann", password="correct horse", environment="Production")
    checks["a customer signs in to production"] = status == 200
    _, receipt = ask(
        "GET", env["SHOPKEEPER_URL"] + "/realms/live/device/v1/receipt", token=session["token"])
    body = {"receipt-data": base64.b64encode(receipt).decode()}
    statuses = [
        json.loads(ask("POST", f"https://{host}.itunes.apple.com/verifyReceipt", body)[1])["status"]
        for host in ["buy", "sandbox"]
    ]
    checks["production's receipt is verified at production's host alone"] = statuses == [0, 21008]
    with open(shopkeeper("connect", "curl", "--realm", "live", "--key", live["keyId"])["root"]) as file:
        root = ssl.PEM_cert_to_DER_cert(file.read())
    verifier = SignedDataVerifier([root], False, Environment.PRODUCTION, bundle_id, 1234567890)
    answer = client(Environment.PRODUCTION, live).get_transaction_info(sold)
    told = verifier.verify_and_decode_signed_transaction(answer.signedTransactionInfo)
    checks["production's signatures have production's root"] = told.transactionId == sold

    status, refusal = sign_in("live", customer="customer")
    checks["a tester does not sign in to production, and is told why"] = (
        status == 401 and "sandbox" in refusal["rule"])
    status, refusal = sign_in("default", customer="ann", password="correct horse")
    checks["nor a customer to a sandbox"] = status == 401 and "production" in refusal["rule"]
    refusals = [
        sign_in("live", customer="ann", password="correct horse", environment="Sandbox"),
        sign_in("default", environment="Production"),
    ]
    checks["a device gets into no other environment"] = all(
        status == 403 and refusal["code"] == "environmentMismatch" for status, refusal in refusals)


def local():
    tested = shopkeeper("buy", "com.example.monkeycredits.credits5")["transactionId"]
    own = {
        "path": env["SHOPKEEPER_SERVER_KEY"], "keyId": env["SHOPKEEPER_SERVER_KEY_ID"],
        "issuerId": env["SHOPKEEPER_ISSUER_ID"],
    }
    checks["the library's host for local tests is the store"] = (
        info(Environment.LOCAL_TESTING, own, tested) == "LocalTesting")
    # The library verifies nothing in this environment, and compares what it says.
    verifier = SignedDataVerifier([b"none"], False, Environment.LOCAL_TESTING, bundle_id)
    answer = client(Environment.LOCAL_TESTING, own).get_transaction_info(tested)
    told = verifier.verify_and_decode_signed_transaction(answer.signedTransactionInfo)
    checks["the library reads it without a root"] = told.environment == Environment.LOCAL_TESTING
    checks["the sandbox's host does not know it"] = info(Environment.SANDBOX, own, tested) == 4040010
    shopkeeper("realm", "create", "xcode", "--environment", "xcode")
    checks["a realm may be Xcode's"] = any(
        realm["environment"] == "Xcode" for realm in shopkeeper("realm", "list"))


if "SHOPKEEPER_URL" not in env:
    processor = ThreadingHTTPServer(("127.0.0.1", 0), Processor)
    threading.Thread(target=processor.serve_forever, daemon=True).start()
    options = ["--environment", "LocalTesting"] if sys.argv[1:] == ["local"] else []
    sys.exit(subprocess.call(
        ["shopkeeper", "exec", "--intercept", "--scrypt-rounds", "2",
         "--processor", f"http://127.0.0.1:{processor.server_port}", *options,
         "--", sys.executable, *sys.argv]))

bundle_id = env["SHOPKEEPER_BUNDLE_ID"]
(local if sys.argv[1:] == ["local"] else both)()
print(json.dumps(checks))
sys.exit(0 if all(checks.values()) else 1)
