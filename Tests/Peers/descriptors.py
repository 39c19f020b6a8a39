# SPDX-License-Identifier: Apache-2.0
"""Runs a server that may open 256 files, holds 160 connections to it, then lowers its limit to what
it has open, and lets go. Prints what it answered meanwhile. Arguments: `store` or `ledger`, and the
command, which prints its announcement as JSON."""
import http.client
import json
import os
import resource
import socket
import subprocess
import sys
import time
import urllib.parse

LIMIT, HELD, SECONDS_MAX = 256, 160, 60


def lower():
    resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT))


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def ask(connection, method, path, body=None, key=None):
    headers = {"Content-Type": "application/json"} if body else {}
    if key:
        headers["Authorization"] = "Bearer " + key
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    answer.read()
    return answer.status


def main():
    kind, command = sys.argv[1], sys.argv[2:]
    server = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=lower)
    try:
        text = ""
        while True:
            line = server.stdout.readline()
            assert line, "the server ended"
            text += line
            try:
                told = json.loads(text)
                break
            except ValueError:
                continue
        url = urllib.parse.urlsplit(told["url"])
        kept = http.client.HTTPConnection(url.hostname, url.port, timeout=SECONDS_MAX)
        assert ask(kept, "GET", "/ready") == 200, "not ready at first"
        held = [socket.create_connection((url.hostname, url.port)) for _ in range(HELD)]
        end = time.monotonic() + SECONDS_MAX
        status = 0
        while status != 503 and time.monotonic() < end:
            status = ask(kept, "GET", "/ready")
        seen = {"held": len(held), "readyWhileHeld": status, "realmWhileHeld": 0}
        if kind == "store":
            with open(os.path.join(told["data"], "run.json")) as file:
                key = json.load(file)["operatorKey"]
            seen["realmWhileHeld"] = ask(
                kept, "POST", "/operator/v1/realms", '{"name": "more"}', key)
        # Room for two connections by the server's own count, and not one descriptor for them.
        for one in held[:40]:
            one.close()
        end = time.monotonic() + SECONDS_MAX
        while ask(kept, "GET", "/ready") != 200:
            assert time.monotonic() < end, "no place is given back"
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (open_files(server.pid), LIMIT))
        late = [socket.create_connection((url.hostname, url.port)) for _ in range(5)]
        began, wall = cpu_seconds(server.pid), time.monotonic()
        time.sleep(1)
        seen["cpuWithoutDescriptors"] = (
            (cpu_seconds(server.pid) - began) / (time.monotonic() - wall))
        assert ask(kept, "GET", "/health") == 200, "the server does not answer any more"
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (LIMIT, LIMIT))
        for one in held[40:] + late:
            one.close()
        fresh = http.client.HTTPConnection(url.hostname, url.port, timeout=SECONDS_MAX)
        seen["readyAfter"] = ask(fresh, "GET", "/ready")
        print(json.dumps(seen))
    finally:
        server.terminate()
        server.wait(SECONDS_MAX)


main()
