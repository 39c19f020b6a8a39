// SPDX-License-Identifier: Apache-2.0

import Storage

/// What is left of a history that was cleared: the revision at which that
/// was, so that devices hear.
extension RealmSchema {
    static let clearingColumns = [
        "ALTER TABLE customers ADD COLUMN cleared_revision INTEGER"
    ]
}
