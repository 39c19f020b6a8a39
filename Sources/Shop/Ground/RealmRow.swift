// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// A realm in the registry.
package struct RealmRow: Sendable {
    let id: String
    let name: String
    let environment: Environment
    let seed: Int64?
    let createdAt: Timestamp

    init(_ row: Row) throws {
        id = try row.text("id")
        // The id is used in names of files and schemas.
        guard Self.isID(id) else {
            throw StorageFault(.malformedRow, "a realm's id is not letters and digits")
        }
        name = try row.text("name")
        environment = Environment(rawValue: try row.text("environment"))
        seed = try row.optionalInteger("seed")
        createdAt = Timestamp(milliseconds: try row.integer("created_at"))
    }

    var summary: RealmSummary {
        RealmSummary(
            id: id, name: name, environment: environment, seed: seed, createdDate: createdAt)
    }

    /// Realms' ids are used in names of files and schemas.
    static func isID(_ id: String) -> Bool {
        (1...64).contains(id.utf8.count)
            && id.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) }
    }

    /// Whether a text can be the name of a realm.
    package static func isName(_ name: String) -> Bool {
        (1...40).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                (97...122).contains($0) || (48...57).contains($0) || $0 == 45
            }
    }
}
