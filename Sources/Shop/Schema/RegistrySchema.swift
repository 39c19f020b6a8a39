// SPDX-License-Identifier: Apache-2.0

import Archive
import SignedData
import Storage

/// The store's own database: its realms, the used numbers, the keys of its
/// doors, its operators, and marks of unfinished operations.
enum RegistrySchema {
    static let migrations = [
        Migration(1, "the registry", tables.flatMap(\.ddl))
    ]

    static let tables = [
        realms, numberBlocks, doorKeys, sealedKeys, revokedCertificates, serverKeyRealms,
        operators, audit, auditCounts, rotationNotes, resetNotes, .restores, advances, .readiness,
    ]

    static let realms = Table(
        "realms", key: ["id"],
        [
            "id": .realmID, "name": .realmName, "environment": .environment,
            "seed": .seed.optional, "created_at": .time, "deleted_at": .time.optional,
            "removed_at": .time.optional,
        ], indexes: [.unique("realms_name", on: ["name"], where: "deleted_at IS NULL")])

    static let numberBlocks = Table(
        "number_blocks", key: ["kind"], ["kind": .numberKind, "next_count": .nextCount])

    static let doorKeys = Table(
        "door_keys", key: ["door"],
        [
            "door": .word(Door.allCases.map(\.rawValue)), "secret": .secret,
        ])

    /// Sealed keys. A backup contains them in plain form, outside of its
    /// tables.
    static let sealedKeys = Table(
        "sealed_keys", key: ["name"], ["name": .name, "sealed": .blob(bytes: 1...1_048_576)],
        isInBackup: false)

    static let revokedCertificates = Table(
        "revoked_certificates", key: ["serial"],
        ["serial": .hex(1...64), "revoked_at": .time])

    /// The realm of each server key. It is written before the key's row in its
    /// realm's own database. A row that is only here authorises nothing.
    static let serverKeyRealms = Table(
        "server_key_realms", key: ["key_id"], ["key_id": .id, "realm_id": .realmID],
        references: [.init(["realm_id"], to: "realms", ["id"])])

    /// Only the SHA-256 of a key is stored. A name can be used only once.
    static let operators = Table(
        "operators", key: ["name"],
        [
            "name": .id, "key_hash": .blob(bytes: 32...32), "made_at": .time,
            "revoked_at": .time.optional,
        ], indexes: [.unique("operators_by_key", on: ["key_hash"])])

    static let audit = Table.audit("store_audit")

    static let auditCounts = Table(
        "store_audit_counts", key: ["singleton"],
        ["singleton": .singleton, "written": .count], constraints: Table.oneRow, rowsMax: 1)

    static let rotationNotes = Table(
        "rotation_notes", key: ["kind", "new_value"],
        [
            "kind": .word(AuthorityKind.allCases.map(\.rawValue)),
            "new_value": .text(bytes: 0...4096),
            "generation": .integer(1...1_000_000), "who": .id,
            "written_at": .time, "old_value": .text(bytes: 0...4096),
        ])

    static let resetNotes = Table(
        "reset_notes", key: ["realm", "generation"],
        ["realm": .realmID, "generation": .generation],
        references: [.init(["realm"], to: "realms", ["id"])])

    /// At most one row. It has no end while an advance is running.
    static let advances = Table(
        "advances", key: ["singleton"],
        ["singleton": .singleton, "begun_at": .time, "finished_at": .time.optional],
        constraints: Table.oneRow, isInBackup: false)
}
