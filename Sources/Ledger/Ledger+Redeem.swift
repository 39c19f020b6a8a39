// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Storage
public import StoreWire

extension Ledger {
    /// Spends exactly one unit of an account's purchase for a named purpose. A
    /// repeated request with the same key gets the same answer and spends
    /// nothing.
    ///
    /// Refusals, in order: `textInvalid`, `environmentMissing`,
    /// `environmentRefused`, `bundleIdMissing`, `bundleIdRefused`,
    /// `purchaseUnnamed`, `redemptionContradicts` (naming the field),
    /// `keyReserved`, `purchaseUnknown`, `notRedeemable`, `purchaseRevoked`,
    /// `purchaseGranted`, `purchaseSpent`, `purchaseReserved`.
    public func redeem(
        _ request: RedeemRequest, account: String, requestID: String = ""
    ) async throws -> LedgerRedemption {
        let prepared = try prepare(request, account: account)
        let wish = prepared.wish
        let noted = NotedRedemption(
            prepared: prepared,
            note: note(.redeemed, account: wish.account, wish.idempotencyKey))
        let (redemption, isNew) = try await redemptions.write(
            noted, named: wish.idempotencyKey, of: wish.account
        ) { all in
            try await commit { try NotedRedemption.redeem(all, in: $0) }
        }
        if isNew { figures.countRedeemed() }
        tell(redemption, requestID)
        return redemption
    }

    /// Checks a request, for a redemption in a transaction of the merchant's own
    /// on the ledger's database. Refusals: the first ones of ``redeem(_:account:requestID:)``,
    /// up to `purchaseUnnamed`.
    public func prepare(
        _ request: RedeemRequest, account: String
    ) throws(LedgerRefusal) -> PreparedRedemption {
        PreparedRedemption(
            wish: try RedemptionWish(
                account: account, idempotencyKey: request.idempotencyKey,
                purpose: request.purpose, transactionID: request.transactionId,
                productID: request.productId, environment: environment(request.environment),
                bundleID: bundleID(request.bundleId)),
            now: ports.wall.now, outbox: outbox)
    }

    func tell(_ redemption: LedgerRedemption, _ requestID: String) {
        ports.log(
            "redeemed",
            [
                "requestId": requestID, "transactionId": redemption.transactionId,
                "environment": redemption.environment, "unit": "\(redemption.unit)",
            ])
    }
}

/// A checked redemption, to be carried out in a transaction of the merchant's
/// own. The unit is spent if that transaction commits, and only then.
///
/// ```swift
/// let paid = try ledger.prepare(
///     RedeemRequest(idempotencyKey: key, productId: "year", purpose: "comments"),
///     account: account)
/// try await storage.write { writing in
///     guard try paid.redeem(in: writing).isNew else { return }
///     try writing.execute(extendByAYear, [.text(journal)])
/// }
/// ```
public struct PreparedRedemption: Sendable {
    let wish: RedemptionWish
    let now: Timestamp
    let outbox: WebhookOutbox

    /// Spends one unit, or finds what the same key has spent before. `isNew` says
    /// which: the effect belongs in the transaction only if it is true.
    ///
    /// The first statement locks the account's line, so that transactions of one
    /// account run one after the other. Runs again if the transaction does.
    /// Refusals: those of ``Ledger/redeem(_:account:requestID:)`` from
    /// `redemptionContradicts` on. The transaction must not continue after one.
    public func redeem(
        in writing: any Writing
    ) throws -> (redemption: LedgerRedemption, isNew: Bool) {
        try Self.redeem([self], in: writing)[0].get()
    }

