// SPDX-License-Identifier: Apache-2.0

import Shop
public import StoreWire

/// Snapshots of a test's shop: a state that takes long to reach is saved once and
/// loaded where it is needed.
public struct TestSnapshots: Sendable {
    private static let context = RequestContext(requestID: "test")
    let shop: TestShop

    /// Saves what the shop has, and its clock. `name`: 1 to 40 of `a`–`z`, `0`–`9` and
    /// `-`.
    @discardableResult
    public func save(_ name: String) async throws -> SnapshotSummary {
        try await shop.realm.keeping.saveSnapshot(SaveSnapshotRequest(name: name), Self.context)
    }

    /// Makes the shop what it was. Its devices sign in again and read everything
    /// anew.
    @discardableResult
    public func load(_ name: String) async throws -> SnapshotLoaded {
        try await shop.realm.keeping.loadSnapshot(name, Self.context)
    }

    public func list() async throws -> [SnapshotSummary] {
        try await shop.realm.keeping.listSnapshots().snapshots
    }

    public func delete(_ name: String) async throws {
        try await shop.realm.keeping.deleteSnapshot(name, Self.context)
    }
}

extension TestShop {
    /// The shop's snapshots.
    public var snapshot: TestSnapshots { TestSnapshots(shop: self) }
}
