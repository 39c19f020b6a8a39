// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// Links for devices, and what they lead to.
extension ContentRoom {
    /// How long a link is valid. In wall time.
    static let linkSeconds: Int64 = 15 * 60
    /// The address of packages.
    public static let prefix = "/content/v1/"

    /// Returns a link to the content of a transaction of the session's customer and
    /// app. Refusals, in order: `transactionNotFound`, `contentVersionInvalid`,
    /// `contentNotOwned`, `contentNotFound`, `contentNotHosted`, `contentMissing`.
    public func link(
        _ transactionID: String, _ request: ContentRequest, _ session: DeviceSession
    ) async throws -> ContentLink {
        guard let number = Edge.number(transactionID) else {
            throw PurchaseRoom.transactionNotFound
        }
        if let version = request.version, ContentVersion(version) == nil {
            throw Refusal(
                .badRequest, code: "contentVersionInvalid", "This is not a version of content.",
                field: "version", rule: ContentVersion.rule,
                remedy: "leave it out for the newest version")
        }
        let (facts, versions) = try await owned(number, session)
        guard facts.revokedAt == nil else { throw Self.notOwned }
        let chosen =
            versions.first { $0.version.description == request.version }
            ?? versions.max { $0.version < $1.version }
        guard facts.type == .nonConsumable, let chosen else { throw Self.notFound }
        guard try await files().length(of: chosen.sha256) == chosen.length else {
            throw Self.missing
        }
        let link = ContentGrant(
            realm: realm.description.name, sha256: chosen.sha256, customer: session.customer,
            transaction: facts.id,
            expires: realm.ports.wall.now.adding(seconds: Self.linkSeconds))
        return ContentLink(
            productId: chosen.productID.value, version: chosen.version.description,
            length: chosen.length, sha256: chosen.sha256,
            url: link.url(try await realm.contentKey.sign(link.signed(realm.description.id))),
            expiresDate: link.expires)
    }

    /// The transaction, and the versions of its product that can be delivered.
    private func owned(
        _ number: Int64, _ session: DeviceSession
    ) async throws -> (TransactionFacts, [ContentFacts]) {
        let found = try await content(of: number, session.customer)
        guard let found, found.0.bundleID == session.bundleID else {
            throw PurchaseRoom.transactionNotFound
        }
        return found
    }

    /// A transaction of any app, and the versions of its product. Nil if the customer has no
    /// such transaction.
    private func content(
        of number: Int64, _ customer: CustomerID
    ) async throws -> (TransactionFacts, [ContentFacts])? {
        let key: [SQLValue] = [.integer(customer.value), .integer(number)]
        return try await realm.read(of: customer) { reading in
            guard let row = try reading.first(Statement.Transactions.one, key) else { return nil }
            let facts = try TransactionFacts(row: row)
            let product: [SQLValue] = [.text(facts.bundleID.value), .text(facts.productID.value)]
            return (
                facts,
                try reading.query(Statement.Contents.ofProduct, product)
                    .map(ContentFacts.init(row:))
            )
        }
    }

    /// Opens the package of a link whose signature was checked. Refusals:
    /// `contentNotOwned`, `contentNotHosted`, `contentMissing`.
    func open(_ grant: ContentGrant) async throws -> any ContentReader {
        let found = try await content(of: grant.transaction.value, grant.customer)
        guard let (facts, versions) = found, facts.revokedAt == nil else { throw Self.notOwned }
        guard let reader = try await files().open(grant.sha256) else { throw Self.missing }
        // Of a version that was removed since, the length is not known here.
        let known = versions.first { $0.sha256 == grant.sha256 }?.length
        guard known == nil || known == reader.length else { throw Self.missing }
        return reader
    }

    static let notOwned = Refusal(
        .forbidden, code: "contentNotOwned", "The customer may not use this purchase any more.",
        field: "transactionId", rule: "content is delivered for purchases that stand",
        remedy: "read the transactions again")

    static let notFound = Refusal(
        .notFound, code: "contentNotFound", "The product has no content.",
        field: "transactionId", rule: "content is uploaded for the product, and ready",
        remedy: "read the transactions again")

    static let missing = Refusal(
        .unavailable, code: "contentMissing", "The store does not have the bytes of this content.",
        rule: "the folder of packages belongs to the store's databases",
        remedy: "try later; the operator sees in `shopkeeper content list` what to upload again")

    static let linkInvalid = Refusal(
        .forbidden, code: "contentLinkInvalid", "This link is not one of the store's.",
        rule: "as the store gave it", remedy: "ask for a new link")

    static let linkExpired = Refusal(
        .forbidden, code: "contentLinkExpired", "This link has expired.",
        rule: "a link is valid for \(linkSeconds / 60) minutes", remedy: "ask for a new link")
}

/// What a link grants: a package to a customer, for a transaction, until a date.
struct ContentGrant: Hashable, Sendable {
    /// The realm's name.
    let realm: String
    let sha256: String
    let customer: CustomerID
    let transaction: TransactionID
    let expires: Timestamp

    init(
        realm: String, sha256: String, customer: CustomerID, transaction: TransactionID,
        expires: Timestamp
    ) {
        self.realm = realm
        self.sha256 = sha256
        self.customer = customer
        self.transaction = transaction
        self.expires = expires
    }

    /// Nil if the parts of an address are none that the store makes.
    init?(sha256: String, query: (String) -> String?) {
        guard ValueRule.packageDigest.admits(.text(sha256)),
            let realm = query("realm"), RealmRow.isName(realm),
            let customer = query("customer").flatMap(Edge.number),
            let transaction = query("transaction").flatMap(Edge.number),
            let expires = query("expires").flatMap(Edge.number)
        else { return nil }
        self.init(
            realm: realm, sha256: sha256, customer: CustomerID(customer),
            transaction: TransactionID(transaction), expires: Timestamp(milliseconds: expires))
    }

    /// The text that is signed. It has the realm's id, because a name may be used again.
    func signed(_ realmID: String) -> String {
        "shopkeeper content 1\n\(realmID)\n\(sha256)\n\(customer.value)\n\(transaction.value)\n"
            + "\(expires.milliseconds)"
    }

    /// Path and query, with the signature.
    func url(_ signature: String) -> String {
        ContentRoom.prefix + sha256 + "?realm=\(realm)&customer=\(customer.value)"
            + "&transaction=\(transaction.value)&expires=\(expires.milliseconds)"
            + "&signature=\(signature)"
    }
}
