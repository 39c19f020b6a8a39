// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Foundation
import SignedData
import Storage

/// The rules for the values of a store's backup. Those of the registry are
/// here, those of a realm in another file. A test compares the tables and
/// columns with the schemas.
enum StoreArchiveRules {
    /// Returns the rules of a database, by its name in the archive.
    static func tables(of database: String) -> [TableRules]? {
        if database == StoreBackup.registry { return registry }
        return realmID(database) == nil ? nil : realm
    }

    /// Returns the id of the realm in a database's name.
    static func realmID(_ database: String) -> String? {
        guard database.hasPrefix(StoreBackup.realmPrefix) else { return nil }
        let id = String(database.dropFirst(StoreBackup.realmPrefix.count))
        return isRealmID(id) ? id : nil
    }

    /// Realms' ids are used in names of files and schemas.
    static func isRealmID(_ id: String) -> Bool {
        (1...64).contains(id.utf8.count)
            && id.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) }
    }

    static let registry = [
        TableRules(
            "realms",
            [
                "id": realmID, "name": realmName, "environment": environment,
                "seed": seed.optional, "created_at": .time, "deleted_at": .time.optional,
                "removed_at": .time.optional,
            ]),
        TableRules("number_blocks", ["kind": numberKind, "next_count": nextCount]),
        TableRules(
            "door_keys",
            [
                "door": .word(Door.allCases.map(\.rawValue)), "secret": .text(bytes: 16...255),
            ]),
        TableRules("revoked_certificates", ["serial": hex(1...64), "revoked_at": .time]),
        TableRules("server_key_realms", ["key_id": id, "realm_id": realmID]),
        TableRules(
            "operators",
            [
                "name": id, "key_hash": .blob(bytes: 32...32), "made_at": .time,
                "revoked_at": .time.optional,
            ]),
        TableRules("store_audit", audit),
        TableRules(
            "store_audit_counts", ["singleton": .integer(1...1), "written": .count], rowsMax: 1),
        TableRules(
            "rotation_notes",
            [
                "kind": .word(AuthorityKind.allCases.map(\.rawValue)),
                "new_value": auditText, "generation": .integer(1...1_000_000),
                "who": .text(bytes: 0...1024),
                "written_at": .time, "old_value": auditText,
            ]),
        TableRules("reset_notes", ["realm": realmID, "generation": generation]),
    ]

    // MARK: Rules for both

    /// Keys other than the authorities' are files that an operator has added.
    static func isKeyName(_ name: String) -> Bool {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return name.utf8.count <= 200
            && parts.allSatisfy { !$0.hasPrefix(".") && IDText.isID(String($0)) }
    }

    static let realmID = ValueRule.text("1 to 64 of a–z and digits", isRealmID)
    static let realmName = ValueRule.text(
        "1 to 40 lower-case letters a–z, digits and `-`", Store.isRealmName)
    static let environment = ValueRule.word([Realm.sandbox, Realm.production])
    static let seed = ValueRule.integer(Int64.min...Int64.max)
    static let numberKind = ValueRule.integer(1...Int64(IDKind.allCases.count))
    static let nextCount = ValueRule.integer(0...NumberLayout.countMax)
    /// Leaves room, because a restore raises it once more.
    static let generation = ValueRule.integer(1...(1 << 53) - (1 << 22))
    static let id = ValueRule.text(
        "1 to 100 of letters, digits, `-`, `.` and `_`", IDText.isID)
    /// The text may have been truncated, possibly within a character.
    static let auditText = ValueRule.text(bytes: 0...AuditEntry.textBytesMax + 8)

    /// The rules for rows of `audit` and `store_audit`.
    static let audit: [String: ValueRule] = [
        "entry": .integer(1...1 << 53), "written_at": .time, "who": .text(bytes: 0...1024),
        "deed": .name, "subject": .text(bytes: 0...65_536), "old_value": auditText.optional,
        "new_value": auditText.optional,
    ]

    static func hex(_ digits: ClosedRange<Int>) -> ValueRule {
        .text("\(digits.lowerBound) to \(digits.upperBound) hexadecimal digits in lower case") {
            digits.contains($0.utf8.count)
                && $0.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        }
    }

    static func number(_ kind: IDKind) -> ValueRule {
        ValueRule("a number of the kind \(kind)") { value in
            guard case .integer(let number) = value else { return false }
            return NumberLayout(number: number)?.kind == kind
        }
    }
}
