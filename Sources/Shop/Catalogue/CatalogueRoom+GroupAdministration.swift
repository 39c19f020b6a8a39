// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// Creates, renames and removes subscription groups. Each change is audited.
extension CatalogueRoom {
    /// The most groups of an app.
    static let groupsMax = 1000

    /// Returns an app's groups. Refusals: `textInvalid`, `bundleIdUnknown`.
    public func groups(_ bundleID: String) async throws -> GroupList {
        let app = try await app(bundleID)
        return GroupList(groups: app.groups.map { app.record($0) })
    }

    /// Creates an empty group. Refusals, in order: `bundleIdUnknown`,
    /// `groupIdInvalid`, `textEmpty`, `textTooLong`, `tooManyEntries`,
    /// `groupExists`.
    public func createGroup(
        _ request: CreateGroupRequest, bundleID: String, _ context: RequestContext
    ) async throws -> GroupRecord {
        let app = try await app(bundleID)
        try CatalogueRules.check(groupID: request.groupId, "groupId")
        let name = request.name ?? request.groupId
        try Self.check(name, request.localizations)
        guard app.groups.count < Self.groupsMax else {
            throw Refusal(
                .conflict, code: "tooManyEntries", "The app has too many groups.",
                field: "groupId", rule: "at most \(Self.groupsMax) groups of one app",
                remedy: "remove one that is empty")
        }
        let group = StoredGroup(
            id: request.groupId, name: name,
            localizations: (request.localizations ?? []).map { Localization($0) })
        return try await alterGroup("group.create", group.id, bundleID, context) { writing in
            let values = try group.values(
                bundleID: bundleID, place: Self.lastPlace, isFromFile: false)
            let isNamed =
                try writing.first(
                    Statement.Groups.member, [.text(bundleID), .text(group.id)]) != nil
            guard !isNamed, try writing.first(Statement.Groups.insert, values) != nil else {
                throw Refusal(
                    .conflict, code: "groupExists", "The app has a group of this id.",
                    field: "groupId", rule: "a group's id is its own in its app",
                    remedy: "change that one, or choose another id")
            }
        }
    }

    /// Changes a group's names. Refusals, in order: `bundleIdUnknown`,
    /// `textEmpty`, `textTooLong`, `groupUnknown`.
    public func changeGroup(
        _ id: String, bundleID: String, _ change: GroupChange, _ context: RequestContext
    ) async throws -> GroupRecord {
        _ = try await app(bundleID)
        try Edge.text(id, "groupId")
        try Self.check(change.name ?? id, change.localizations)
        return try await alterGroup("group.change", id, bundleID, context) { writing in
            guard var group = try Self.group(id, of: bundleID, writing) else {
                throw Self.unknownGroup
            }
            group.name = change.name ?? group.name
            if let words = change.localizations {
                group.localizations = words.map { Localization($0) }
            }
            // A group that only its members name does not have a row yet.
            _ = try writing.first(
                Statement.Groups.insert,
                try group.values(bundleID: bundleID, place: Self.lastPlace, isFromFile: false))
            try writing.execute(
                Statement.Groups.set,
                [.text(bundleID), .text(id), .text(group.name), try group.words()])
        }
    }

    /// Removes an empty group. Refusals, in order: `bundleIdUnknown`,
    /// `groupUnknown`, `groupNotEmpty`.
    public func removeGroup(
        _ id: String, bundleID: String, _ context: RequestContext
    ) async throws {
        _ = try await app(bundleID)
        try Edge.text(id, "groupId")
        _ = try await alterGroup("group.remove", id, bundleID, context) { writing in
            let key: [SQLValue] = [.text(bundleID), .text(id)]
            guard try Self.group(id, of: bundleID, writing) != nil else {
                throw Self.unknownGroup
            }
            guard try writing.first(Statement.Groups.member, key) == nil else {
                throw Refusal(
                    .conflict, code: "groupNotEmpty", "The group has subscriptions.",
                    field: "groupId", rule: "a group goes when nothing is sold in it",
                    remedy: "remove its products first")
            }
            try writing.execute(Statement.Groups.remove, key)
        }
    }

    /// Makes one commit behind the catalogue's lock, with the old and new
    /// values for the audit.
    private func alterGroup(
        _ deed: String, _ id: String, _ bundleID: String, _ context: RequestContext,
        _ change: @escaping @Sendable (any Writing) throws -> Void
    ) async throws -> GroupRecord {
        try await realm.house(.catalogue, context) { house in
            let before = try Self.group(id, of: bundleID, house.writing)
            try change(house.writing)
            let after = try Self.group(id, of: bundleID, house.writing)
            try house.audit(
                deed, "\(bundleID)/\(id)", before: before?.audited, after: after?.audited)
            return .commit(())
        }
        let app = try await app(bundleID)
        let group = app.groups.first { $0.id == id }
        return app.record(
            group ?? SubscriptionGroup(id: id, referenceName: id, localizations: [], products: []))
    }

    /// Returns a group from its row, or one that only its members name.
    private static func group(
        _ id: String, of bundleID: String, _ reading: any Reading
    ) throws -> StoredGroup? {
        let key: [SQLValue] = [.text(bundleID), .text(id)]
        if let row = try reading.first(Statement.Groups.one, key) {
            return try StoredGroup(row: row)
        }
        guard try reading.first(Statement.Groups.member, key) != nil else { return nil }
        return StoredGroup(id: id, name: id)
    }

    private static func check(_ name: String, _ words: [ProductWords]?) throws {
        try Edge.name(name, "name")
        guard let words else { return }
        guard words.count <= ListedProduct.localizationsMax else {
            throw Refusal(
                .badRequest, code: "tooManyEntries", "The list is too long.",
                field: "localizations", rule: "at most \(ListedProduct.localizationsMax) entries",
                remedy: "leave some out")
        }
        try CatalogueRules.checkOnce(words.map(\.locale), "localizations")
        for one in words {
            try Edge.text(one.locale, "localizations.locale", bytesMax: 64)
            try Edge.text(one.displayName, "localizations.displayName")
            try Edge.text(one.description, "localizations.description", bytesMax: 4096)
        }
    }

    private static var unknownGroup: Refusal {
        Refusal(
            .notFound, code: "groupUnknown", "The app has no such group.", field: "groupId",
            rule: "one that was made, or that a file or a product named",
            remedy: "list the groups")
    }
}

extension Shelf.App {
    fileprivate func record(_ group: SubscriptionGroup) -> GroupRecord {
        let members = group.products.map {
            GroupMember(productId: $0.value, level: byID[$0]?.terms?.level)
        }
        return GroupRecord(
            bundleId: bundleID.value, groupId: group.id, name: group.referenceName,
            localizations: group.localizations.map {
                ProductWords(
                    locale: $0.locale, displayName: $0.displayName, description: $0.details)
            },
            products: members.sorted {
                ($0.level ?? .max, $0.productId) < ($1.level ?? .max, $1.productId)
            })
    }
}

extension Localization {
    fileprivate init(_ words: ProductWords) {
        self.init(
            locale: words.locale, displayName: words.displayName, details: words.description)
    }
}

extension StoredGroup {
    /// The fields for the audit.
    var audited: AuditFields {
        AuditFields([("name", name)] + AuditFields.localizations(localizations))
    }
}
