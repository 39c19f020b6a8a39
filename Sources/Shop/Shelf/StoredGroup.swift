// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Storage

/// A subscription group's row. Its members are in their own rows.
struct StoredGroup: Hashable, Sendable {
    var id: String
    var name: String
    var localizations: [Localization]

    private struct Words: Codable {
        let locale: String
        let displayName: String
        let details: String
    }

    init(id: String, name: String, localizations: [Localization] = []) {
        self.id = id
        self.name = name
        self.localizations = localizations
    }

    init(row: Row) throws {
        id = try row.text("group_id")
        name = try row.text("name")
        let stored = Data(try row.text("localizations").utf8)
        guard let words = try? JSONDecoder().decode([Words].self, from: stored) else {
            throw StorageFault(.malformedRow, "a group whose words cannot be read")
        }
        localizations = words.map {
            Localization(locale: $0.locale, displayName: $0.displayName, details: $0.details)
        }
    }

    func words() throws -> SQLValue {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let words = localizations.map {
            Words(locale: $0.locale, displayName: $0.displayName, details: $0.details)
        }
        return .text(String(decoding: try encoder.encode(words), as: UTF8.self))
    }

    /// The values in the order of `insert` and `put`.
    func values(bundleID: String, place: Int, isFromFile: Bool) throws -> [SQLValue] {
        [
            .text(bundleID), .text(id), .integer(Int64(place)), .text(name), try words(),
            .boolean(isFromFile),
        ]
    }

    /// Returns the groups with their members. A group that only its members
    /// name has its id as its name.
    static func groups(_ stored: [StoredGroup], of products: [Product]) -> [SubscriptionGroup] {
        var members: [String: [ProductID]] = [:]
        var named = stored
        for product in products {
            guard let id = product.groupID else { continue }
            if members[id] == nil, !stored.contains(where: { $0.id == id }) {
                named.append(StoredGroup(id: id, name: id))
            }
            members[id, default: []].append(product.id)
        }
        return named.map {
            SubscriptionGroup(
                id: $0.id, referenceName: $0.name, localizations: $0.localizations,
                products: members[$0.id] ?? [])
        }
    }
}
