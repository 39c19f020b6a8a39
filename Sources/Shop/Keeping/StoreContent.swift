// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// A package that a store's databases refer to. Backups do not contain the bytes.
public struct StoredContent: Hashable, Sendable, Encodable {
    public let sha256: String
    public let length: Int64
}

extension StoreBackup {
    /// Returns the packages of all versions that a store delivers, each once.
    public static func content(_ source: BackupSource) async throws -> [StoredContent] {
        let realms = try await source.registry.read { reading in
            try reading.query(Statement.Registry.liveRealms, []).map { try $0.text("id") }
        }
        var found: Set<StoredContent> = []
        for id in realms {
            guard let realm = try await source.realm(id) else { continue }
            do {
                found.formUnion(try await content(of: realm))
            } catch {
                try? await realm.close()
                throw error
            }
            try await realm.close()
        }
        return found.sorted { $0.sha256 < $1.sha256 }
    }

    private static func content(of realm: any Storage) async throws -> [StoredContent] {
        try await realm.read { reading in
            try reading.query(Statement.Contents.ready, []).map {
                StoredContent(sha256: try $0.text("sha256"), length: try $0.integer("length"))
            }
        }
    }
}
