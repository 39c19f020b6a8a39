# SPDX-License-Identifier: Apache-2.0
"""Signs in at URL as CUSTOMER with PASSWORD and buys PRODUCT at PRICE, over https that CERTIFICATE vouches for."""
import json
import ssl
import sys
import urllib.request
import uuid

url, certificate, customer, password, product, price = sys.argv[1:]
context = ssl.create_default_context(cafile=certificate)


def ask(method, path, body, token=None):
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = "Bearer " + token
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers, method=method)
    with urllib.request.urlopen(request, timeout=30, context=context) as answer:
        return json.load(answer)


session = ask(
    "POST", "/device/v1/sessions",
    {"deviceUUID": str(uuid.uuid4()), "customer": customer, "password": password})
bought = ask(
    "PUT", f"/device/v1/purchases/{uuid.uuid4()}",
    {"productId": product, "quantity": 1, "unitPrice": int(price), "currency": "USD"},
    session["token"])
print(bought["state"])
