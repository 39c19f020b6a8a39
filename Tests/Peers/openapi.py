# SPDX-License-Identifier: Apache-2.0
"""Somebody else's validator judges docs/openapi.json.

usage: openapi.py FILE

Prints what is wrong, a line each, and exits with 1; with 0 when nothing is.
"""

import json
import sys
from pathlib import Path

from openapi_spec_validator import OpenAPIV30SpecValidator


def dangling(page, value, place=""):
    """The validator passes over references that lead nowhere."""
    if isinstance(value, dict):
        target = value.get("$ref")
        if isinstance(target, str):
            found = page
            for part in target.removeprefix("#/").split("/"):
                found = found.get(part) if isinstance(found, dict) else None
            if found is None:
                yield f"{place}: there is no {target}"
        for key, inner in value.items():
            yield from dangling(page, inner, f"{place}/{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from dangling(page, inner, f"{place}/{number}")


def main(path):
    page = json.loads(Path(path).read_text(encoding="utf-8"))
    if not str(page.get("openapi", "")).startswith("3.0."):
        print(f"openapi: {page.get('openapi')!r} is not 3.0")
        return 1
    lines = list(dangling(page, page))
    # It stumbles over such references where it follows them.
    errors = [] if lines else OpenAPIV30SpecValidator(page).iter_errors()
    for error in errors:
        place = "/".join(str(part) for part in error.absolute_path)
        lines.append(f"{place}: {error.message[:300]}")
    print("\n".join(lines), end="")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