    /// Spends a unit for each of several redemptions of one account, all with keys of their
    /// own. One that is refused has no effect.
    static func redeem(
        _ all: [PreparedRedemption], in writing: any Writing
    ) throws -> [RedemptionOutcome] {
        let outcomes = try RedemptionWish.fulfil(all.map { ($0.wish, $0.now) }, writing)
        for (prepared, outcome) in zip(all, outcomes) {
            guard case .success(let redeemed) = outcome, redeemed.isNew else { continue }
            try prepared.outbox.post(
                .unitRedeemed, account: prepared.wish.account, redeemed.redemption,
                at: prepared.now, writing)
        }
        return outcomes
    }
}

/// A redemption, and whether it was made now and not under the same key before. Its error is
/// a ``LedgerRefusal``.
typealias RedemptionOutcome = Result<(redemption: LedgerRedemption, isNew: Bool), any Error>

/// A redemption that is noted in the audit when it is made.
struct NotedRedemption: Sendable {
    let prepared: PreparedRedemption
    let note: AuditNote?

    /// Runs in a commit, possibly twice. A repeated request writes nothing, so that it waits
    /// for no lock and no disk; neither does one that is refused alone.
    static func redeem(
        _ all: [NotedRedemption], in writing: any Writing
    ) throws -> [RedemptionOutcome] {
        var outcomes = try RedemptionWish.redeemed(all.map(\.prepared.wish), writing)
        let open = all.indices.filter { outcomes[$0] == nil }
        if !open.isEmpty {
            let redeemed = try PreparedRedemption.redeem(open.map { all[$0].prepared }, in: writing)
            for (index, outcome) in zip(open, redeemed) {
                outcomes[index] = outcome
                if case .success(let redeemed) = outcome, redeemed.isNew {
                    try all[index].note?.write(writing)
                }
            }
        }
        let answers = outcomes.compactMap { $0 }
        if answers.count == 1, case .failure(let refusal) = answers[0] { throw refusal }
        return answers
    }
}

/// A request to spend or reserve a unit, in checked values.
struct RedemptionWish: Hashable, Sendable {
    let account: String
    let idempotencyKey: String
    let purpose: String
    let transactionID: String?
    let productID: String?
    let environment: Environment
    let bundleID: String

    /// Checks a request. `environment` and `bundleID` are checked after the texts.
    init(
        account: String, idempotencyKey: String, purpose: String, transactionID: String?,
        productID: String?,
        environment: @autoclosure () throws(LedgerRefusal) -> Environment,
        bundleID: @autoclosure () throws(LedgerRefusal) -> String
    ) throws(LedgerRefusal) {
        self.account = try Edge.account(account)
        self.idempotencyKey = try Edge.text(idempotencyKey, "idempotencyKey")
        self.purpose = try Edge.text(purpose, "purpose", bytesMax: Edge.purposeBytesMax)
        self.transactionID = try Edge.optional(transactionID, "transactionId")
        self.productID = try Edge.optional(productID, "productId")
        self.environment = try environment()
        self.bundleID = try bundleID()
        guard transactionID != nil || productID != nil else {
            throw LedgerRefusal(
                .badRequest, code: "purchaseUnnamed", "Which purchase is to be spent?",
                field: "transactionId", rule: "`transactionId`, `productId`, or both",
                remedy: "name the transaction, or the product for its oldest unspent purchase")
        }
    }

    init(_ row: Row, environment: Environment) throws {
        account = try row.text("account")
        idempotencyKey = try row.text("idempotency_key")
        purpose = try row.text("purpose")
        transactionID = try row.optionalText("asked_transaction_id")
        productID = try row.optionalText("asked_product_id")
        self.environment = environment
        bundleID = try row.text("bundle_id")
    }

    /// Returns the first field in which two wishes with the same key differ.
    /// Nil if they are equal.
    func difference(from other: RedemptionWish) -> String? {
        if !purpose.isSame(as: other.purpose) { return "purpose" }
        if !transactionID.isSame(as: other.transactionID) { return "transactionId" }
        if !productID.isSame(as: other.productID) { return "productId" }
        if environment != other.environment { return "environment" }
        return bundleID.isSame(as: other.bundleID) ? nil : "bundleId"
    }

