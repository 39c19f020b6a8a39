# SPDX-License-Identifier: Apache-2.0
"""Under `shopkeeper exec`: buys, reads the transaction back with Apple's library, verifies it online."""
import json
import os
import ssl
import subprocess
import sys

from appstoreserverlibrary.api_client import APIException, AppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException

env = os.environ
product = "com.example.monkeycredits.credits5"
bought = json.loads(
    subprocess.check_output(["shopkeeper", "buy", product, "--quantity", "2", "--json"])
)
with open(env["SHOPKEEPER_SERVER_KEY"], "rb") as file:
    key = file.read()


def client(issuer):
    made = AppStoreServerAPIClient(
        key, env["SHOPKEEPER_SERVER_KEY_ID"], issuer, env["SHOPKEEPER_BUNDLE_ID"], Environment.SANDBOX
    )
    made._base_url = env["SHOPKEEPER_URL"]
    return made


def verifier(bundle_id):
    with open(env["SHOPKEEPER_ROOT"]) as file:
        root = ssl.PEM_cert_to_DER_cert(file.read())
    return SignedDataVerifier([root], True, Environment.SANDBOX, bundle_id)


ours = client(env["SHOPKEEPER_ISSUER_ID"])
signed = ours.get_transaction_info(bought["transactionId"]).signedTransactionInfo
transaction = verifier(env["SHOPKEEPER_BUNDLE_ID"]).verify_and_decode_signed_transaction(signed)
checks = {
    "product": transaction.productId == product,
    "quantity": transaction.quantity == 2,
    "price": transaction.price == 1980,
    "transaction": transaction.transactionId == bought["transactionId"],
}
try:
    verifier("com.example.other").verify_and_decode_signed_transaction(signed)
    checks["another app's is refused"] = False
except VerificationException:
    checks["another app's is refused"] = True
try:
    ours.get_transaction_info("2999999999999000")
    checks["an unknown one has Apple's code"] = False
except APIException as error:
    checks["an unknown one has Apple's code"] = error.raw_api_error == 4040010
try:
    client("00000000-0000-4000-8000-000000000000").get_transaction_info(bought["transactionId"])
    checks["another issuer is refused"] = False
except APIException as error:
    checks["another issuer is refused"] = error.http_status_code == 401
print(json.dumps(checks))
sys.exit(0 if all(checks.values()) else 1)
