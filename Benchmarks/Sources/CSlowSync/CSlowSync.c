// SPDX-License-Identifier: Apache-2.0
#include "CSlowSync.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_long extra;
static atomic_long count;

void slow_sync_microseconds(long microseconds) { atomic_store(&extra, microseconds); }

long slow_sync_count(void) { return atomic_load(&count); }

static int slowly(long call, int file) {
    atomic_fetch_add(&count, 1);
    long microseconds = atomic_load(&extra);
    if (microseconds > 0) {
        struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
        nanosleep(&time, 0);
    }
    return (int)syscall(call, file);
}

int fsync(int file) { return slowly(SYS_fsync, file); }
int fdatasync(int file) { return slowly(SYS_fdatasync, file); }
