# SPDX-License-Identifier: Apache-2.0
"""Many devices against a store, as a process of its own:

    python -m proof.load FOLDER < orders

The first line on standard input is a JSON object that says whom to load how. After
it, `read` lets the devices only read, `shop` lets them shop again, and `calm` ends the
shopping for good. After `end`, when nothing is sold any more, they read to the end. It
says on standard output how many answers were heard.
"""

import json
import random
import sys
import threading

from .device import Device
from .household import Household
from .journal import Journal
from .ledger import Merchant
from .subscriber import Subscriber

# Without any progress; longer than a dead server's leases last.
WIND_UP_SECONDS = 100
READ_ON_TRIES = 40
# Between two steps of a device that subscribes, and of a household: most of what happens to
# the one is time's, and the other is rare.
SUBSCRIBER_PAUSE = 0.1


class Load:
    def __init__(self, folder, orders):
        self.orders = orders
        self.calm, self.end = threading.Event(), threading.Event()
        #: The devices buy nothing and send nothing: they read what was sold.
        self.reads = threading.Event()
        self.speech = threading.Lock()
        seeds = random.Random(orders["seed"])
        self.wound_up = threading.Barrier(len(orders["devices"]))
        self.devices = [
            self.device(folder, number, world, seeds)
            for number, world in enumerate(orders["devices"])
        ]
        self.complaints = []

    def device(self, folder, number, world, seeds):
        lot = random.Random(seeds.getrandbits(64))
        ledger = self.orders.get("ledger")
        name, log = f"d{number}", Journal(f"{folder}/device-{number}.log")
        common = (name, lot, self.orders["fronts"])
        merchant = Merchant(ledger, lot) if ledger else None
        if world["subscribes"]:
            return Subscriber(
                self.orders["plans"], *common, self.orders["extras"], log, world, merchant)
        if world["movesHouse"]:
            return Household(*common, self.orders["extras"], log, world, merchant)
        return Device(*common, self.orders["products"], log, world, merchant)

    def run(self):
        threads = [
            threading.Thread(target=self.shop, args=(device,)) for device in self.devices
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.say("done", complaints=self.complaints)

    def shop(self, device):
        pause = threading.Event()
        while not device.sign_in():
            pause.wait(0.05)
        told = 0
        while not self.calm.is_set() and len(device.bodies) < self.orders["purchasesMax"]:
            heard = device.heard
            device.read() if self.reads.is_set() else device.step()
            if device.heard == heard:
                # No server there: do not loop without a pause.
                pause.wait(0.02)
            elif device.heard - told >= 10:
                told = device.heard
                self.say("heard", count=sum(device.heard for device in self.devices))
            if device.world["subscribes"] or device.world["movesHouse"]:
                pause.wait(SUBSCRIBER_PAUSE)
        self.calm.wait()
        if not device.wind_up(WIND_UP_SECONDS):
            self.complaints.append(f"{device.name} could not wind up")
        # Devices of one customer read to the end only when both have finished, and when
        # no renewal comes any more.
        if self.wound_up.wait() == 0:
            self.say("wound up")
        self.end.wait()
        if not device.read_on(READ_ON_TRIES):
            self.complaints.append(f"{device.name} could not read to the end")

    def say(self, word, **facts):
        with self.speech:
            print(json.dumps({"word": word, **facts}), flush=True)


def main():
    orders = json.loads(sys.stdin.readline())
    load = Load(sys.argv[1], orders)
    running = threading.Thread(target=load.run)
    running.start()
    for line in sys.stdin:
        match line.strip():
            case "read":
                load.reads.set()
            case "shop":
                load.reads.clear()
            case "calm":
                load.calm.set()
            case "end":
                load.end.set()
    load.calm.set()
    load.end.set()
    running.join()


if __name__ == "__main__":
    main()
