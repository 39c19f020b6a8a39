// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Storage

/// Keys as rows of the store's registry, for processes that share a database.
/// Each is sealed (AES-GCM, with its name as authenticated data) with a key
/// that the database never receives. The process that stores a name first wins,
/// by the table's primary key.
///
/// An actor, because the registry is opened once, at the first request for a
/// key.
public actor SealedKeyStore: KeyStore {
    /// The number of bytes of the sealing key.
    public static let sealBytes = 32

    private let places: StoragePlaces
    private let seal: SymmetricKey
    private var registry: (any Storage)?

    /// `seal`: 32 unpredictable bytes, the same for every process of the store.
    public init(places: StoragePlaces, seal: [UInt8]) throws {
        guard seal.count == Self.sealBytes else {
            throw KeyStoreFault(
                "seal", "is \(seal.count) bytes long; a sealing key has \(Self.sealBytes)")
        }
        self.places = places
        self.seal = SymmetricKey(data: seal)
    }

    public func read(_ name: String) async throws -> [UInt8]? {
        let sealed = try await storage().read {
            try $0.first(Statement.Keys.read, [.text(name)])?.blob("sealed")
        }
        return try sealed.map { try open($0, name) }
    }

    public func names() async throws -> [String] {
        try await storage().read { reading in
            try reading.query(Statement.Keys.names, []).map { try $0.text("name") }
        }
    }

    public func replace(_ bytes: [UInt8], as name: String) async throws {
        let sealed = try sealed(bytes, name)
        try await storage().write { writing in
            try writing.execute(Statement.Keys.replace, [.text(name), .blob(sealed)])
        }
    }

    private func sealed(_ bytes: [UInt8], _ name: String) throws -> [UInt8] {
        let box = try AES.GCM.seal(
            Data(bytes), using: seal, authenticating: Data(name.utf8))
        guard let sealed = box.combined.map({ [UInt8]($0) }) else {
            throw KeyStoreFault(name, "could not be sealed")
        }
        return sealed
    }

    public func store(_ bytes: [UInt8], as name: String) async throws -> [UInt8] {
        let sealed = try sealed(bytes, name)
        let winner = try await storage().write { writing in
            try writing.execute(Statement.Keys.insert, [.text(name), .blob(sealed)])
            return try writing.first(Statement.Keys.read, [.text(name)])?.blob("sealed")
        }
        guard let winner else { throw KeyStoreFault(name, "vanished while it was stored") }
        return try open(winner, name)
    }

    private func open(_ sealed: [UInt8], _ name: String) throws -> [UInt8] {
        do {
            let box = try AES.GCM.SealedBox(combined: Data(sealed))
            return [UInt8](try AES.GCM.open(box, using: seal, authenticating: Data(name.utf8)))
        } catch {
            throw KeyStoreFault(
                name, "was sealed with another key; start with the sealing key of this store")
        }
    }

    private func storage() async throws -> any Storage {
        if let registry { return registry }
        let opened = try await places.registry(RegistrySchema.migrations)
        registry = opened
        return opened
    }
}

extension Statement {
    enum Keys {
        static let read = Statement.one("keys.read", of: RegistrySchema.sealedKeys)

        static let insert = Statement.insert(
            "keys.insert", into: RegistrySchema.sealedKeys, "ON CONFLICT (name) DO NOTHING")

        static let replace = Statement.set(
            "keys.replace", ["sealed"], of: RegistrySchema.sealedKeys)

        static let names = Statement("keys.names", [], "SELECT name FROM sealed_keys ORDER BY name")

        static let all = [read, insert, replace, names]
    }
}
