// SPDX-License-Identifier: Apache-2.0

import Archive
import Storage

/// Customers on the store's own pages.
extension RealmSchema {
    /// Sessions of browsers, which belong to no app and no device. All dates are wall
    /// time, so a jump of the realm's clock ends none. A restored store has none.
    static let webSessions = Table(
        "web_sessions", key: ["customer_id", "token_hash"], as: .tree,
        [
            "customer_id": .customer, "token_hash": .blob(bytes: 32...32), "made_at": .time,
            "expires_at": .time,
        ], isInBackup: false)
}
