// SPDX-License-Identifier: Apache-2.0
// What the parts of the preloaded library share.
#pragma once
#include <stdatomic.h>
#include <stdint.h>

/// The same layout as in `faults.py`.
struct orders {
    _Atomic int64_t clock_seconds;   // added to the wall clock
    _Atomic int64_t syncs_to_fail;   // the next so many fail with EIO
    _Atomic int64_t sync_microseconds;  // each sync takes as much longer
    _Atomic int64_t syncs_failed;
    _Atomic int64_t leaves_logs;  // commits are not synced: a flaw, for the proof's own tests
};

extern struct orders *orders;

/// A sync of a file begins: what was written to it so far, for `journal_synced`.
int64_t journal_mark(int file);

/// Whether this sync is one that a flaw leaves out.
int journal_leaves(int file);

/// A sync of all before `mark` has ended, well or not.
void journal_synced(int file, int64_t mark, int is_done);
