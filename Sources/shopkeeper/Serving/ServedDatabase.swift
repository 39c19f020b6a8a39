// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import Logging
import Shop
import Storage
import StoragePostgres
import StorageSQLite

/// A store on PostgreSQL, which many server processes can share: the registry
/// in the schema `shopkeeper`, each realm in `realm_ID`, and the sealed keys
/// beside them.
struct ServedDatabase {
    private let database: PostgresDatabase

    /// `conninfo`: in libpq's format; empty for the values of libpq's
    /// environment. `partitions`: the number of parts of a new realm's tables.
    init(
        conninfo: String, partitions: Int? = nil, observer: (any StorageObserver)? = nil
    ) {
        database = PostgresDatabase(
            conninfo, options: PostgresOptions(partitions: partitions, observer: observer))
    }

    /// Returns the number of parts if it is allowed.
    static func partitions(_ count: Int, _ options: ServeOptions) throws -> Int {
        let allowed = 2...PostgresOptions.partitionsMax
        guard options.database != nil, allowed.contains(count) else {
            throw Failure(
                .usage, "partitionsInvalid", "Tables cannot be split into \(count) parts.",
                field: "--partitions",
                rule: "from \(allowed.lowerBound) to \(allowed.upperBound), with --database",
                remedy: "leave it out: one table holds many millions of customers")
        }
        return count
    }

    var places: StoragePlaces {
        let database = database
        var places = StoragePlaces(
            registry: { try await database.schema("shopkeeper", migrations: $0, isSplit: false) },
            realm: { try await database.schema(Self.schema(of: $0), migrations: $1) },
            deleteRealm: { try await database.dropSchema(Self.schema(of: $0)) },
            leasesInDatabaseTime: true, proveDurable: { try await database.proveDurable() })
        places.deleteRegistry = { try await database.dropSchema("shopkeeper") }
        return places
    }

    /// Uses this database as a cluster other than the home, which contains only
    /// realms.
    func cluster(_ buckets: BucketRanges) -> ClusterPlace {
        let places = places
        return ClusterPlace(
            buckets: buckets, realm: places.realm, deleteRealm: places.deleteRealm,
            proveDurable: places.proveDurable)
    }

    /// A merchant's ledger, beside the store's schemas or alone.
    func ledger(migrations: [Migration]) async throws -> any Storage {
        try await database.schema("ledger", migrations: migrations)
    }

    /// Deletes the ledger, after a restore into it was refused.
    func deleteLedger() async throws { try await database.dropSchema("ledger") }

    /// Opens the ledger for reading, without migrating it. Nil if the database
    /// contains none.
    func existingLedger() async throws -> (any Storage)? {
        try await database.existing("ledger")
    }

    /// Throws ``StorageFault`` if the server may lose what it has acknowledged.
    func proveDurable() async throws { try await database.proveDurable() }

    /// The failure for a `--database` that cannot be used.
    static func unusable(_ fault: StorageFault) -> Failure {
        DatabaseFailure.failure(fault, isPostgres: true)
    }

    /// Opens the registry for reading, without migrating it. Nil if the
    /// database contains no store.
    func existingRegistry() async throws -> (any Storage)? {
        try await database.existing("shopkeeper")
    }

    /// Opens a realm for reading, without migrating it. Nil if there is none.
    func existingRealm(_ id: String) async throws -> (any Storage)? {
        try await database.existing(Self.schema(of: id))
    }

    /// Throws if another program of ours was connected to the database before
    /// this one, because it has numbers and sessions in memory. A program that
    /// has just ended may take a moment to disconnect.
    static func checkIsIdle(_ registry: any Storage) async throws {
        var count: Int64 = 0
        for _ in 0..<20 {
            count = try await registry.read {
                try $0.first(connectedBefore)?.integer("others") ?? 0
            }
            if count == 0 { return }
            try await Live.sleep(.milliseconds(100))
        }
        throw Failure(
            .taken, "databaseServed", "Other Shopkeeper processes have \(count) connections to it.",
            field: "--database", rule: "no server may use the databases at the same time",
            remedy: "stop every store and ledger that uses this database, then run it again")
    }

    private static let connectedBefore = Statement(
        "served.connectedBefore",
        """
        SELECT count(*) AS others FROM pg_stat_activity a JOIN pg_stat_activity own
            ON a.datname = own.datname AND a.application_name = own.application_name
        WHERE own.pid = pg_backend_pid() AND a.pid <> own.pid
            AND a.backend_start < own.backend_start
        """)

    func close() async { await database.close() }

    private static func schema(of realm: String) -> String {
        "realm_" + realm.lowercased().filter { $0.isLetter || $0.isNumber }
    }
}

/// The key that seals the keys in a shared database. It comes from the
/// environment, from a given file, or from a file in the data directory that is
/// generated at the first start.
struct SealKey {
    let bytes: [UInt8]
    /// The file of a key that was generated now.
    private let made: String?

    /// `makes`: whether a missing key is generated. A reader would get one that
    /// opens nothing.
    init(file: String?, folder: String, makes: Bool = true) throws {
        if let text = Live.environment["SHOPKEEPER_SEAL_KEY"] {
            bytes = try Self.read(text, field: "SHOPKEEPER_SEAL_KEY")
            made = nil
            return
        }
        let path = file ?? folder + "/seal.key"
        if let text = try SecretFile.readIfThere(path, field: "--seal-key") {
            bytes = try Self.read(text, field: "--seal-key")
            made = nil
            return
        }
        guard makes else {
            throw Failure(
                .key, "sealKeyMissing", "The sealing key is not at \(path).",
                field: "--seal-key", rule: "the key of the store's servers",
                remedy: "name its file, or set SHOPKEEPER_SEAL_KEY")
        }
        let digits = Live.randomness.hex(SealedKeyStore.sealBytes)
        do {
            try PrivateFiles.store(Array("\(digits)\n".utf8), as: path, replaces: false)
        } catch {
            throw Failure(
                .taken, "sealKeyUnusable", "\(error)", field: "--seal-key",
                remedy: "name a file that you may write, or one that holds the key")
        }
        bytes = try Self.read(digits, field: "--seal-key")
        made = path
    }

    /// Logs that the key was generated, once it is certain to stay.
    func announce(_ logger: Logger) {
        guard let made else { return }
        logger.notice(
            "a sealing key was made: keep a copy, and give it to every other server process",
            metadata: ["file": .string(made)])
    }

    /// Reads 64 hexadecimal digits.
    private static func read(_ text: String, field: String) throws -> [UInt8] {
        let digits = Array(text.trimmingCharacters(in: .whitespacesAndNewlines).utf8)
        let bytes = stride(from: 0, to: digits.count - digits.count % 2, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...($0 + 1)], as: UTF8.self), radix: 16)
        }
        guard digits.count == 2 * SealedKeyStore.sealBytes, bytes.count == SealedKeyStore.sealBytes
        else {
            throw Failure(
                .key, "sealKeyInvalid", "The sealing key is not valid.", field: field,
                rule: "\(2 * SealedKeyStore.sealBytes) hexadecimal digits",
                remedy: "give the one that this store's first server made")
        }
        return bytes
    }
}
