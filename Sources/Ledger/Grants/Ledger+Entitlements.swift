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

    /// Returns every entitlement that an account has, had or will have. It is one read by an
    /// index, which shows whether what this process knows of the account is still true, and
    /// a second one if it is not.
    ///
    /// The time is the ledger's wall clock. In a sandbox, whose store may have
    /// moved its clock ahead, it is at least the date of the newest signature among
    /// the account's entitlements. Refusals: `textInvalid`, `environmentMissing`,
    /// `environmentRefused`.
    public func entitlements(
        account: String, environment: String? = nil
    ) async throws -> AccountEntitlements {
        try await entitlementsAnswer(account: account, environment: environment).entitlements
    }

    /// The same with the place for the text that a server makes of it. Refusals as for
    /// ``entitlements(account:environment:)``.
    package func entitlementsAnswer(
        account: String, environment: String? = nil
    ) async throws -> EntitlementsAnswer {
        let known = try await known(
            of: try Edge.account(account), in: try self.environment(environment))
        return known.answer(at: ports.wall.now)
    }

    /// The same for the caller who has presented a key, in one look-up with that key. The
    /// answer is made only after `admit` has let the caller in.
    package func entitlementsAnswer(
        account: String, environment: String?, key: String,
        admit: (AdmittedKey?) throws -> Void
    ) async throws -> EntitlementsAnswer {
        let asked = Result { () throws(LedgerRefusal) in
            (try Edge.account(account), try self.environment(environment))
        }
        guard case .success((let account, let environment)) = asked,
            places(of: account, in: environment).count == 1
        else {
            try admit(try await admittedKey(key))
            let (account, environment) = try asked.get()
            return try await known(of: account, in: environment).answer(at: ports.wall.now)
        }
        let rows = try await storage.find(
            Statement.Holdings.opened,
            [.text(account), .text(environment.rawValue), .text(LedgerKeyText.digest(key))])
        try admit(try rows.first.map { try AdmittedKey($0) })
        let marks = [try OriginalMarks(rows)]
        return try await known(of: account, in: environment, marks).answer(at: ports.wall.now)
    }

    /// Returns whether an account has an entitlement, and why. Refusals as for
    /// ``entitlements(account:environment:)``.
    public func reason(
        account: String, entitlement: String, environment: String? = nil
    ) async throws -> EntitlementReason {
        let account = try Edge.account(account)
        let name = try Edge.text(entitlement, "entitlement")
        let environment = try self.environment(environment)
        let known = try await known(of: account, in: environment).judged(at: ports.wall.now)
            .filter { $0.timeline.name == name }
        let wire = known.wires.first
        let products = configuration.grants.products.filter { _, grants in
            grants.contains { $0.kindWord == GrantKind.entitlement && $0.name == name }
        }.map(\.key.value).sorted()
        return EntitlementReason(
            account: account, environment: environment.rawValue, name: name,
            isActive: wire?.isActive ?? false,
            why: wire?.why ?? Self.missing(name, products),
            purchases: known.flatMap { $0.timeline.spans.map(\.wire) }, grantedBy: products)
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

    /// What the books say about the entitlements of an account.
    func known(
        of account: String, in environment: Environment
    ) async throws -> KnownEntitlements {
        var marks: [OriginalMarks] = []
        for place in places(of: account, in: environment) {
            marks.append(
                try OriginalMarks(
                    try await storage.find(
                        Statement.Holdings.marks, [.text(account), .text(place.rawValue)])))
        }
        return try await known(of: account, in: environment, marks)
    }

    /// The same if the marks were read before.
    private func known(
        of account: String, in environment: Environment, _ marks: [OriginalMarks]
    ) async throws -> KnownEntitlements {
        if let known = memo.find(account, environment, marks, at: ports.wall.now) {
            return known
        }
        let (known, isMarked) = try await read(of: account, in: environment)
        if isMarked {
            memo.keep(known)
        } else {
            // Once for an account of an earlier version. If it fails, the account is read again
            // the next time.
            try? await storage.write { writing in
                // Its line keeps its name out of the books if it is erased meanwhile.
                let name: [SQLValue] = [.text(account)]
                guard try writing.first(Statement.Accounts.takeKnownLine, name) != nil else {
                    return
                }
                try writing.execute(Statement.Holdings.complete, name)
            }
        }
        return known
    }

    /// The same as the books say it now. `isMarked`: whether its marks show when that changes.
    func read(
        of account: String, in environment: Environment
    ) async throws -> (known: KnownEntitlements, isMarked: Bool) {
        let now = ports.wall.now
        let places = places(of: account, in: environment)
        let found = try await storage.lookUp { reading in
            try places.map { place in
                let values: [SQLValue] = [.text(account), .text(place.rawValue)]
                return try reading.queryAll([
                    (Statement.Holdings.marks, values), (Statement.Grants.entitlements, values),
                ])
            }
        }
        let read = try zip(places, found).map { try EntitlementFact.read($1, in: $0) }
        let known = KnownEntitlements(
            account: account, environment: environment, parts: read.map(\.part), readAt: now)
        return (known, read.allSatisfy(\.isMarked))
    }

    /// Where to look for an account's entitlements. A tester has in production also those of
    /// the sandbox, after production's.
    private func places(of account: String, in environment: Environment) -> [Environment] {
        let testers = configuration.accounts.sandboxTesters
        return environment == .production && testers.contains(AccountName(account))
            ? [environment, .sandbox] : [environment]
    }
}