    /// Returns what was done with this key, if anything was. Refusal:
    /// `redemptionContradicts`.
    func told(_ reading: any Reading) throws -> BookedRedemption? {
        try BookedRedemption.find(account, idempotencyKey, reading).map(same)
    }

    /// Checks that what was done with this key is what is asked for now.
    private func same(_ told: BookedRedemption) throws -> BookedRedemption {
        guard let field = difference(from: told.wish) else { return told }
        throw LedgerRefusal(
            .conflict, code: "redemptionContradicts",
            "This key was used for a redemption with another \(field).", field: field,
            rule: "one idempotency key is one redemption",
            remedy: "send what was sent before, or a new key for a new redemption")
    }

    /// Returns the redemptions that were made with these keys, and nil for each key that is
    /// free. Refusals: `redemptionContradicts`, `keyReserved`.
    static func redeemed(
        _ wishes: [RedemptionWish], _ reading: any Reading
    ) throws -> [RedemptionOutcome?] {
        let found = try reading.queryEach(Statement.Redemptions.byKey, wishes.map(\.key))
        return try zip(wishes, found).map { wish, rows in
            guard let told = try rows.first.map(BookedRedemption.init) else { return nil }
            return try outcome { (try wish.redeemed(told), false) }
        }
    }

    private func redeemed(_ told: BookedRedemption) throws -> LedgerRedemption {
        guard let redemption = try same(told).redemption else {
            throw LedgerRefusal(
                .conflict, code: "keyReserved", "This key belongs to a reservation.",
                field: "idempotencyKey", rule: "one idempotency key is one redemption",
                remedy: "confirm the reservation, or redeem under a new key")
        }
        return redemption
    }

    /// Runs in a commit, possibly twice: locks the account's line, then spends a unit for
    /// each of its wishes with a conditional statement, unless its key was used before. These
    /// are sent together, so that others wait for the line no longer than for the commit.
    static func fulfil(
        _ wishes: [(wish: RedemptionWish, now: Timestamp)], _ writing: any Writing
    ) throws -> [RedemptionOutcome] {
        guard let account = wishes.first?.wish.account else { return [] }
        var queries: [(statement: Statement, values: [SQLValue])] = [
            (Statement.Accounts.takeKnownLine, [.text(account)])
        ]
        for (wish, now) in wishes {
            queries.append((Statement.Redemptions.byKey, wish.key))
            queries.append(wish.spending(at: now))
        }
        let answers = try writing.queryAll(queries)
        return try wishes.enumerated().map { index, asked in
            try outcome {
                guard !answers[0].isEmpty else { throw asked.wish.unknown }
                let (told, spent) = (answers[2 * index + 1].first, answers[2 * index + 2].first)
                if let told { return (try asked.wish.redeemed(BookedRedemption(told)), false) }
                return (try asked.wish.book(spent, at: asked.now, writing), true)
            }
        }
    }

    /// Returns a refusal as the outcome. Throws other errors.
    private static func outcome(
        _ body: () throws -> (LedgerRedemption, Bool)
    ) throws -> RedemptionOutcome {
        do {
            let (redemption, isNew) = try body()
            return .success((redemption, isNew))
        } catch let refusal as LedgerRefusal { return .failure(refusal) }
    }

    private var key: [SQLValue] { [.text(account), .text(idempotencyKey)] }

    /// The statement that spends a unit, unless the key was used before.
    private func spending(at now: Timestamp) -> (statement: Statement, values: [SQLValue]) {
        (
            transactionID == nil
                ? Statement.Booked.spendOfProduct : Statement.Booked.spendNamed,
            wanted + [.integer(now.milliseconds), .text(idempotencyKey)]
        )
    }

