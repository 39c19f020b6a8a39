// SPDX-License-Identifier: Apache-2.0

import Storage

/// What operators see of sessions, and how they are ended. All dates are wall
/// time. Sessions from before this have the creation date 0.
extension RealmSchema {
    static let sessionColumns = [
        "ALTER TABLE sessions ADD COLUMN made_at INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE sessions ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE sessions ADD COLUMN ended_at INTEGER",
    ]
}
