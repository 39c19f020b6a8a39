# SPDX-License-Identifier: Apache-2.0
"""Checks signed data with others' libraries: JWS with `cryptography`, receipts
with `apple_purchase_receipt_verifier`, webhooks with `standardwebhooks`."""

import base64
import json
from datetime import datetime, timezone

from apple_purchase_receipt_verifier import Config, Verifier
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import load_der_x509_certificate, load_pem_x509_certificate
from standardwebhooks.webhooks import Webhook, WebhookVerificationError


class Trust:
    """The roots that signatures may end at, as PEM."""

    def __init__(self, roots):
        certificates = [load_pem_x509_certificate(root) for root in roots]
        self._roots = {each.public_bytes(Encoding.DER) for each in certificates}
        self._receipts = Verifier(Config(roots=sorted(self._roots)))
        #: Leaf keys of chains that were found to end at a root.
        self._keys = {}
        self.count = 0

    def problem(self, jws):
        """Why a JWS does not verify, or nothing."""
        self.count += 1
        try:
            head, body, signature = jws.split(".")
            key = self._key(tuple(json.loads(unpadded(head))["x5c"]))
            raw = unpadded(signature)
            parts = [int.from_bytes(raw[at : at + 32], "big") for at in (0, 32)]
            key.verify(
                utils.encode_dss_signature(*parts), f"{head}.{body}".encode(), ec.ECDSA(SHA256())
            )
        except (InvalidSignature, ValueError, KeyError, TypeError) as problem:
            return f"{type(problem).__name__}: {problem}"
        return None

    def _key(self, chain):
        """The leaf's key, of a chain in which each is issued by the next, up to a root."""
        if chain not in self._keys:
            certificates = [load_der_x509_certificate(base64.b64decode(text)) for text in chain]
            if certificates[-1].public_bytes(Encoding.DER) not in self._roots:
                raise ValueError("the chain ends at another root")
            for certificate, issuer in zip(certificates, certificates[1:]):
                certificate.verify_directly_issued_by(issuer)
            self._keys[chain] = certificates[0].public_key()
        return self._keys[chain]

    def receipt(self, encoded):
        """The purchases of a Base64 receipt, and why it does not verify."""
        self.count += 1
        result = self._receipts.verify_receipt(encoded)
        if not result.verified:
            return [], str(result.failure)
        purchases = [
            {
                "transaction": entry.transaction_id, "product": entry.product_id,
                "quantity": entry.quantity,
            }
            for entry in result.payload.in_app
        ]
        return purchases, None


class _Dateless(Webhook):
    """Checks a message's signature at any time: clocks are stepped, and dates are judged by a
    rule."""

    def _Webhook__verify_timestamp(self, timestamp):
        return datetime.fromtimestamp(float(timestamp), tz=timezone.utc)


def webhook_problem(secret, headers, body):
    """Why a webhook does not verify, by the library of its specification, or nothing."""
    try:
        _Dateless(secret).verify(body, {name: text or "" for name, text in headers.items()})
    except (WebhookVerificationError, ValueError) as problem:
        return f"{type(problem).__name__}: {problem}"
    return None


def unpadded(text):
    """Base64 as JOSE writes it."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def payload(signed):
    """What a JWS says, whether or not it verifies."""
    return json.loads(unpadded(signed.split(".")[1])) if signed else None
