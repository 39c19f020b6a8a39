# SPDX-License-Identifier: Apache-2.0
"""Seconds that apple-purchase-receipt-verifier takes to verify a receipt N times, warm.

usage: verify_receipt.py FOLDER N, with receipt.der and root.der in FOLDER
"""
import base64
import sys
import time

from apple_purchase_receipt_verifier import Config, Verifier

folder, count = sys.argv[1], int(sys.argv[2])
root = open(f"{folder}/root.der", "rb").read()
text = base64.b64encode(open(f"{folder}/receipt.der", "rb").read()).decode()
verifier = Verifier(Config(roots=[root]))
result = verifier.verify_receipt(text)
if not result.verified:
    sys.exit(f"refused: {result.failure}")
start = time.perf_counter()
for _ in range(count):
    verifier.verify_receipt(text)
print(time.perf_counter() - start, len(result.payload.in_app))
