// SPDX-License-Identifier: Apache-2.0

/// Auto-renewable subscriptions, from the first period to the last.
public struct SubscriptionRoom: Sendable {
    let realm: Realm
}

extension Realm {
    /// Auto-renewable subscriptions, from the first period to the last.
    public var subscriptions: SubscriptionRoom { SubscriptionRoom(realm: self) }
}
