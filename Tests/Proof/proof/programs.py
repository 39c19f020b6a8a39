# SPDX-License-Identifier: Apache-2.0
"""Programs that a round starts, kills and starts again. Each dies with the
process that started it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor

START_SECONDS = 60
STOP_SECONDS = 30


class Trouble(Exception):
    """Something that the round itself needs did not happen."""


def bound(arguments):
    """Binds a child's end to that of the thread that starts it, where the system can."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", *arguments] if setpriv else arguments


#: Starts all children: one thread that lasts as long as the program.
NURSERY = ThreadPoolExecutor(max_workers=1, thread_name_prefix="nursery")


class Program:
    """A child whose lines are read by a thread of its own."""

    def __init__(self, arguments, errors, stdin=subprocess.DEVNULL, environment=None):
        self.child = NURSERY.submit(
            subprocess.Popen,
            bound(arguments), stdin=stdin, stdout=subprocess.PIPE, stderr=errors, text=True,
            env=environment,
            # SIGXFSZ stays ignored: a file too large is an answer, not an end.
            restore_signals=False,
        ).result()
        self._news = threading.Condition()
        self.lines = []
        self._ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def is_alive(self):
        return self.child.poll() is None

    def _read(self):
        for line in self.child.stdout:
            with self._news:
                self.lines.append(line)
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def wait_until(self, is_so, seconds):
        """What `is_so` makes of the lines so far, as soon as it is something."""
        with self._news:
            self._news.wait_for(lambda: is_so(self.lines) or self._ended, seconds)
            return is_so(self.lines)

    def kill(self, signal_number=signal.SIGKILL):
        if self.is_alive:
            self.child.send_signal(signal_number)

    def ended(self, seconds=STOP_SECONDS):
        try:
            return self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
            return None


class ServedProcess:
    """`shopkeeper serve` or `ledger serve`, or a program that says the same
    when it listens."""

    def __init__(self, command, options, data, errors):
        self._command, self._options = command, options
        self.data, self._errors = data, errors
        self.program = None
        self.port = None
        self.lives = self.cut_short = 0
        #: Variables for it alone; faults inside of it (`faults.py`), and its
        #: disk where that can forget (`power.py`).
        self.variables = {}
        self.page = self.power = None
        #: Called before each life.
        self.prepare = lambda: None

    def start_and_kill(self, seconds):
        """A life that ends while it begins."""
        program = self._run()
        threading.Event().wait(seconds)
        program.kill()
        program.ended()
        self.cut_short += 1

    def start(self):
        program = self._run()
        self.program = program
        url = program.wait_until(announced, START_SECONDS)
        if url is None:
            program.kill()
            raise Trouble(f"{self._command[0]} did not start: see its errors")
        self.port = int(url.rsplit(":", 1)[1])
        self.lives += 1

    def _run(self):
        self.prepare()
        runtime = os.path.join(self.data, "run")
        os.makedirs(runtime, mode=0o700, exist_ok=True)
        environment = {**os.environ, "XDG_RUNTIME_DIR": runtime, **self.variables}
        arguments = [
            *self._command, "--data", self.data, "--port", "0", "--json",
            "--log-level", "error", *self._options,
        ]
        return Program(arguments, self._errors, environment=environment)

    def kill(self):
        self.program.kill()
        self.program.ended()

    def stop(self):
        """Gently, as an operator does; its exit code."""
        self.program.kill(signal.SIGTERM)
        return self.program.ended()

    def keys(self):
        with open(os.path.join(self.data, "run.json"), encoding="utf-8") as file:
            return json.load(file)

    def operate(self, path, body=None, method="POST"):
        """A call at the operators' door."""
        return self._call(path, "operatorKey", body, method)

    def control(self, path, body=None, method="POST"):
        """A call at the control door."""
        return self._call(path, "controlKey", body, method)

    def merchant_key(self):
        """A new key of a ledger for the merchant's servers. Unlike that of the process, it
        outlives it."""
        body = {"name": "proof", "scope": "server"}
        return self._call("/ledger/v1/api-keys", "key", body, "POST")["key"]

    def _call(self, path, key, body, method):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            None if body is None else json.dumps(body).encode(),
            {
                "Authorization": f"Bearer {self.keys()[key]}",
                "Content-Type": "application/json",
            },
            method=method,
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=30) as response:
            text = response.read()
            return json.loads(text) if text else {}


def announced(lines):
    """The address in what `serve --json` prints; nothing before it is whole."""
    try:
        return json.loads("".join(lines))["url"]
    except (ValueError, KeyError):
        return None


class Processor:
    """The payment processor: started again whenever it died."""

    def __init__(self, folder, seed, errors):
        self._folder, self._seed, self._errors = folder, seed, errors
        self._is_over = threading.Event()
        self.lives = 0
        self.calm_file = os.path.join(folder, "calm")
        self.port = 0
        self._start()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def _start(self):
        self._program = Program(
            [
                sys.executable, "-m", "proof.processor", "--port", str(self.port),
                "--log", os.path.join(self._folder, "processor.log"),
                "--seed", str(self._seed + self.lives), "--calm-file", self.calm_file,
            ],
            self._errors, environment=python_environment(),
        )
        line = self._program.wait_until(lambda lines: lines and lines[0], START_SECONDS)
        if not line:
            raise Trouble("the payment processor did not start: see its errors")
        self.port = int(line.split()[1])
        self.lives += 1

    def _keep(self):
        while not self._is_over.is_set():
            self._program.child.wait()
            if self._is_over.is_set():
                return
            try:
                self._start()
            except Trouble:
                # The port may be another's for a moment.
                self._is_over.wait(0.1)

    def kill(self):
        self._program.kill()

    def calm(self):
        with open(self.calm_file, "w", encoding="utf-8"):
            pass

    def close(self):
        self._is_over.set()
        self._program.kill()
        self._keeper.join(STOP_SECONDS)


def python_environment():
    """Where this package is found by a Python that this one starts."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return {**os.environ, "PYTHONPATH": package, "PYTHONDONTWRITEBYTECODE": "1"}
