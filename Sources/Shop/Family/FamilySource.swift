// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// What a purchaser has for the family, and the places of both people: everything that
/// the rules need, but the member's own rows.
struct FamilySource: Sendable {
    let purchaser: CustomerID
    let member: CustomerID
    /// The member's rows that were read before. Events that they have were not read.
    private let known: FamilyMemberRows
    private let places: (purchaser: FamilyPersonRow, member: FamilyPersonRow)
    private let bought: Bought
    private let shelf: Shelf

    /// What was read of the purchaser. The revision was read first, so what follows
    /// may be newer, and is never older.
    private struct Bought: Sendable {
        let revision: Int64
        let sales: [TransactionFacts]
        let subscriptions: [TransactionID: Subscription]
        let news: [FamilyNews]

        init(_ purchaser: CustomerID, after seen: Int64?, _ reading: any Reading) throws {
            let key: [SQLValue] = [.integer(purchaser.value)]
            revision =
                try reading.first(Statement.Families.revision, key)?.integer("revision") ?? 0
            sales = try reading.query(Statement.Families.sales, key)
                .map(TransactionFacts.init(row:))
            let rows = try reading.query(Statement.Families.subscriptions, key)
                .map(SubscriptionRow.init(row:))
            subscriptions = Dictionary(
                rows.map { ($0.subscription.originalID, $0.subscription) }
            ) { first, _ in first }
            news = try reading.query(
                Statement.Families.news,
                [.integer(purchaser.value), .integer(seen ?? 0), .integer(revision)]
            ).map(FamilyNews.init(row:))
        }
    }

    /// `known`: the member's rows, as they were before this is read.
    init(
        from purchaser: CustomerID, to member: CustomerID, after known: FamilyMemberRows,
        in realm: Realm
    ) async throws {
        (self.purchaser, self.member, self.known) = (purchaser, member, known)
        places = try await realm.readHouse { reading in
            (
                try FamilyPersonRow.find(purchaser, reading),
                try FamilyPersonRow.find(member, reading)
            )
        }
        bought = try await realm.read(of: purchaser) {
            try Bought(purchaser, after: known.seen, $0)
        }
        shelf = try await realm.loadShelf()
    }

    /// How far a member who has everything is up to date: the revisions of the
    /// purchaser and of both people's places. Both only grow.
    var linkParts: [Int64] {
        [bought.revision, places.purchaser.revision + places.member.revision]
    }

    /// The row that says so.
    var link: [SQLValue] {
        RealmSchema.familyLinks.row([
            "customer_id": .integer(member.value), "purchaser_id": .integer(purchaser.value),
            "purchaser_revision": .integer(linkParts[0]),
            "family_revision": .integer(linkParts[1]),
        ])
    }

    func sale(_ id: TransactionID) -> TransactionFacts? { bought.sales.first { $0.id == id } }

    func subscription(_ original: TransactionID) -> Subscription? {
        bought.subscriptions[original]
    }

    /// Whether all events were read that these rows lack, and no snapshot was loaded since,
    /// which brings older rows back.
    func isEnough(for member: FamilyMemberRows) -> Bool {
        (known.seen ?? 0) <= (member.seen ?? 0) && known.generation == member.generation
    }

    /// Why a subscription expired.
    func expiration(_ original: TransactionID) -> Expiration {
        guard case .expired(let reason, _)? = bought.subscriptions[original]?.state else {
            return .other
        }
        return reason
    }

    /// Returns what is to change for the member.
    func steps(_ member: FamilyMemberRows, at now: Timestamp) -> [FamilyStep] {
        let expired = bought.subscriptions.compactMapValues { subscription -> Timestamp? in
            guard case .expired(_, let instant) = subscription.state else { return nil }
            return instant
        }
        let sharing = FamilySharing(
            sales: bought.sales.map { sale($0, member) }, expired: expired, news: bought.news,
            since: places.purchaser.person.since(for: places.member.person),
            isOneFamily: places.purchaser.person.isInFamily(of: places.member.person),
            owned: Set(bought.sales.filter { member.owns($0) }.map(\.id)), seen: member.seen,
            isSettled: member.link.last == linkParts.last)
        return sharing.steps(from: member.shares.map(share), at: now)
    }

    private func share(_ row: FamilyShareRow) -> FamilyShare {
        var share = row.share
        let present = bought.subscriptions[share.originalID]
        share.isStale = present != nil && present != row.subscription
        return share
    }

    /// A product of an app that the member does not use yet is given when the member
    /// first does.
    private func sale(_ facts: TransactionFacts, _ member: FamilyMemberRows) -> FamilySale {
        let isShareable =
            shelf.product(facts.productID, of: facts.bundleID)?.isFamilyShareable == true
            && member.accounts[facts.bundleID] != nil
        return FamilySale(
            id: facts.id, originalID: facts.originalID, productID: facts.productID,
            type: facts.type, isRenewal: facts.reason == .renewal,
            purchasedAt: facts.purchasedAt, endsAt: facts.period?.expiresAt,
            isUpgraded: facts.period?.isUpgraded ?? false, revokedAt: facts.revokedAt,
            isShareable: isShareable, revision: facts.revision)
    }
}

extension FamilyNews {
    fileprivate init(row: Row) throws {
        self.init(
            originalID: TransactionID(try row.integer("subscription_id")),
            revision: try row.integer("revision"),
            event: try StoredJSON.value(
                try row.text("body"), "an event of a subscription that cannot be read"))
    }
}

/// A member's own rows, as far as they concern one purchaser.
struct FamilyMemberRows: Sendable {
    var shares: [FamilyShareRow]
    /// The member's numbers in apps.
    let accounts: [BundleID: Int64]
    private let owned: Set<[String]>
    /// The purchaser's revision up to which sales were considered before.
    var seen: Int64?
    /// The values of ``FamilySource/linkParts`` that were written last.
    var link: [Int64]
    /// Another one after each loaded snapshot.
    let generation: Int64

    init(
        _ member: CustomerID, from purchaser: CustomerID, _ reading: any Reading
    ) throws {
        let key: [SQLValue] = [.integer(member.value)]
        shares = try FamilyShareRow.all(of: member, from: purchaser, reading)
        var accounts: [BundleID: Int64] = [:]
        for row in try reading.query(Statement.Families.accounts, key) {
            accounts[BundleID(try row.text("bundle_id"))] = try row.integer("app_transaction_id")
        }
        self.accounts = accounts
        owned = Set(
            try reading.query(Statement.Families.owned, key)
                .map { [try $0.text("bundle_id"), try $0.text("product_id")] })
        generation =
            try reading.first(Statement.Families.generation)?.integer("generation") ?? 0
        let row = try reading.first(
            Statement.Families.link, key + [.integer(purchaser.value)])
        seen = try row?.integer("purchaser_revision")
        link =
            try row.map {
                [try $0.integer("purchaser_revision"), try $0.integer("family_revision")]
            } ?? []
    }

    func owns(_ sale: TransactionFacts) -> Bool {
        owned.contains([sale.bundleID.value, sale.productID.value])
    }
}
