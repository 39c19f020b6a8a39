// SPDX-License-Identifier: Apache-2.0

/// The notifications that the realm owes its merchants.
public struct NotificationRoom: Sendable {
    let realm: Realm
}

extension Realm {
    /// The notifications that the realm owes its merchants.
    public var notifications: NotificationRoom { NotificationRoom(realm: self) }
}
