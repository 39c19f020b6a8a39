// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
public import StoreWire

/// What an account may use.
extension Ledger {
    /// How long signed entitlements count, if the request does not say: three days.
    static let signedSeconds = 3 * 86_400
    static let signedSecondsMax = 31 * 86_400

    /// Returns every entitlement that an account has, had or will have. It is one
    /// read by an index.
    ///
    /// The time is the ledger's wall clock. In a sandbox, whose store may have
    /// moved its clock ahead, it is at least the date of the newest signature among
    /// the account's entitlements. Refusals: `textInvalid`, `environmentMissing`,
    /// `environmentRefused`.
    public func entitlements(
        account: String, environment: String? = nil
    ) async throws -> AccountEntitlements {
        let account = try Edge.account(account)
        let environment = try self.environment(environment)
        let known = try await timelines(account, environment, nil)
        return AccountEntitlements(
            account: account, environment: environment.rawValue,
            entitlements: known.timelines.compactMap { $0.wire(at: known.now) })
    }

    /// Returns whether an account has an entitlement, and why. Refusals as for
    /// ``entitlements(account:environment:)``.
    public func reason(
        account: String, entitlement: String, environment: String? = nil
    ) async throws -> EntitlementReason {
        let account = try Edge.account(account)
        let name = try Edge.text(entitlement, "entitlement")
        let environment = try self.environment(environment)
        let known = try await timelines(account, environment, name)
        let timeline = known.timelines.first
        let wire = timeline?.wire(at: known.now)
        let products = configuration.grants.products.filter { _, grants in
            grants.contains { $0.kindWord == GrantKind.entitlement && $0.name == name }
        }.map(\.key.value).sorted()
        return EntitlementReason(
            account: account, environment: environment.rawValue, name: name,
            isActive: wire?.isActive ?? false,
            why: wire?.why ?? Self.missing(name, products),
            purchases: timeline?.spans.map(\.wire) ?? [], grantedBy: products)
    }

    private static func missing(_ name: String, _ products: [String]) -> String {
        products.isEmpty
            ? "No product of this ledger grants \(name)."
            : "No purchase of this account grants \(name). "
                + "It is granted by \(products.joined(separator: ", "))."
    }

    /// Returns the entitlements that are active, signed for use without a
    /// connection. No entitlement counts for longer than it lasts. Refusals as for
    /// ``entitlements(account:environment:)``, and `secondsInvalid`.
    public func signedEntitlements(
        account: String, environment: String? = nil, seconds: Int? = nil
    ) async throws -> SignedEntitlements {
        let seconds = seconds ?? Self.signedSeconds
        guard (1...Self.signedSecondsMax).contains(seconds) else {
            throw LedgerRefusal(
                .badRequest, code: "secondsInvalid", "Nothing is signed for that long.",
                field: "seconds", rule: "1 to \(Self.signedSecondsMax)",
                remedy: "leave it out for \(Self.signedSeconds)")
        }
        let answer = try await entitlements(account: account, environment: environment)
        let signedAt = Self.seconds(ports.wall.now)
        let claims = EntitlementClaims(
            sub: answer.account, environment: answer.environment, iat: signedAt,
            exp: signedAt + Int64(seconds),
            entitlements: answer.entitlements.filter(\.isActive).map {
                EntitlementClaims.Active(name: $0.name, until: $0.endDate.map(Self.seconds))
            })
        return SignedEntitlements(
            signedEntitlements: try signer.sign(claims),
            expiresDate: Timestamp(milliseconds: claims.exp * 1000))
    }

    private static func seconds(_ instant: Timestamp) -> Int64 { instant.milliseconds / 1000 }

    /// The public key of the signed entitlements.
    public var publicKeys: LedgerPublicKeys {
        LedgerPublicKeys(keys: [
            LedgerPublicKeys.Key(
                kty: "EC", crv: "P-256", alg: "ES256", use: "sig", kid: signer.keyID,
                x: signer.point.x, y: signer.point.y)
        ])
    }

