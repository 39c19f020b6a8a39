# SPDX-License-Identifier: Apache-2.0
"""Runs a store and lets Schemathesis ask it whatever docs/openapi.json allows, and some of what it
does not: every status, type and body that comes has to be written there, and none may be 500. The
same requests every time. Apple's door is asked with the key of one app, by ids of it and of another app: nothing
of the other may come. Arguments: the command that serves a store, and how many examples an operation gets. Exits
with 1 and prints what differed."""
import base64
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


OTHER_APP = "com.example.stranger"
OTHER_MARK = "b0b0b0b0-0000-4000-8000-000000000001"


def asked(url, method, path, key, body=None):
    request = urllib.request.Request(
        url + path, None if body is None else json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}, method=method)
    with urllib.request.urlopen(request, timeout=SECONDS_MAX) as answer:
        return json.loads(answer.read() or b"{}")


def token(url, bundle_id, number=0):
    device = f"0f0f0f0f-1111-4222-8333-44444444{number:04}"
    return asked(url, "POST", "/device/v1/sessions", "", {"deviceUUID": device, "bundleId": bundle_id})["token"]


def sold(url, bundle_id, number, username):
    """The id of a purchase that a device makes in an app."""
    session = token(url, bundle_id, number)
    answer = asked(
        url, "PUT", f"/device/v1/purchases/0f0f0f0f-1111-4222-8333-55555555{number:04}", session, {
            "productId": "coins", "quantity": 1, "unitPrice": 990, "currency": "USD",
            "applicationUsername": username})
    part = answer["signedTransaction"].split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))["transactionId"]


def tenants(url, key, data):
    """The app that is served, a token for its server, and the ids of its purchase and of another app's."""
    own = asked(url, "GET", "/operator/v1/apps", key)["apps"][0]["bundleId"]
    asked(url, "POST", "/operator/v1/apps", key, {"bundleId": OTHER_APP})
    for app in [own, OTHER_APP]:
        asked(url, "POST", f"/operator/v1/apps/{app}/products", key, {
            "productId": "coins", "type": "consumable", "details": {
                "state": "ready", "price": 990,
                "localizations": [{"locale": "en_US", "displayName": "Coins", "description": "Coins."}]}})
    ids = [sold(url, own, 1, "a0a0a0a0-0000-4000-8000-000000000001"), sold(url, OTHER_APP, 2, OTHER_MARK)]
    made = json.loads(subprocess.check_output(["shopkeeper", "key", "create", "--data", data, "--json"]))
    bearer = subprocess.check_output(
        ["shopkeeper", "key", "token", "--key", made["keyId"], "--key-file", made["file"], "--seconds", "3000",
         "--data", data], text=True).strip()
    # Else the fuzzer would see refusals alone.
    asked(url, "GET", f"/inApps/v1/transactions/{ids[0]}", bearer)
    return own, bearer, ids


def main():
    command, examples = sys.argv[1:-1], sys.argv[-1]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        told = announcement(server)
        run = json.loads((pathlib.Path(told["data"]) / "run.json").read_text())
        own, bearer, ids = tenants(told["url"], run["operatorKey"], told["data"])
        # The others change what is there.
        keys = {
            "Apple": bearer, "Operator": run["operatorKey"], "Control": run["controlKey"],
            "Device": token(told["url"], own), "Public": None,
        }
        failed = False
        for tag, key in keys.items():
            known = tag == "Apple"
            outcome = subprocess.run(
                [
                    sys.executable, "-m", "schemathesis.cli", "run", str(PAGE), "--url",
                    told["url"], "--include-tag", tag, "--phases", "examples,fuzzing", "--checks",
                    "not_a_server_error,status_code_conformance,content_type_conformance,"
                    "response_schema_conformance" + (",nothing_of_the_other_tenant" if known else ""),
                    "--max-examples", examples, "--seed", "1",
                    "--generation-deterministic",
                    "--suppress-health-check", "all", "--no-color", "--request-timeout", "30",
                    "--workers", "1",
                ] + [word for path in OTHERS for word in ("--exclude-path", path)]
                + (["--header", f"Authorization: Bearer {key}"] if key else []),
                capture_output=True, text=True, timeout=SECONDS_MAX, cwd=told["data"],
                env={
                    **os.environ, "NO_PROXY": "*", "SCHEMATHESIS_HOOKS": "fuzz_hooks",
                    "PYTHONPATH": str(pathlib.Path(__file__).parent),
                    "TENANT_IDS": json.dumps(ids if known else []),
                    "TENANT_MARKS": json.dumps([OTHER_MARK, OTHER_APP, ids[1]] if known else []),
                })
            if outcome.returncode:
                failed = True
                print(f"== {tag}\n{outcome.stdout[-8000:]}\n{outcome.stderr[-2000:]}")
        if server.poll() is not None:
            raise SystemExit("the store has ended")
        return 1 if failed else 0
    finally:
        server.terminate()
        server.wait(SECONDS_MAX)


sys.exit(main())
