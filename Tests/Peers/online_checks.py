# SPDX-License-Identifier: Apache-2.0
"""Apple's library, with online checks on, judges transactions of a served store.

usage: online_checks.py ROOT BUNDLE_ID JWS...

Prints `good` or the library's reason, a line for each JWS.
"""

import sys
from pathlib import Path

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import (
    SignedDataVerifier,
    VerificationException,
)


def main():
    root, bundle_id, *signed = sys.argv[1:]
    for jws in signed:
        # A new one each time: it remembers what it has asked.
        verifier = SignedDataVerifier(
            [Path(root).read_bytes()], True, Environment.SANDBOX, bundle_id, None
        )
        try:
            verifier.verify_and_decode_signed_transaction(jws)
            print("good")
        except VerificationException as error:
            print(error.status.name)


if __name__ == "__main__":
    main()
