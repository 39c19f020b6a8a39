// SPDX-License-Identifier: Apache-2.0
// Keeps, outside of the process, what its databases have written since they were
// synced, and what stood there before. So whoever cuts the power can put every
// file back, however many processes lived and died meanwhile (`power.py`).
//
// A record is in the journal before its write is done: a process may be killed
// anywhere.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faults.h"

enum { head_bytes = 4096, files_max = 65536 };
/// The same as in `power.py`; what stood there before follows the record.
enum kind { wrote, truncated, synced, not_synced };
struct record {
    int64_t kind, at, count, size, kept;
};

/// The first bytes of a journal.
struct head {
    _Atomic int64_t end;  // of the records, behind the head
    _Atomic int64_t is_born;  // and its name may be lost
    _Atomic int64_t has_failed;
};

/// One file, which may be open several times.
struct journal {
    struct journal *next;
    dev_t device;
    ino_t number;
    int file;
    struct head *head;
    int64_t dropped;  // bytes of records before the first that is kept
    pthread_mutex_t lock;
    char *path;
};

static struct journal *journals;
static struct journal *_Atomic opened[files_max];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define NEXT(name) \
    static __typeof__(&name) next; \
    if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int real_open(const char *path, int flags, mode_t mode) {
    static int (*next)(const char *, int, ...);
    if (!next) next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
    return next(path, flags, mode);
}

static ssize_t real_write(int file, const void *bytes, size_t count, off_t at) {
    NEXT(pwrite64);
    return next(file, bytes, count, at);
}

static int real_truncate(int file, off_t size) {
    NEXT(ftruncate64);
    return next(file, size);
}

/// Databases and their logs: all else is taken to be synced.
static int is_kept(const char *path) {
    const char *disk = getenv("PROOF_DISK");
    if (!disk || strncmp(path, disk, strlen(disk)) != 0 || !strstr(path, ".sqlite")) return 0;
    size_t length = strlen(path);
    return length < 4 || strcmp(path + length - 4, "-shm") != 0;
}

static int map(struct journal *journal, int is_born) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%llx-%llx", getenv("PROOF_JOURNALS"),
             (unsigned long long)journal->device, (unsigned long long)journal->number);
    journal->file = real_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (journal->file < 0) return 0;
    struct stat facts;
    if (fstat(journal->file, &facts) != 0) return 0;
    if (facts.st_size < head_bytes && real_truncate(journal->file, head_bytes) != 0) return 0;
    void *page = mmap(NULL, head_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, journal->file, 0);
    if (page == MAP_FAILED) return 0;
    journal->head = page;
    // A name that is new has nothing of a file that once had the same number.
    if (is_born) {
        journal->head->end = journal->head->has_failed = 0;
        journal->head->is_born = 1;
    }
    return 1;
}

/// The journal of an open file, found or begun.
static struct journal *journal_for(int file, const char *path, int is_born) {
    struct stat facts;
    if (fstat(file, &facts) != 0) return NULL;
    struct journal *found = journals;
    while (found && (found->device != facts.st_dev || found->number != facts.st_ino)) {
        found = found->next;
    }
    if (found) {
        if (is_born) {
            found->head->end = found->head->has_failed = 0;
            found->head->is_born = 1;
        }
        return found;
    }
    found = calloc(1, sizeof *found);
    if (!found) return NULL;
    found->device = facts.st_dev;
    found->number = facts.st_ino;
    found->path = strdup(path);
    pthread_mutex_init(&found->lock, NULL);
    if (!found->path || !map(found, is_born)) {
        if (found->file > 0) close(found->file);
        free(found->path);
        free(found);
        return NULL;
    }
    found->next = journals;
    journals = found;
    return found;
}

static int kept_open(const char *path, int flags, mode_t mode) {
    int is_file = is_kept(path), is_born = is_file && access(path, F_OK) != 0;
    int file = real_open(path, flags, mode);
    if (file < 0 || file >= files_max) return file;
    struct journal *journal = NULL;
    if (is_file) {
        pthread_mutex_lock(&lock);
        journal = journal_for(file, path, is_born);
        pthread_mutex_unlock(&lock);
        if (!journal) {
            close(file);
            errno = ENOSPC;
            return -1;
        }
    }
    opened[file] = journal;
    return file;
}

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return kept_open(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return kept_open(path, flags, mode);
}

int close(int file) {
    NEXT(close);
    if (file >= 0 && file < files_max) opened[file] = NULL;
    return next(file);
}

