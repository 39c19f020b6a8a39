# SPDX-License-Identifier: Apache-2.0
"""The power of a disk that is cut: of each database of a folder, what was synced
stays, and of what was not, each change is lost, kept, or kept in part.

`journal.c`, preloaded into whatever opened the databases, wrote down what stood
there before each change. Contents and new names can be lost; a removed or
renamed file is taken to be so at once, and so is everything but databases and
their logs to be synced.
"""

import os
import struct

HEAD_BYTES = 4096
SECTOR = 512
#: The same as in `journal.c`.
RECORD = struct.Struct("<5q")
WROTE, TRUNCATED, SYNCED, NOT_SYNCED = range(4)
LOST, KEPT, TORN = range(3)


class Disk:
    """A data folder, and the journals of its databases outside of it."""

    def __init__(self, folder, journals):
        self._folder, self._journals = folder, journals
        self.variables = {"PROOF_DISK": folder, "PROOF_JOURNALS": journals}

    def forget(self, lot):
        """What a power failure leaves; how many changes were not synced. The
        processes that wrote must be dead."""
        open_changes = 0
        for path in self._databases():
            if path.endswith("-shm"):
                os.unlink(path)
                continue
            facts = os.stat(path)
            journal = os.path.join(self._journals, f"{facts.st_dev:x}-{facts.st_ino:x}")
            if os.path.exists(journal):
                open_changes += forget_file(path, journal, lot)
        for name in os.listdir(self._journals):
            os.unlink(os.path.join(self._journals, name))
        return open_changes

    def _databases(self):
        return [
            os.path.join(place, name)
            for place, _, names in os.walk(self._folder)
            for name in sorted(names) if ".sqlite" in name
        ]


class Change:
    """A write, or a truncation, with what it took away and what it put there."""

    def __init__(self, kind, at, count, size, before):
        self.kind, self.at, self.count, self.size, self.before = kind, at, count, size, before
        self.after = b""
        #: Synced; or a sync of it failed, and no later one writes it.
        self.is_synced = self.is_doomed = False

    def undo(self, content):
        if self.kind == WROTE:
            self.after = bytes(content[self.at:self.at + self.count])
        resize(content, self.size)
        content[self.at:self.at + len(self.before)] = self.before

    def redo(self, content, lot):
        fate = KEPT if self.is_synced else LOST if self.is_doomed else lot.randrange(3)
        if fate == LOST:
            return
        if self.kind == TRUNCATED:
            resize(content, self.at)
            return
        for start in range(0, len(self.after), SECTOR):
            if fate == KEPT or lot.randrange(2):
                put(content, self.at + start, self.after[start:start + SECTOR])


def changes(records):
    """The changes that a journal holds, each with what became of it."""
    found, place = [], 0
    while place < len(records):
        kind, at, count, size, kept = RECORD.unpack_from(records, place)
        start = place
        place += RECORD.size + kept
        if kind in (WROTE, TRUNCATED):
            before = records[place - kept:place]
            found.append((start, Change(kind, at, count, size, before)))
            continue
        for where, change in found:
            if where < at and not change.is_synced and not change.is_doomed:
                change.is_synced, change.is_doomed = kind == SYNCED, kind == NOT_SYNCED
    return [change for _, change in found]


def forget_file(path, journal, lot):
    """Writes a file as the power left it; how many changes were not synced."""
    with open(journal, "rb") as file:
        head = file.read(HEAD_BYTES)
        end, is_born, _ = struct.unpack_from("<3q", head)
        made = changes(file.read(end))
    lost = sum(not change.is_synced for change in made)
    if is_born and lot.randrange(2):
        os.unlink(path)
        return lost + 1
    with open(path, "r+b") as file:
        content = bytearray(file.read())
        for change in reversed(made):
            change.undo(content)
        for change in made:
            change.redo(content, lot)
        file.seek(0)
        file.write(content)
        file.truncate()
    return lost


def resize(content, size):
    if size < len(content):
        del content[size:]
    else:
        content.extend(bytes(size - len(content)))


def put(content, at, data):
    resize(content, max(len(content), at + len(data)))
    content[at:at + len(data)] = data