    private func timelines(
        _ account: String, _ environment: Environment, _ name: String?
    ) async throws -> (timelines: [EntitlementTimeline], now: Timestamp) {
        var environments = [environment]
        let testers = configuration.accounts.sandboxTesters
        if environment == .production, testers.contains(AccountName(account)) {
            environments.append(.sandbox)
        }
        let asked = environments.map { environment -> [SQLValue] in
            [.text(account), .text(environment.rawValue), .optional(name)]
        }
        let rows: [Row]
        if asked.count == 1, let only = asked.first {
            rows = try await storage.find(Statement.Grants.entitlements, only)
        } else {
            rows = try await storage.lookUp { reading in
                try asked.flatMap { try reading.query(Statement.Grants.entitlements, $0) }
            }
        }
        // A subscription is listed for each of its periods that was shared.
        var known: Set<EntitlementFact> = []
        let facts = try rows.map { try EntitlementFact($0) }.filter { known.insert($0).inserted }
        var now = ports.wall.now
        if environments != [.production] {
            for row in rows {
                now = max(now, Timestamp(milliseconds: try row.integer("signed_at")))
            }
        }
        return (EntitlementTimeline.all(facts), now)
    }
}

extension EntitlementFact {
    init(_ row: Row) throws {
        guard let policy = Grant.Reversal(rawValue: try row.text("on_reversal")) else {
            throw StorageFault(.malformedRow, "a grant has no policy")
        }
        let period = try row.optionalText("period").flatMap { Period(iso8601: $0) }
        switch (try row.text("lasting"), period) {
        case ("forever", _): lasting = .forever
        case ("subscription", _): lasting = .subscription(grace: false)
        case ("grace", _): lasting = .subscription(grace: true)
        case ("period", let period?): lasting = .period(period)
        default: throw StorageFault(.malformedRow, "an entitlement has no length")
        }
        let instant = { (column: String) throws in
            try row.optionalInteger(column).map(Timestamp.init(milliseconds:))
        }
        name = try row.text("name")
        onReversal = policy
        transactionID = try row.text("transaction_id")
        subscription = try [
            row.text("root"), row.text("bundle_id"), row.text("original_transaction_id"),
        ].joined(separator: " ")
        productID = try row.text("product_id")
        quantity = Int(try row.integer("quantity"))
        purchasedAt = Timestamp(milliseconds: try row.integer("purchased_at"))
        expiresAt = try instant("expires_at")
        isUpgraded =
            try row.value("is_upgraded") == .null ? false : row.boolean("is_upgraded")
        next = try row.optionalText("next_period").map { try Next($0) }
        graceUntil = try instant("grace_until")
        revokedAt = try instant("revoked_at")
    }
}

extension EntitlementFact.Next {
    /// `text`: the purchase date in milliseconds, and the product after a space.
    fileprivate init(_ text: String) throws {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let date = Int64(parts[0]) else {
            throw StorageFault(.malformedRow, "a next period without a date or a product")
        }
        self.init(at: Timestamp(milliseconds: date), productID: String(parts[1]))
    }
}

extension EntitlementTimeline {
    /// Nil without any purchase.
    func wire(at now: Timestamp) -> LedgerEntitlement? {
        switch state(at: now) {
        case .active(let since, let until, let span):
            wire(span, isActive: true, since, until, span.words(isActive: true, until))
        case .ended(let span):
            wire(
                span, isActive: false, span.start, span.until,
                span.words(isActive: false, span.until))
        case .begins(let span):
            wire(
                span, isActive: false, span.start, span.until,
                "It begins at \(span.start) with \(span.purchase).")
        case nil: nil
        }
    }

    private func wire(
        _ span: EntitlementSpan, isActive: Bool, _ start: Timestamp, _ end: Timestamp?,
        _ why: String
    ) -> LedgerEntitlement {
        LedgerEntitlement(
            name: name, isActive: isActive, startDate: start, endDate: end,
            productId: span.fact.productID, transactionId: span.fact.transactionID, why: why)
    }
}

extension EntitlementSpan {
    fileprivate var purchase: String {
        "transaction \(fact.transactionID) (\(fact.productID))"
    }

    fileprivate func words(isActive: Bool, _ until: Timestamp?) -> String {
        if isActive {
            let end = until.map { "until \($0)" } ?? "for ever"
            return "Granted by \(purchase), \(end)."
        }
        let date = until ?? start
        return switch end {
        case .never, .expired: "It expired at \(date) with \(purchase)."
        case .graceEnded: "The grace period ended at \(date) with \(purchase)."
        case .revoked: "The store revoked \(purchase) at \(date)."
        case .upgraded: "Another subscription replaced \(purchase) at \(date)."
        case .noExpiry: "The store has signed no end of a period for \(purchase)."
        }
    }

    fileprivate var wire: EntitlingPurchase {
        EntitlingPurchase(
            transactionId: fact.transactionID, productId: fact.productID, startDate: start,
            endDate: until, end: end.rawValue)
    }
}
