# SPDX-License-Identifier: Apache-2.0
"""A merchant's server under `shopkeeper exec`: it hears notifications, and asks the store with Apple's library."""
import json
import os
import queue
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from appstoreserverlibrary.api_client import AppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

env = os.environ
bundle_id = env["SHOPKEEPER_BUNDLE_ID"]
heard = queue.Queue()


class Merchant(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        heard.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def shopkeeper(*arguments):
    return json.loads(subprocess.check_output(["shopkeeper", *arguments, "--json"]))


def listen():
    """Begins to hear notifications."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Merchant)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    shopkeeper("app", "notification-url", f"http://127.0.0.1:{server.server_port}/")


def next_note():
    """The next notification, verified."""
    return verifier.verify_and_decode_notification(heard.get(timeout=60)["signedPayload"])


with open(env["SHOPKEEPER_ROOT"]) as file:
    verifier = SignedDataVerifier(
        [ssl.PEM_cert_to_DER_cert(file.read())], False, Environment.SANDBOX, bundle_id
    )
with open(env["SHOPKEEPER_SERVER_KEY"], "rb") as file:
    client = AppStoreServerAPIClient(
        file.read(), env["SHOPKEEPER_SERVER_KEY_ID"], env["SHOPKEEPER_ISSUER_ID"], bundle_id,
        Environment.SANDBOX,
    )
client._base_url = env["SHOPKEEPER_URL"]
