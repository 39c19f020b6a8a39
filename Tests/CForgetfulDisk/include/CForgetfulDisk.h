// SPDX-License-Identifier: Apache-2.0
#ifndef C_FORGETFUL_DISK_H
#define C_FORGETFUL_DISK_H

#include <stdint.h>

/// A SQLite file system over the default one whose power can fail: then every
/// byte that was not synced may be lost, kept or torn, as a seed says.
extern const char *const forgetful_disk_name;

/// Registers the file system; 0 on success. May be called again.
int forgetful_disk_register(void);

/// From now on the files below `prefix` are watched, and the power fails
/// before operation number `operations` (writes, truncations and syncs, from 0);
/// never, when negative.
void forgetful_disk_insert(const char *prefix, long operations);

/// Operations so far, since the disk was inserted; syncs among them.
long forgetful_disk_operations(const char *prefix);
long forgetful_disk_syncs(const char *prefix);

/// 1 once the power has failed.
int forgetful_disk_is_off(const char *prefix);

/// Everything fails again after so many operations from now on; never, when
/// negative. With -1 it takes an operation that failed for the death of the
/// process: the next process reads all that was written, synced or not.
void forgetful_disk_limit(const char *prefix, long operations);

/// Whether every sync fails, and what it should have made durable stays
/// readable and is never written by a later sync (as Linux does it).
void forgetful_disk_refuse_syncs(const char *prefix, int refuses);

/// With every file closed: leaves on the real disk what the power failure
/// left, and watches no more. Returns how many bytes' fate was open.
long forgetful_disk_settle(const char *prefix, uint64_t seed);

/// Of files on no disk of these: while it is set no log can be moved into its
/// database, and the sync of a log does nothing, so that what an earlier life left in a log
/// stays as it was.
void forgetful_disk_leave_unsettled(int leaves);

#endif
