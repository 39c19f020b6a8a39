// SPDX-License-Identifier: Apache-2.0
#include "CForgetfulDisk.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const forgetful_disk_name = "forgetful";

enum { sector = 512 };

/// A write, or where `bytes` is null a truncation to `at`.
struct change {
    struct change *next;
    sqlite3_int64 at;
    int count;
    unsigned char *bytes;
};

/// One file: what is durable, and what came since.
struct record {
    struct record *next;
    unsigned char *bytes;
    sqlite3_int64 size;
    struct change *first, **last;
    int is_named;    // the folder knows its name durably
    int is_removed;  // and has been told to forget it, not yet durably
    char path[];
};

struct disk {
    struct disk *next;
    struct record *records;
    long operations, syncs, limit;
    int is_off;
    int refuses_syncs;
    char prefix[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct disk *disks;
static atomic_int is_unsettled;
static sqlite3_vfs *real;
static sqlite3_vfs forgetful;

struct kept_file {
    sqlite3_file base;
    char *path;
    sqlite3_file *file;
};

static sqlite3_file *inner(sqlite3_file *file) { return ((struct kept_file *)file)->file; }

static struct disk *disk_of(const char *path) {
    struct disk *disk = disks;
    while (disk && (!path || strncmp(path, disk->prefix, strlen(disk->prefix)) != 0)) {
        disk = disk->next;
    }
    return disk;
}

static void load(struct record *record) {
    FILE *file = fopen(record->path, "rb");
    if (!file) return;
    record->is_named = 1;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    record->bytes = malloc(size > 0 ? (size_t)size : 1);
    if (record->bytes && fread(record->bytes, 1, (size_t)size, file) == (size_t)size) {
        record->size = size;
    }
    fclose(file);
}

/// The record of a path, made on first sight from what the real disk holds.
static struct record *record_of(struct disk *disk, const char *path) {
    struct record *found = disk->records;
    while (found && strcmp(found->path, path) != 0) found = found->next;
    if (!found && (found = calloc(1, sizeof(struct record) + strlen(path) + 1))) {
        strcpy(found->path, path);
        found->last = &found->first;
        found->next = disk->records;
        disk->records = found;
        load(found);
    }
    return found;
}

static void resize(struct record *record, sqlite3_int64 size) {
    unsigned char *bytes = realloc(record->bytes, size > 0 ? (size_t)size : 1);
    if (!bytes) abort();
    if (size > record->size) memset(bytes + record->size, 0, (size_t)(size - record->size));
    record->bytes = bytes;
    record->size = size;
}

static void put(struct record *record, sqlite3_int64 at, const unsigned char *bytes, int count) {
    if (at + count > record->size) resize(record, at + count);
    memcpy(record->bytes + at, bytes, (size_t)count);
}

static void forget(struct record *record) {
    while (record->first) {
        struct change *change = record->first;
        record->first = change->next;
        free(change->bytes);
        free(change);
    }
    record->last = &record->first;
}

static void make_durable(struct record *record) {
    for (struct change *change = record->first; change; change = change->next) {
        if (change->bytes) put(record, change->at, change->bytes, change->count);
        else resize(record, change->at);
    }
    forget(record);
    record->is_named = 1;
}

static void note(struct record *record, sqlite3_int64 at, const void *bytes, int count) {
    struct change *change = calloc(1, sizeof(struct change));
    if (!change) abort();
    change->at = at;
    change->count = count;
    if (bytes) {
        change->bytes = malloc(count > 0 ? (size_t)count : 1);
        if (!change->bytes) abort();
        memcpy(change->bytes, bytes, (size_t)count);
    }
    *record->last = change;
    record->last = &change->next;
}

/// Counts an operation; 0 when the power has failed before it.
static int has_power(struct disk *disk) {
    if (disk->limit >= 0 && disk->operations >= disk->limit) disk->is_off = 1;
    if (disk->is_off) return 0;
    disk->operations += 1;
    return 1;
}

static int is_log(const char *path) {
    size_t length = path ? strlen(path) : 0;
    return length > 4 && strcmp(path + length - 4, "-wal") == 0;
}

// Under the lock throughout: nothing is written that is not noted.

static int kept_write(sqlite3_file *f, const void *from, int count, sqlite3_int64 at) {
    const char *path = ((struct kept_file *)f)->path;
    int code = SQLITE_OK;
    pthread_mutex_lock(&lock);
    struct disk *disk = disk_of(path);
    if (disk && !has_power(disk)) code = SQLITE_IOERR_WRITE;
    if (code == SQLITE_OK) code = inner(f)->pMethods->xWrite(inner(f), from, count, at);
    if (code == SQLITE_OK && disk) note(record_of(disk, path), at, from, count);
    pthread_mutex_unlock(&lock);
    return code;
}

static int kept_truncate(sqlite3_file *f, sqlite3_int64 size) {
    const char *path = ((struct kept_file *)f)->path;
    int code = SQLITE_OK;
    pthread_mutex_lock(&lock);
    struct disk *disk = disk_of(path);
    if (disk && !has_power(disk)) code = SQLITE_IOERR_TRUNCATE;
    if (code == SQLITE_OK) code = inner(f)->pMethods->xTruncate(inner(f), size);
    if (code == SQLITE_OK && disk) note(record_of(disk, path), size, NULL, 0);
    pthread_mutex_unlock(&lock);
    return code;
}

/// A file system with a log of its own (ext4, xfs, btrfs) makes earlier
/// removals durable with any later sync; the store syncs the folder besides,
/// which this layer cannot see.
static void settle_removals(struct disk *disk) {
    for (struct record *record = disk->records; record; record = record->next) {
        if (record->is_removed) record->is_named = 0;
    }
}

/// The real disk is spared: a sync here only says what a failure must leave.
static int kept_sync(sqlite3_file *f, int flags) {
    const char *path = ((struct kept_file *)f)->path;
    int code = SQLITE_OK;
    pthread_mutex_lock(&lock);
    struct disk *disk = disk_of(path);
    if (!disk) {
        if (!is_unsettled || !is_log(path)) code = inner(f)->pMethods->xSync(inner(f), flags);
    } else if (!has_power(disk)) {
        code = SQLITE_IOERR_FSYNC;
    } else if (disk->refuses_syncs) {
        // Every process still reads what was written, and no later sync
        // writes it: the kernel holds it for clean.
        forget(record_of(disk, path));
        code = SQLITE_IOERR_FSYNC;
    } else {
        disk->syncs += 1;
        make_durable(record_of(disk, path));
        settle_removals(disk);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

static int kept_close(sqlite3_file *f) {
    free(((struct kept_file *)f)->path);
    return inner(f)->pMethods->xClose(inner(f));
}

// What follows hands each call on.

static int kept_read(sqlite3_file *f, void *to, int count, sqlite3_int64 at) {
    return inner(f)->pMethods->xRead(inner(f), to, count, at);
}
static int kept_size(sqlite3_file *f, sqlite3_int64 *size) {
    return inner(f)->pMethods->xFileSize(inner(f), size);
}
static int kept_lock(sqlite3_file *f, int kind) {
    return inner(f)->pMethods->xLock(inner(f), kind);
}
static int kept_unlock(sqlite3_file *f, int kind) {
    return inner(f)->pMethods->xUnlock(inner(f), kind);
}
static int kept_check(sqlite3_file *f, int *answer) {
    return inner(f)->pMethods->xCheckReservedLock(inner(f), answer);
}
static int kept_control(sqlite3_file *f, int verb, void *argument) {
    return inner(f)->pMethods->xFileControl(inner(f), verb, argument);
}
static int kept_sector(sqlite3_file *f) { return inner(f)->pMethods->xSectorSize(inner(f)); }
static int kept_device(sqlite3_file *f) {
    return inner(f)->pMethods->xDeviceCharacteristics(inner(f));
}
static int kept_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **to) {
    return inner(f)->pMethods->xShmMap(inner(f), page, size, extend, to);
}
static int kept_shm_lock(sqlite3_file *f, int offset, int count, int flags) {
    // The lock of whoever moves the log.
    if (is_unsettled && offset == 1 && count == 1 && flags & SQLITE_SHM_LOCK) return SQLITE_BUSY;
    return inner(f)->pMethods->xShmLock(inner(f), offset, count, flags);
}
static void kept_shm_barrier(sqlite3_file *f) { inner(f)->pMethods->xShmBarrier(inner(f)); }
static int kept_shm_unmap(sqlite3_file *f, int removes) {
    return inner(f)->pMethods->xShmUnmap(inner(f), removes);
}

/// Version 2: shared memory, which WAL needs; no memory-mapped reads.
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = kept_close,
    .xRead = kept_read,
    .xWrite = kept_write,
    .xTruncate = kept_truncate,
    .xSync = kept_sync,
    .xFileSize = kept_size,
    .xLock = kept_lock,
    .xUnlock = kept_unlock,
    .xCheckReservedLock = kept_check,
    .xFileControl = kept_control,
    .xSectorSize = kept_sector,
    .xDeviceCharacteristics = kept_device,
    .xShmMap = kept_shm_map,
    .xShmLock = kept_shm_lock,
    .xShmBarrier = kept_shm_barrier,
    .xShmUnmap = kept_shm_unmap,
};

/// A name that was removed and is opened again is a new, empty file.
static void begin_again(struct record *record) {
    if (!record->is_removed) return;
    forget(record);
    resize(record, 0);
    record->is_removed = record->is_named = 0;
}

static int kept_open(
    sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *opened) {
    (void)vfs;
    struct kept_file *kept = (struct kept_file *)file;
    kept->file = (sqlite3_file *)(kept + 1);
    kept->path = NULL;
    pthread_mutex_lock(&lock);
    struct disk *disk = disk_of(path);
    int refuses = disk && disk->is_off && (flags & SQLITE_OPEN_CREATE) && access(path, F_OK) != 0;
    if (disk && !refuses) begin_again(record_of(disk, path));
    pthread_mutex_unlock(&lock);
    file->pMethods = NULL;
    if (refuses) return SQLITE_CANTOPEN;
    int code = real->xOpen(real, path, kept->file, flags, opened);
    file->pMethods = kept->file->pMethods ? &methods : NULL;
    if (file->pMethods) kept->path = path ? strdup(path) : NULL;
    return code;
}

static int kept_delete(sqlite3_vfs *vfs, const char *path, int syncs_folder) {
    (void)vfs;
    int code = SQLITE_OK;
    pthread_mutex_lock(&lock);
    struct disk *disk = disk_of(path);
    if (disk && !has_power(disk)) code = SQLITE_IOERR_DELETE;
    if (code == SQLITE_OK && disk) {
        struct record *record = record_of(disk, path);
        record->is_removed = 1;
        if (syncs_folder) record->is_named = 0;
    }
    if (code == SQLITE_OK) code = real->xDelete(real, path, syncs_folder);
    pthread_mutex_unlock(&lock);
    return code;
}

static int register_code;

static void register_once(void) {
    real = sqlite3_vfs_find(NULL);
    if (!real) {
        register_code = SQLITE_NOTFOUND;
        return;
    }
    forgetful = *real;
    forgetful.pNext = NULL;
    forgetful.zName = forgetful_disk_name;
    forgetful.szOsFile = (int)sizeof(struct kept_file) + real->szOsFile;
    forgetful.xOpen = kept_open;
    forgetful.xDelete = kept_delete;
    register_code = sqlite3_vfs_register(&forgetful, 0);
}

int forgetful_disk_register(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_once);
    return register_code;
}

void forgetful_disk_insert(const char *prefix, long operations) {
    struct disk *disk = calloc(1, sizeof(struct disk) + strlen(prefix) + 1);
    if (!disk) abort();
    strcpy(disk->prefix, prefix);
    disk->limit = operations;
    pthread_mutex_lock(&lock);
    disk->next = disks;
    disks = disk;
    pthread_mutex_unlock(&lock);
}

long forgetful_disk_operations(const char *prefix) {
    pthread_mutex_lock(&lock);
    struct disk *disk = disk_of(prefix);
    long count = disk ? disk->operations : 0;
    pthread_mutex_unlock(&lock);
    return count;
}

long forgetful_disk_syncs(const char *prefix) {
    pthread_mutex_lock(&lock);
    struct disk *disk = disk_of(prefix);
    long count = disk ? disk->syncs : 0;
    pthread_mutex_unlock(&lock);
    return count;
}

void forgetful_disk_limit(const char *prefix, long operations) {
    pthread_mutex_lock(&lock);
    struct disk *disk = disk_of(prefix);
    if (disk) {
        disk->is_off = 0;
        disk->limit = operations < 0 ? -1 : disk->operations + operations;
    }
    pthread_mutex_unlock(&lock);
}

void forgetful_disk_refuse_syncs(const char *prefix, int refuses) {
    pthread_mutex_lock(&lock);
    struct disk *disk = disk_of(prefix);
    if (disk) disk->refuses_syncs = refuses;
    pthread_mutex_unlock(&lock);
}

int forgetful_disk_is_off(const char *prefix) {
    pthread_mutex_lock(&lock);
    struct disk *disk = disk_of(prefix);
    int is_off = disk ? disk->is_off : 0;
    pthread_mutex_unlock(&lock);
    return is_off;
}

/// SplitMix64.
static uint64_t draw(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/// Each change that was not synced: lost, kept, or some of its sectors kept.
static long tear(struct record *record, uint64_t *state) {
    long open = 0;
    for (struct change *change = record->first; change; change = change->next) {
        uint64_t fate = draw(state) % 3;
        open += change->count;
        if (!change->bytes) {
            if (fate) resize(record, change->at);
            continue;
        }
        for (int from = 0; from < change->count; from += sector) {
            int count = change->count - from < sector ? change->count - from : sector;
            if (fate == 1 || (fate == 2 && draw(state) % 2)) {
                put(record, change->at + from, change->bytes + from, count);
            }
        }
    }
    forget(record);
    return open;
}

static void leave(struct record *record, uint64_t *state) {
    int stays = record->is_removed ? record->is_named && draw(state) % 2
                                   : record->is_named || draw(state) % 2;
    unlink(record->path);
    if (!stays) return;
    FILE *file = fopen(record->path, "wb");
    if (!file) abort();
    if (fwrite(record->bytes, 1, (size_t)record->size, file) != (size_t)record->size) abort();
    fclose(file);
}

/// Under the lock: what every file of a disk is left as.
static long settle(struct disk *disk, uint64_t seed) {
    uint64_t state = seed;
    long open = 0;
    while (disk->records) {
        struct record *record = disk->records;
        disk->records = record->next;
        open += tear(record, &state);
        leave(record, &state);
        free(record->bytes);
        free(record);
    }
    return open;
}

long forgetful_disk_settle(const char *prefix, uint64_t seed) {
    long open = 0;
    pthread_mutex_lock(&lock);
    struct disk **place = &disks;
    while (*place && strcmp((*place)->prefix, prefix) != 0) place = &(*place)->next;
    struct disk *disk = *place;
    if (disk) {
        *place = disk->next;
        open = settle(disk, seed);
        free(disk);
    }
    pthread_mutex_unlock(&lock);
    return open;
}

void forgetful_disk_leave_unsettled(int leaves) { is_unsettled = leaves; }