    /// Writes the redemption of a unit that was spent. Nil: none could be.
    private func book(
        _ spent: Row?, at now: Timestamp, _ writing: any Writing
    ) throws -> LedgerRedemption {
        guard let spent else { throw try refusal(writing, at: now) }
        let redemption = BookedRedemption(
            self, of: try PurchaseKey(spent), try spent.text("product_id"),
            spent: (unit: Int(try spent.integer("spent")), at: now))
        try writing.execute(Statement.Redemptions.insert, redemption.row)
        guard let wire = redemption.redemption else {
            throw StorageFault(.malformedRow, "a redemption has no unit")
        }
        return wire
    }

    /// Locks the line of an account that has purchases, and returns its new
    /// revision.
    func lockLine(_ writing: any Writing) throws -> Int64 {
        guard let line = try writing.first(Statement.Accounts.takeKnownLine, [.text(account)])
        else { throw unknown }
        return try line.integer("revision")
    }

    /// Returns the purchase of which a unit is to be reserved, if it has one.
    func candidate(_ writing: any Writing, at now: Timestamp) throws -> BookedPurchase {
        let (byProduct, named) = (
            Statement.Booked.oldestOfProduct, Statement.Booked.oldestNamed
        )
        guard
            let row = try writing.first(
                transactionID == nil ? byProduct : named, wanted + [.integer(now.milliseconds)])
        else { throw try refusal(writing, at: now) }
        return try BookedPurchase(row)
    }

    private var place: [SQLValue] {
        [.text(account), .text(environment.rawValue), .text(bundleID)]
    }

    /// The values by which a purchase is found: a product's, or that of a name.
    private var wanted: [SQLValue] {
        guard let transactionID else { return place + [.optional(productID)] }
        return place + [.text(transactionID), .optional(productID)]
    }

    /// Returns why no unit can be spent.
    private func refusal(_ writing: any Writing, at now: Timestamp) throws -> LedgerRefusal {
        let values: [SQLValue] = [
            .optional(transactionID), .optional(productID), .integer(now.milliseconds),
        ]
        guard let row = try writing.first(Statement.Booked.candidates, place + values) else {
            return unknown
        }
        return refusal(try BookedPurchase(row).unspendable ?? .spent)
    }

    private var field: String { transactionID == nil ? "productId" : "transactionId" }

    private var unknown: LedgerRefusal {
        LedgerRefusal(
            .notFound, code: "purchaseUnknown",
            "This account has no such purchase in \(environment).", field: field,
            rule: "a purchase of the account, of this app and environment",
            remedy: "submit its signed transaction first")
    }

    func refusal(_ reason: BookedPurchase.Unspendable) -> LedgerRefusal {
        switch reason {
        case .notRedeemable:
            LedgerRefusal(
                .conflict, code: "notRedeemable", "Units of this kind of product cannot be spent.",
                field: field, rule: BookedFacts.redeemableTypes.joined(separator: " or "),
                remedy: "what is owned or subscribed to needs no redemption")
        case .revoked:
            LedgerRefusal(
                .conflict, code: "purchaseRevoked", "The store has revoked this purchase.",
                field: field, rule: "a revoked purchase is not redeemed",
                remedy: "redeem another purchase")
        case .granted:
            LedgerRefusal(
                .conflict, code: "purchaseGranted",
                "This purchase has granted what its product grants.", field: field,
                rule: "a purchase grants by the rules of its product, or is redeemed",
                remedy: "spend the credits, or read the entitlements, that it granted")
        case .spent:
            LedgerRefusal(
                .conflict, code: "purchaseSpent", "Every unit of this purchase is spent.",
                field: field, rule: "each unit is spent once",
                remedy: "redeem another purchase")
        case .reserved:
            LedgerRefusal(
                .conflict, code: "purchaseReserved",
                "The units that are left of this purchase are reserved.", field: field,
                rule: "a reserved unit is spent under the key of its reservation",
                remedy: "confirm or release the reservation, or wait until it expires")
        }
    }
}
