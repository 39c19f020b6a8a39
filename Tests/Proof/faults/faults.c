// SPDX-License-Identifier: Apache-2.0
// Preloaded into a process of the proof: steps its wall clock, and lets its
// syncs fail or take long, as a page of shared memory says (`faults.py`).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "faults.h"

static struct orders none;
struct orders *orders = &none;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("PROOF_FAULTS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(NULL, sizeof *orders, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) orders = page;
    close(file);
}

static int is_wall(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*next)(clockid_t, struct timespec *);
    if (!next) next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int outcome = next(clock, now);
    if (outcome == 0 && is_wall(clock)) now->tv_sec += orders->clock_seconds;
    return outcome;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    static int (*next)(struct timeval *, void *);
    if (!next) next = (int (*)(struct timeval *, void *))dlsym(RTLD_NEXT, "gettimeofday");
    int outcome = next(now, zone);
    if (outcome == 0) now->tv_sec += orders->clock_seconds;
    return outcome;
}

time_t time(time_t *place) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place) *place = now.tv_sec;
    return now.tv_sec;
}

/// Whether this sync is one that fails.
static int fails(void) {
    int64_t pause = orders->sync_microseconds;
    if (pause > 0) usleep((useconds_t)pause);
    int64_t left = orders->syncs_to_fail;
    while (left > 0) {
        if (atomic_compare_exchange_weak(&orders->syncs_to_fail, &left, left - 1)) {
            orders->syncs_failed++;
            errno = EIO;
            return 1;
        }
    }
    return 0;
}

/// A sync that fails, is left out by a flaw, or is done.
static int sync_with(int (*sync)(int), int file) {
    int64_t mark = journal_mark(file);
    if (journal_leaves(file)) return 0;
    int outcome = fails() ? -1 : sync(file);
    journal_synced(file, mark, outcome == 0);
    return outcome;
}

int fsync(int file) {
    static int (*next)(int);
    if (!next) next = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    return sync_with(next, file);
}

int fdatasync(int file) {
    static int (*next)(int);
    if (!next) next = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    return sync_with(next, file);
}
