# SPDX-License-Identifier: Apache-2.0
"""What Apple's library says of each of many JWS, good and spoilt.

usage: official_opinions.py FOLDER

FOLDER/cases.json, written by OpinionTests.swift, is a list of {"name", "jws",
"root" (DER in Base64), "subject", "environment", "bundleId", "appAppleId"}.
Prints {name: status}, where the status is OK, the library's own word, or
the name of another exception with which it ends.
"""

import base64
import json
import sys
from pathlib import Path

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import (
    SignedDataVerifier,
    VerificationException,
)

FUNCTIONS = {
    "transaction": "verify_and_decode_signed_transaction",
    "notification": "verify_and_decode_notification",
    "appTransaction": "verify_and_decode_app_transaction",
    "renewalInfo": "verify_and_decode_renewal_info",
    "realtimeRequest": "verify_and_decode_realtime_request",
}


def status(case):
    verifier = SignedDataVerifier(
        [base64.b64decode(case["root"])],
        False,
        Environment(case["environment"]),
        case["bundleId"],
        case["appAppleId"],
    )
    try:
        getattr(verifier, FUNCTIONS[case["subject"]])(case["jws"])
        return "OK"
    except VerificationException as error:
        return error.status.name
    except Exception as error:  # the library's decoder has exceptions of its own
        return type(error).__name__


def main():
    cases = json.loads((Path(sys.argv[1]) / "cases.json").read_text())
    json.dump({case["name"]: status(case) for case in cases}, sys.stdout)


if __name__ == "__main__":
    main()
