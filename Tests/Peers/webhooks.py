#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges a webhook by the library of the specification Standard Webhooks.

usage: webhooks.py SECRET ID TIMESTAMP SIGNATURE < BODY

Prints `true` if it accepts the message and refuses the same with another body, another id
and another secret.
"""
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def accepts(secret, message, timestamp, signature, body):
    try:
        Webhook(secret).verify(
            body,
            {
                "webhook-id": message,
                "webhook-timestamp": timestamp,
                "webhook-signature": signature,
            },
        )
    except WebhookVerificationError:
        return False
    return True


def main():
    secret, message, timestamp, signature = sys.argv[1:]
    body = sys.stdin.read()
    strange = "whsec_" + "QUJD" * 11
    print(
        "true"
        if accepts(secret, message, timestamp, signature, body)
        and not accepts(secret, message, timestamp, signature, body + " ")
        and not accepts(secret, message + "x", timestamp, signature, body)
        and not accepts(strange, message, timestamp, signature, body)
        else "false"
    )


main()
