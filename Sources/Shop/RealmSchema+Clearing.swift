// SPDX-License-Identifier: Apache-2.0

import Storage

/// The revision at which a customer's history was cleared, so that devices are
/// informed.
extension RealmSchema {
    static let clearingColumns = [
        "ALTER TABLE customers ADD COLUMN cleared_revision INTEGER"
    ]
}
