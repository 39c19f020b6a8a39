# SPDX-License-Identifier: Apache-2.0
"""Others' libraries judge what SignedData signed.

usage: signed_data.py FOLDER

FOLDER is filled by PeerTests.swift: facts.json says what was signed. The
report on standard output is {"checks": [{"name", "passed", "detail"}]}; the
Swift test reads it. Every library must accept what is ours, read the facts
out of it, and refuse a changed byte and a foreign root.
"""

import base64
import json
import sys
from pathlib import Path

from apple_purchase_receipt_verifier import Config, Reason, Verifier
from apple_purchase_receipt_verifier.receipt import device_hash
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.receipt_utility import ReceiptUtility
from appstoreserverlibrary.signed_data_verifier import (
    SignedDataVerifier,
    VerificationException,
    VerificationStatus,
)

CHECKS = []


def check(name):
    """Runs the function below it now and keeps the outcome."""

    def run(function):
        try:
            function()
            CHECKS.append({"name": name, "passed": True, "detail": ""})
        except Exception as error:  # the report carries every failure
            detail = f"{type(error).__name__}: {error}"
            CHECKS.append({"name": name, "passed": False, "detail": detail})
        return function

    return run


def equal(left, right):
    if left != right:
        raise AssertionError(f"{left!r} is not {right!r}")


def flipped_segment(jws, segment):
    """The JWS with one bit of one segment's decoded bytes changed."""
    segments = jws.split(".")
    text = segments[segment]
    data = bytearray(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    # The middle of a payload's text stays a text, so that only the signature can object.
    data[len(data) // 2] ^= 1
    segments[segment] = base64.urlsafe_b64encode(bytes(data)).rstrip(b"=").decode()
    return ".".join(segments)


def refused(function, statuses):
    try:
        function()
    except VerificationException as error:
        if error.status not in statuses:
            raise AssertionError(f"refused as {error.status}") from error
        return
    raise AssertionError("accepted")


def transactions(folder, facts):
    for name, environment, app_id in [
        ("sandbox", Environment.SANDBOX, None),
        ("production", Environment.PRODUCTION, facts["appAppleId"]),
    ]:
        root = (folder / f"{name}-root.der").read_bytes()
        foreign = (folder / "foreign-root.der").read_bytes()
        jws = (folder / f"{name}.jws").read_text()
        wanted = facts["transactions"][name]

        def verifier(roots, environment=environment, app_id=app_id):
            return SignedDataVerifier(roots, False, environment, facts["bundleId"], app_id)

        @check(f"Apple's library accepts a transaction of {name}")
        def _():
            got = verifier([root]).verify_and_decode_signed_transaction(jws)
            for key, value in wanted.items():
                read = getattr(got, key)
                equal(getattr(read, "value", read), value)

        for segment, part in enumerate(["header", "payload", "signature"]):

            @check(f"Apple's library refuses a flipped bit in the {part} of {name}")
            def _():
                # A header may break as a certificate, as a chain or as the signature.
                statuses = [VerificationStatus.VERIFICATION_FAILURE]
                if segment == 0:
                    statuses += [
                        VerificationStatus.INVALID_CERTIFICATE,
                        VerificationStatus.INVALID_CHAIN,
                    ]
                spoilt = flipped_segment(jws, segment)
                refused(
                    lambda: verifier([root]).verify_and_decode_signed_transaction(spoilt),
                    statuses,
                )

        @check(f"Apple's library refuses a transaction of {name} under a foreign root")
        def _():
            refused(
                lambda: verifier([foreign]).verify_and_decode_signed_transaction(jws),
                [VerificationStatus.VERIFICATION_FAILURE],
            )


def receipts(folder, facts):
    root = (folder / "sandbox-root.der").read_bytes()
    foreign = (folder / "foreign-root.der").read_bytes()
    ours = Verifier(Config(roots=[root]))
    theirs = Verifier(Config(roots=[foreign]))
    wanted = facts["receipt"]

    for digest in ["sha256", "sha1"]:
        receipt = (folder / f"receipt-{digest}.der").read_bytes()
        text = base64.b64encode(receipt).decode()

        @check(f"Apple's ReceiptUtility finds the transaction id ({digest})")
        def _():
            found = ReceiptUtility().extract_transaction_id_from_app_receipt(text)
            equal(found, wanted["purchases"][0]["transaction_id"])

        @check(f"apple-purchase-receipt-verifier reads what was signed ({digest})")
        def _():
            result = ours.verify_receipt(text)
            if not result.verified:
                raise AssertionError(result.failure)
            got = result.payload
            for key, value in wanted["header"].items():
                equal(getattr(got, key), value)
            equal(len(got.in_app), len(wanted["purchases"]))
            for purchase, values in zip(got.in_app, wanted["purchases"]):
                for key, value in values.items():
                    equal(getattr(purchase, key), value)
            device = bytes.fromhex(facts["device"])
            equal(device_hash(device, got.opaque_value, got.bundle_id_bytes), got.sha1_hash)

        @check(f"apple-purchase-receipt-verifier refuses a flipped bit ({digest})")
        def _():
            spoilt = bytearray(receipt)
            at = receipt.index(wanted["header"]["bundle_id"].encode())
            spoilt[at] ^= 1
            result = ours.verify_receipt(base64.b64encode(bytes(spoilt)).decode())
            equal(result.verified, False)
            equal(result.failure.reason, Reason.INVALID_SIGNATURE)

        @check(f"apple-purchase-receipt-verifier refuses a foreign root ({digest})")
        def _():
            result = theirs.verify_receipt(text)
            equal(result.verified, False)
            equal(result.failure.reason, Reason.UNTRUSTED_CHAIN)


def main():
    folder = Path(sys.argv[1])
    facts = json.loads((folder / "facts.json").read_text())
    transactions(folder, facts)
    receipts(folder, facts)
    json.dump({"checks": CHECKS}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
