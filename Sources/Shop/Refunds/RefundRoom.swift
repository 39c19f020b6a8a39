// SPDX-License-Identifier: Apache-2.0

/// Money that customers ask back and get back.
public struct RefundRoom: Sendable {
    let realm: Realm
}

extension Realm {
    /// Money that customers ask back and get back.
    public var refunds: RefundRoom { RefundRoom(realm: self) }
}