/// An entitlement in one environment, with the time by which it is judged.
struct JudgedTimeline {
    let timeline: EntitlementTimeline
    let now: Timestamp

    fileprivate var wire: LedgerEntitlement? { timeline.wire(at: now) }

    /// When the next span begins that has not begun.
    var nextStart: Timestamp? {
        timeline.spans.filter { $0.start > now && $0.holds($0.start) }.map(\.start).min()
    }
}

extension [JudgedTimeline] {
    /// One answer for each name: the first that is active, or else the first.
    var wires: [LedgerEntitlement] {
        Dictionary(grouping: compactMap(\.wire), by: \.name).sorted { $0.key < $1.key }
            .compactMap { _, wires in wires.first(where: \.isActive) ?? wires.first }
    }
}

extension EntitlementFact {
    /// What the rows of ``Statement/Holdings/marks`` and ``Statement/Grants/entitlements`` say,
    /// and whether the marks name each original that has something to do with it. A server of
    /// a version without marks may have booked one.
    fileprivate static func read(
        _ rows: [[Row]], in environment: Environment
    ) throws -> (part: KnownEntitlements.Part, isMarked: Bool) {
        let isProduction = environment == .production
        let (facts, signedAt) = try all(rows[1], mayStand: !isProduction)
        let part = KnownEntitlements.Part(
            marks: try OriginalMarks(rows[0]), timelines: EntitlementTimeline.all(facts),
            signedAt: isProduction ? nil : signedAt)
        return (part, part.marks.cover(facts))
    }

    /// The facts of rows, with the newest date of their signatures. `mayStand`: whether the
    /// store's clock may stand.
    private static func all(
        _ rows: [Row], mayStand: Bool
    ) throws -> (facts: [EntitlementFact], signedAt: Timestamp?) {
        var periods: [String: Set<SubscriptionLife.Period>] = [:]
        // A subscription is listed for each of its periods that was shared.
        var facts: [EntitlementFact] = []
        var known: Set<EntitlementFact> = []
        var signedAt: Timestamp?
        for row in rows {
            if try row.optionalText("name") == nil {
                periods[try original(row), default: []].insert(try .init(row))
            } else {
                let fact = try EntitlementFact(row)
                let date = Timestamp(milliseconds: try row.integer("signed_at"))
                signedAt = max(signedAt ?? date, date)
                if known.insert(fact).inserted { facts.append(fact) }
            }
        }
        let lives = periods.mapValues { SubscriptionLife(Array($0), mayStand: mayStand) }
        for place in facts.indices {
            // What is no subscription has no other periods, whatever it grants.
            let fact = facts[place]
            facts[place].fate =
                lives[fact.original]?.fate(of: fact.transactionID) ?? .ofTheOnlyOne
        }
        return (facts, signedAt)
    }

    /// As ``Statement/Holdings/marks`` names it.
    private static func original(_ row: Row) throws -> String {
        try [
            row.text("root"), row.text("bundle_id"), row.text("original_transaction_id"),
        ].joined(separator: " ")
    }

    private init(_ row: Row) throws {
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
        original = try Self.original(row)
        productID = try row.text("product_id")
        quantity = Int(try row.integer("quantity"))
        purchasedAt = Timestamp(milliseconds: try row.integer("purchased_at"))
        expiresAt = try instant("expires_at")
        isUpgraded =
            try row.value("is_upgraded") == .null ? false : row.boolean("is_upgraded")
        graceUntil = try instant("grace_until")
        revokedAt = try instant("revoked_at")
    }
}

extension SubscriptionLife.Period {
    fileprivate init(_ row: Row) throws {
        self.init(
            transactionID: try row.text("transaction_id"),
            productID: try row.text("product_id"),
            purchasedAt: Timestamp(milliseconds: try row.integer("purchased_at")),
            expiresAt: try row.optionalInteger("expires_at").map(Timestamp.init(milliseconds:)),
            isUpgraded: try row.value("is_upgraded") == .null
                ? false : row.boolean("is_upgraded"),
            revokedAt: try row.optionalInteger("revoked_at").map(Timestamp.init(milliseconds:)))
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
