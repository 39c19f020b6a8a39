// SPDX-License-Identifier: Apache-2.0

/// What keeps the realm small and new: pruning and resets.
public struct KeepingRoom: Sendable {
    let realm: Realm
}

extension Realm {
    /// What keeps the realm small and new: pruning and resets.
    public var keeping: KeepingRoom { KeepingRoom(realm: self) }
}
