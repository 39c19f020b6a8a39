// SPDX-License-Identifier: Apache-2.0

import Storage

/// What operators are told of sessions, and by what they are ended. All of it
/// is wall time. Sessions made before have no date of making: 0.
extension RealmSchema {
    static let sessionColumns = [
        "ALTER TABLE sessions ADD COLUMN made_at INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE sessions ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE sessions ADD COLUMN ended_at INTEGER",
    ]
}
