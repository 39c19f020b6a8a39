// SPDX-License-Identifier: Apache-2.0
#include "CSyncCounter.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

const char *const sync_counter_name = "counting";

/// Syncs of one path; entries live as long as the process.
struct entry {
    struct entry *next;
    long count;
    char path[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;
/// What a folder's disk does not do; live as long as the process.
struct fault {
    struct fault *next;
    /// 1: its syncs fail. 2: no file grows past `bytes`.
    int kind;
    sqlite3_int64 bytes;
    char prefix[];
};
static struct fault *faults;
static sqlite3_vfs *real;
static sqlite3_vfs counting;

struct counted_file {
    sqlite3_file base;
    struct entry *entry;
    sqlite3_file *file;
};

static sqlite3_file *inner(sqlite3_file *file) { return ((struct counted_file *)file)->file; }

static int begins(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/// The bytes that a file may have, or -1. Behind the lock.
static sqlite3_int64 limit_of(const struct entry *entry) {
    for (struct fault *fault = faults; entry && fault; fault = fault->next) {
        if (fault->kind == 2 && begins(entry->path, fault->prefix)) return fault->bytes;
    }
    return -1;
}

static int counted_sync(sqlite3_file *file, int flags) {
    struct entry *entry = ((struct counted_file *)file)->entry;
    int fails = 0;
    pthread_mutex_lock(&lock);
    if (entry) {
        entry->count += 1;
        for (struct fault *fault = faults; fault; fault = fault->next) {
            fails = fails || (fault->kind == 1 && begins(entry->path, fault->prefix));
        }
    }
    pthread_mutex_unlock(&lock);
    if (fails) return SQLITE_IOERR_FSYNC;
    return inner(file)->pMethods->xSync(inner(file), flags);
}

static int counted_write(sqlite3_file *file, const void *from, int count, sqlite3_int64 at) {
    struct entry *entry = ((struct counted_file *)file)->entry;
    pthread_mutex_lock(&lock);
    sqlite3_int64 limit = limit_of(entry);
    pthread_mutex_unlock(&lock);
    if (limit >= 0 && at + count > limit) return SQLITE_FULL;
    return inner(file)->pMethods->xWrite(inner(file), from, count, at);
}

// What follows hands each call on.

static int counted_close(sqlite3_file *f) { return inner(f)->pMethods->xClose(inner(f)); }
static int counted_read(sqlite3_file *f, void *to, int count, sqlite3_int64 at) {
    return inner(f)->pMethods->xRead(inner(f), to, count, at);
}
static int counted_truncate(sqlite3_file *f, sqlite3_int64 size) {
    return inner(f)->pMethods->xTruncate(inner(f), size);
}
static int counted_size(sqlite3_file *f, sqlite3_int64 *size) {
    return inner(f)->pMethods->xFileSize(inner(f), size);
}
static int counted_lock(sqlite3_file *f, int kind) {
    return inner(f)->pMethods->xLock(inner(f), kind);
}
static int counted_unlock(sqlite3_file *f, int kind) {
    return inner(f)->pMethods->xUnlock(inner(f), kind);
}
static int counted_check(sqlite3_file *f, int *answer) {
    return inner(f)->pMethods->xCheckReservedLock(inner(f), answer);
}
static int counted_control(sqlite3_file *f, int verb, void *argument) {
    return inner(f)->pMethods->xFileControl(inner(f), verb, argument);
}
static int counted_sector(sqlite3_file *f) { return inner(f)->pMethods->xSectorSize(inner(f)); }
static int counted_device(sqlite3_file *f) {
    return inner(f)->pMethods->xDeviceCharacteristics(inner(f));
}
static int counted_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **to) {
    return inner(f)->pMethods->xShmMap(inner(f), page, size, extend, to);
}
static int counted_shm_lock(sqlite3_file *f, int offset, int count, int flags) {
    return inner(f)->pMethods->xShmLock(inner(f), offset, count, flags);
}
static void counted_shm_barrier(sqlite3_file *f) { inner(f)->pMethods->xShmBarrier(inner(f)); }
static int counted_shm_unmap(sqlite3_file *f, int removes) {
    return inner(f)->pMethods->xShmUnmap(inner(f), removes);
}

/// Version 2: shared memory, which WAL needs; no memory-mapped reads.
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = counted_close,
    .xRead = counted_read,
    .xWrite = counted_write,
    .xTruncate = counted_truncate,
    .xSync = counted_sync,
    .xFileSize = counted_size,
    .xLock = counted_lock,
    .xUnlock = counted_unlock,
    .xCheckReservedLock = counted_check,
    .xFileControl = counted_control,
    .xSectorSize = counted_sector,
    .xDeviceCharacteristics = counted_device,
    .xShmMap = counted_shm_map,
    .xShmLock = counted_shm_lock,
    .xShmBarrier = counted_shm_barrier,
    .xShmUnmap = counted_shm_unmap,
};

/// The entry of a path, made on first sight; null for a nameless temporary file.
static struct entry *entry_of(const char *path) {
    if (!path) return NULL;
    pthread_mutex_lock(&lock);
    struct entry *found = entries;
    while (found && strcmp(found->path, path) != 0) found = found->next;
    if (!found && (found = calloc(1, sizeof(struct entry) + strlen(path) + 1))) {
        strcpy(found->path, path);
        found->next = entries;
        entries = found;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static int counted_open(
    sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *opened) {
    (void)vfs;
    struct counted_file *counted = (struct counted_file *)file;
    counted->file = (sqlite3_file *)(counted + 1);
    counted->entry = entry_of(path);
    int code = real->xOpen(real, path, counted->file, flags, opened);
    file->pMethods = counted->file->pMethods ? &methods : NULL;
    return code;
}

static int register_code;

static void register_once(void) {
    real = sqlite3_vfs_find(NULL);
    if (!real) {
        register_code = SQLITE_NOTFOUND;
        return;
    }
    counting = *real;
    counting.pNext = NULL;
    counting.zName = sync_counter_name;
    counting.szOsFile = (int)sizeof(struct counted_file) + real->szOsFile;
    counting.xOpen = counted_open;
    register_code = sqlite3_vfs_register(&counting, 0);
}

int sync_counter_register(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_once);
    return register_code;
}

long sync_counter_value(const char *prefix) {
    long sum = 0;
    pthread_mutex_lock(&lock);
    for (struct entry *entry = entries; entry; entry = entry->next) {
        if (!prefix || begins(entry->path, prefix)) sum += entry->count;
    }
    pthread_mutex_unlock(&lock);
    return sum;
}

static void set_fault(const char *prefix, int kind, sqlite3_int64 bytes) {
    pthread_mutex_lock(&lock);
    struct fault *fault = faults;
    while (fault && strcmp(fault->prefix, prefix) != 0) fault = fault->next;
    if (!fault && (fault = calloc(1, sizeof(struct fault) + strlen(prefix) + 1))) {
        strcpy(fault->prefix, prefix);
        fault->next = faults;
        faults = fault;
    }
    if (fault) {
        fault->kind = kind;
        fault->bytes = bytes;
    }
    pthread_mutex_unlock(&lock);
}

void sync_counter_refuse(const char *prefix) { set_fault(prefix, 1, 0); }
void sync_counter_fill(const char *prefix, long bytes) { set_fault(prefix, 2, bytes); }
void sync_counter_heal(const char *prefix) { set_fault(prefix, 0, 0); }