static struct journal *journal_of(int file) {
    return file >= 0 && file < files_max ? opened[file] : NULL;
}

/// All is durable, or nothing of it concerns this file.
static void drop(struct journal *journal) {
    journal->dropped += journal->head->end;
    journal->head->end = 0;
}

/// Adds a record with what stands in the file from `from` on; 0 where that fails.
static int add(struct journal *journal, int file, struct record record) {
    char *bytes = malloc(sizeof record + (size_t)record.kept);
    if (!bytes) return 0;
    errno = 0;
    memcpy(bytes, &record, sizeof record);
    size_t size = sizeof record + (size_t)record.kept;
    int is_read = record.kept == 0
        || pread64(file, bytes + sizeof record, (size_t)record.kept, record.at) == record.kept;
    int is_added = is_read
        && real_write(journal->file, bytes, size, head_bytes + journal->head->end)
            == (ssize_t)size;
    free(bytes);
    if (is_added) journal->head->end += (int64_t)size;
    else if (!errno) errno = EIO;
    return is_added;
}

/// What a change of so many bytes takes away, or of all behind it.
static int note(struct journal *journal, int file, enum kind kind, off_t at, int64_t count) {
    struct stat facts;
    if (fstat(file, &facts) != 0) return 0;
    int64_t end = kind == truncated || at + count > facts.st_size ? facts.st_size : at + count;
    struct record record = {kind, at, count, facts.st_size, end > at ? end - at : 0};
    return add(journal, file, record);
}

/// With `leaves_logs` a log is synced before it is moved into its database, and
/// where it begins anew: so nothing is torn but what came last.
static void settle_log(struct journal *database) {
    size_t length = strlen(database->path);
    pthread_mutex_lock(&lock);
    for (struct journal *log = journals; log; log = log->next) {
        if (strncmp(log->path, database->path, length) == 0
            && strcmp(log->path + length, "-wal") == 0) {
            pthread_mutex_lock(&log->lock);
            drop(log);
            log->head->is_born = 0;
            pthread_mutex_unlock(&log->lock);
        }
    }
    pthread_mutex_unlock(&lock);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off_t at) {
    struct journal *journal = journal_of(file);
    if (!journal) return real_write(file, bytes, count, at);
    if (orders->leaves_logs) settle_log(journal);
    pthread_mutex_lock(&journal->lock);
    ssize_t done = note(journal, file, wrote, at, (int64_t)count)
        ? real_write(file, bytes, count, at) : -1;
    pthread_mutex_unlock(&journal->lock);
    return done;
}

int ftruncate64(int file, off_t size) {
    struct journal *journal = journal_of(file);
    if (!journal) return real_truncate(file, size);
    pthread_mutex_lock(&journal->lock);
    int outcome = note(journal, file, truncated, size, 0) ? real_truncate(file, size) : -1;
    pthread_mutex_unlock(&journal->lock);
    return outcome;
}

int64_t journal_mark(int file) {
    struct journal *journal = journal_of(file);
    if (!journal) return 0;
    pthread_mutex_lock(&journal->lock);
    int64_t mark = journal->dropped + journal->head->end;
    pthread_mutex_unlock(&journal->lock);
    return mark;
}

int journal_leaves(int file) {
    struct journal *journal = journal_of(file);
    if (!journal || !orders->leaves_logs) return 0;
    size_t length = strlen(journal->path);
    if (length < 4 || strcmp(journal->path + length - 4, "-wal") != 0) return 0;
    struct record record;
    int64_t at = 0;
    while (at < journal->head->end
           && pread64(journal->file, &record, sizeof record, head_bytes + at) == sizeof record) {
        if (record.kind == wrote && record.at == 0) return 0;
        at += (int64_t)sizeof record + record.kept;
    }
    return 1;
}

void journal_synced(int file, int64_t mark, int is_done) {
    struct journal *journal = journal_of(file);
    if (!journal) return;
    int before = errno;
    pthread_mutex_lock(&journal->lock);
    struct head *head = journal->head;
    if (is_done) head->is_born = 0;
    else head->has_failed = 1;
    int64_t end = mark - journal->dropped;
    if (is_done && !head->has_failed && end == head->end) {
        drop(journal);
    } else if (end > 0) {
        struct record record = {is_done ? synced : not_synced, end, 0, 0, 0};
        add(journal, file, record);
    }
    pthread_mutex_unlock(&journal->lock);
    errno = before;
}
