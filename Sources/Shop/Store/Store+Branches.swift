// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Store {
    /// Makes a new sandbox from a snapshot of another. It has the same customers,
    /// purchases and clock, no seed, and no server keys. Until it is complete, the
    /// registry has it as a realm that is to be removed, so that a start after a
    /// crash removes it. Refusals, in order: `realmNotFound`, `sandboxOnly`,
    /// `oneDatabaseOnly`, `realmNameInvalid`, `snapshotNotFound`,
    /// `snapshotOutdated`, `realmExists`.
    public func branchRealm(
        named source: String, _ request: BranchRealmRequest, _ context: RequestContext
    ) async throws -> RealmSummary {
        let realm = try await realm(named: source)
        try realm.keeping.checkHasSnapshots()
        try Self.checkRealmName(request.name)
        let contents = try await realm.keeping.snapshot(request.snapshot)
        let rows = try contents.decoded()
        guard try await realmRow(named: request.name) == nil else { throw Self.realmExists }
        let row = try await reserveBranch(request.name, realm.description.environment)
        do { try await fill(row, contents, rows) } catch {
            try? await remove(realm: row.id)
            throw error
        }
        guard try await publish(row, from: source, request.snapshot, context) else {
            try await remove(realm: row.id)
            throw Self.realmExists
        }
        _ = try await opened(row)
        ports.log(.info, "realm made", context, ["realm": row.id, "snapshot": request.snapshot])
        return row.summary
    }

    /// Writes the realm's row as that of a deleted realm.
    func reserveBranch(
        _ name: String, _ environment: Environment = .sandbox
    ) async throws -> RealmRow {
        let id = ports.randomness.hex(8)
        let now = ports.wall.now
        let values = RegistrySchema.realms.row([
            "id": .text(id), "name": .text(name),
            "environment": .text(environment.rawValue),
            "created_at": .integer(now.milliseconds), "deleted_at": .integer(now.milliseconds),
        ])
        return try await registry.write { writing in
            try writing.execute(Statement.Registry.reserveRealm, values)
            guard let row = try writing.first(Statement.Registry.reservedRealm, [.text(id)])
            else { throw StorageFault(.malformedRow, "a realm's row is gone") }
            return try RealmRow(row)
        }
    }

    /// Writes the realm's own database, in one commit.
    private func fill(
        _ row: RealmRow, _ contents: SnapshotContents, _ rows: SnapshotRows
    ) async throws {
        let wall = ports.wall.now
        let generation = FreshStart(wall: wall, randomness: ports.randomness)
            .generation(after: 0)
        let storage = try await ports.places.realm(row.id, RealmSchema.migrations)
        do {
            try await storage.write { writing in
                _ = try writing.first(
                    Statement.Realms.insert,
                    row.born(generation: generation, house: 1, buckets: nil))
                try rows.write(writing, wall: wall)
            }
        } catch {
            try? await storage.close()
            throw error
        }
        try await storage.close()
    }

    /// Makes the realm's row that of a live one. Returns false if the name is in use
    /// by now, or if a start of another process has removed the realm.
    private func publish(
        _ row: RealmRow, from source: String, _ snapshot: String, _ context: RequestContext
    ) async throws -> Bool {
        let entry = audit(
            "realm.create", row.name, before: nil,
            after: [
                "environment": "\(row.environment)", "id": row.id,
                "branchOf": "\(source)/\(snapshot)",
            ], context)
        return try await registry.write { writing in
            guard
                try writing.first(Statement.Registry.realmByName, [.text(row.name)]) == nil,
                try writing.first(Statement.Registry.publishRealm, [.text(row.id)]) != nil
            else { return false }
            try entry.writeInRegistry(writing)
            return true
        }
    }
}
