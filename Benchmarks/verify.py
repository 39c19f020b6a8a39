# SPDX-License-Identifier: Apache-2.0
"""Seconds that Apple's library for Python takes to verify a transaction N times, warm."""
import sys
import time

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

folder, count = sys.argv[1], int(sys.argv[2])
root = open(f"{folder}/root.der", "rb").read()
signed = open(f"{folder}/transaction.jws").read()
verifier = SignedDataVerifier([root], False, Environment.SANDBOX, "com.example.app")
verifier.verify_and_decode_signed_transaction(signed)
start = time.perf_counter()
for _ in range(count):
    verifier.verify_and_decode_signed_transaction(signed)
print(time.perf_counter() - start)
