// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Foundation
import SignedData
import Storage

/// The rules for a store's backup, in addition to those of its columns in the
/// schemas.
enum StoreArchiveRules {
    /// Returns the tables of a database, by its name in the archive.
    static func tables(of database: String) -> [Table]? {
        if database == StoreBackup.registry { return registry }
        return realmID(database) == nil ? nil : realm
    }

    /// Checks each row by itself, and with `also`.
    static func judge(
        also: @escaping (_ database: String, _ table: String, Row) -> BrokenRule? = { _, _, _ in
            nil
        }
    ) -> ArchiveJudge {
        ArchiveJudge(rules: tables(of:)) { database, table, row in
            Self.row(table, row) ?? also(database, table, row)
        }
    }

    static let registry = RegistrySchema.tables.filter(\.isInBackup)
    static let realm = RealmSchema.tables.map(\.table).filter(\.isInBackup)

    /// Returns the id of the realm in a database's name.
    static func realmID(_ database: String) -> String? {
        guard database.hasPrefix(StoreBackup.realmPrefix) else { return nil }
        let id = String(database.dropFirst(StoreBackup.realmPrefix.count))
        return RealmRow.isID(id) ? id : nil
    }

    /// Keys other than the authorities' are files that an operator has added.
    static func isKeyName(_ name: String) -> Bool {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return name.utf8.count <= 200
            && parts.allSatisfy { !$0.hasPrefix(".") && IDText.isID(String($0)) }
    }
}
