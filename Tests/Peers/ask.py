# SPDX-License-Identifier: Apache-2.0
"""Asks METHOD URL BODY, with headers `NAME: VALUE`, and prints status, Retry-After and body as JSON."""
import json
import sys
import urllib.error
import urllib.request

method, url, body, *headers = sys.argv[1:]
fields = {"Content-Type": "application/json", **dict(header.split(": ", 1) for header in headers)}
request = urllib.request.Request(url, body.encode() or None, fields, method=method)
try:
    answer = urllib.request.urlopen(request, timeout=50)
except urllib.error.HTTPError as error:
    answer = error
with answer:
    told = {"status": answer.status, "body": answer.read().decode()}
    if answer.headers["Retry-After"]:
        told["retryAfter"] = answer.headers["Retry-After"]
print(json.dumps(told))
