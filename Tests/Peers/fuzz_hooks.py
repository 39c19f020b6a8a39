# SPDX-License-Identifier: Apache-2.0
"""What fuzz_openapi.py adds to Schemathesis: ids of two tenants in the addresses of Apple's door, and the check
that the one never learns anything of the other. TENANT_IDS has the ids of both, and TENANT_MARKS what only the
other's answers contain."""
import base64
import json
import os
import re
import zlib

import schemathesis

IDS = json.loads(os.environ.get("TENANT_IDS", "[]"))
MARKS = json.loads(os.environ.get("TENANT_MARKS", "[]"))


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Two of three addresses have an id that exists, the same one every time."""
    for name, value in (case.path_parameters or {}).items():
        number = zlib.crc32(str(value).encode())
        if IDS and name.lower().endswith("transactionid") and number % 3:
            case.path_parameters[name] = IDS[number // 3 % len(IDS)]


def unfolded(text):
    """The text, and what is signed in it."""
    for part in re.findall(r"[A-Za-z0-9_-]{20,}", text):
        try:
            text += base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode(errors="replace")
        except ValueError:
            pass
    return text


@schemathesis.check
def nothing_of_the_other_tenant(ctx, response, case):
    told = unfolded(unfolded(response.content.decode(errors="replace")))
    for mark in MARKS:
        assert mark not in told, f"the answer contains {mark} of the other tenant"
