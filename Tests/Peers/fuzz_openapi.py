# SPDX-License-Identifier: Apache-2.0
"""Runs a store and lets Schemathesis ask it whatever docs/openapi.json allows, and some of what it
does not: every status, type and body that comes has to be written there, and none may be 500. The
same requests every time. Arguments: the command that serves a store, and how many examples an
operation gets. Exits with 1 and prints what differed."""
import json
import os
import pathlib
import subprocess
import sys
import urllib.request

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "openapi.json"
SECONDS_MAX = 240
# One makes RSA keys, which takes seconds; the other reads OCSP, which Schemathesis cannot write.
OTHERS = ["/operator/v1/certificates/rotations", "/certificates/status"]


def announcement(server):
    text = ""
    while True:
        line = server.stdout.readline()
        if not line:
            raise SystemExit("the store does not start")
        text += line
        try:
            return json.loads(text)
        except ValueError:
            continue


def token(url):
    body = b'{"deviceUUID": "0f0f0f0f-1111-4222-8333-444444444444"}'
    request = urllib.request.Request(
        url + "/device/v1/sessions", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=SECONDS_MAX) as answer:
        return json.load(answer)["token"]


def main():
    command, examples = sys.argv[1:-1], sys.argv[-1]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        told = announcement(server)
        run = json.loads((pathlib.Path(told["data"]) / "run.json").read_text())
        keys = {
            "Operator": run["operatorKey"], "Control": run["controlKey"],
            "Device": token(told["url"]), "Apple": "a.b.c", "Public": None,
        }
        failed = False
        for tag, key in keys.items():
            asked = subprocess.run(
                [
                    sys.executable, "-m", "schemathesis.cli", "run", str(PAGE), "--url",
                    told["url"], "--include-tag", tag, "--phases", "examples,fuzzing", "--checks",
                    "not_a_server_error,status_code_conformance,content_type_conformance,"
                    "response_schema_conformance", "--max-examples", examples, "--seed", "1",
                    "--generation-deterministic",
                    "--suppress-health-check", "all", "--no-color", "--request-timeout", "30",
                    "--workers", "1",
                ] + [word for path in OTHERS for word in ("--exclude-path", path)]
                + (["--header", f"Authorization: Bearer {key}"] if key else []),
                capture_output=True, text=True, timeout=SECONDS_MAX, cwd=told["data"],
                env={**os.environ, "NO_PROXY": "*"})
            if asked.returncode:
                failed = True
                print(f"== {tag}\n{asked.stdout[-8000:]}\n{asked.stderr[-2000:]}")
        if server.poll() is not None:
            raise SystemExit("the store has ended")
        return 1 if failed else 0
    finally:
        server.terminate()
        server.wait(SECONDS_MAX)


sys.exit(main())
