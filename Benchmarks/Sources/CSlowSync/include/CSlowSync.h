// SPDX-License-Identifier: Apache-2.0
#ifndef CSLOWSYNC_H
#define CSLOWSYNC_H

/// From now on every sync of this process takes so much longer; 0 is the
/// disk's own time. The program's own `fsync` and `fdatasync` stand before
/// those of the C library, also for the libraries that it uses.
void slow_sync_microseconds(long microseconds);

/// Syncs since the process began.
long slow_sync_count(void);

#endif
