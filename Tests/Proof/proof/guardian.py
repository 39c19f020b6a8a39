# SPDX-License-Identifier: Apache-2.0
"""The guardian answers what waits for approval, as an operator: yes or no,
sometimes twice, and sometimes both ways at the same moment."""

import http.client
import json
import random
import threading
import urllib.error

from .journal import Journal

PAUSE_SECONDS = 0.2
TROUBLES = (OSError, ValueError, KeyError, http.client.HTTPException)


class Guardian:
    """Looks through `servers`, which come and go, until it is closed."""

    def __init__(self, servers, path, seed):
        self._servers = servers
        self._random = random.Random(seed)
        self._log = Journal(path)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self):
        self._is_over.set()

    def close(self):
        """Returns when it has done what it was about."""
        self.end()
        self._thread.join(60)

    def _watch(self):
        while not self._is_over.wait(PAUSE_SECONDS):
            server = self._random.choice(self._servers)
            try:
                waiting = server.operate("/operator/v1/purchases?state=waiting", method="GET")
            except TROUBLES:
                continue
            for purchase in waiting["purchases"]:
                self._decide(purchase)

    def _decide(self, purchase):
        answer = "declined" if self._random.randrange(4) == 0 else "approved"
        answers = [answer]
        drawn = self._random.randrange(6)
        if drawn == 0:
            answers.append(answer)
        elif drawn == 1:
            answers.append("approved" if answer == "declined" else "declined")
        threads = [
            threading.Thread(
                target=self._tell, args=(self._random.choice(self._servers), purchase, word)
            )
            for word in answers
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _tell(self, server, purchase, answer):
        noted = {
            "verb": "approval", "purchase": purchase["purchaseId"],
            "customer": int(purchase["customerId"]), "word": answer,
        }
        path = f"/operator/v1/purchases/{purchase['purchaseId']}/approval"
        body = {"answer": answer, "customerId": purchase["customerId"]}
        try:
            server.operate(path, body, method="PUT")
            status = 200
        except urllib.error.HTTPError as refused:
            status = refused.code
        except TROUBLES:
            return
        self._log.write(act="told", status=status, **noted)
