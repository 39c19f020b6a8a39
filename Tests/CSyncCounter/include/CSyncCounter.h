// SPDX-License-Identifier: Apache-2.0
#ifndef CSYNCCOUNTER_H
#define CSYNCCOUNTER_H

/// A SQLite file system that is the system's own, and counts the syncs of
/// each file. A test opens a database with `SQLiteOptions(vfs: "counting")`
/// after `sync_counter_register()`, does something, and asks
/// `sync_counter_value(folder)` before and after.

/// The name to open databases under.
extern const char *const sync_counter_name;

/// Makes the file system known to SQLite in this process; again does nothing.
/// Gives 0, or SQLite's code.
int sync_counter_register(void);

/// How many syncs files had whose path begins with `prefix`; of all files
/// when `prefix` is null. Tests in parallel each look at a folder of theirs.
long sync_counter_value(const char *prefix);

/// From now on syncs of files whose path begins with `prefix` fail, as those
/// of a dying disk.
void sync_counter_refuse(const char *prefix);

/// From now on no file whose path begins with `prefix` grows past `bytes`, as
/// on a full disk.
void sync_counter_fill(const char *prefix, long bytes);

/// Makes the disk of `prefix` well again.
void sync_counter_heal(const char *prefix);

#endif
