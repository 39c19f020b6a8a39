// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Ledger {
    /// Books a signed transaction once. A repeated call changes only what the
    /// store has signed about its fate since.
    ///
    /// A purchase of nobody goes to its app account token or, without one, to `account`. A
    /// purchase of another account stays there: what the store has signed about its fate is
    /// booked, and then the call is refused.
    ///
    /// Refusals, in order: `textInvalid`, `rootUntrusted`, `proofInvalid`,
    /// `bundleIdRefused`, `environmentRefused`, `transactionIncomplete`,
    /// `certificateRevoked`, `statusUnknown`, `purchaseContradicts`, `accountContradicts`,
    /// `purchaseClaimed`.
    public func take(
        _ request: TakePurchaseRequest, requestID: String = ""
    ) async throws -> LedgerPurchase {
        let named = try request.account.map { try Edge.account($0) }
        let proven = try prover.purchase(request.signedTransaction, wall: ports.wall.now)
        try await ports.status?.admit(request.signedTransaction, "signedTransaction")
        let booked = try await book(proven, account: named)
        tell("took a purchase", booked, requestID)
        return booked.wire
    }

    /// Returns a page of what an account may redeem in one environment. `after`
    /// is the `next` of the page before. Refusals: `textInvalid`,
    /// `environmentMissing`, `environmentRefused`, `cursorInvalid`,
    /// `limitInvalid`.
    public func unspent(
        account: String, environment: String? = nil, after: String? = nil, limit: Int? = nil
    ) async throws -> UnspentPurchases {
        let account = try Edge.account(account)
        let environment = try self.environment(environment)
        let start = try after.map { try UnspentCursor($0) } ?? .start
        let limit = try Edge.limit(limit)
        let now = ports.wall.now
        let rows = try await storage.read {
            try $0.query(
                Statement.Booked.unspentPage,
                [.text(account), .text(environment.rawValue)] + start.values
                    + [.integer(Int64(limit + 1)), .integer(now.milliseconds)])
        }
        let found = try rows.map { try BookedPurchase($0) }
        let page = found.prefix(limit)
        return UnspentPurchases(
            account: account, environment: environment.rawValue, purchases: page.map(\.wire),
            next: found.count > limit ? page.last.map { UnspentCursor($0).text } : nil)
    }

    /// Books a proof that is presented for an account, or for that of its token.
    func book(_ proven: ProvenPurchase, account: String?) async throws -> BookedPurchase {
        try await book(proven, by: .call(for: account, proven))
    }

    /// The use case in which all kinds of proof meet: whichever comes first books
    /// the purchase, and later ones change only what they add. `waiting`: the key of the
    /// kept proof. Throws ``WaitingProofGone`` if it is not kept any more.
    func book(
        _ proven: ProvenPurchase, by claim: PurchaseClaim, of waiting: [SQLValue]? = nil
    ) async throws -> BookedPurchase {
        // A proof without news costs no commit.
        let now = ports.wall.now
        let (known, isOthers) = try await storage.lookUp { reading -> (BookedPurchase?, Bool) in
            let known = try Booking.find(proven.key, reading, at: now)
            return (known, try claim.isRefused(by: known?.account, reading))
        }
        try claim.check(owner: known?.account)
        if let known, try Taking.decide(known, proven, account: claim.account) == .nothing {
            if isOthers { throw claim.refusal }
            return known
        }
        let booking = booking(proven, account: claim.account, at: now, waiting: waiting)
        let account = claim.account.map { known?.account ?? $0 }
        let note = note(.purchaseTaken, account: account, proven.key.transactionID)
        let (booked, isRefused) = try await commit { writing -> (BookedPurchase, Bool) in
            let booked = try booking.write(writing)
            let isErased = booked.account.map(ErasedAccount.isOne) ?? false
            let isRefused = try claim.isRefused(by: booked.account, writing)
            // Another account may have got it since it was looked for.
            let isNamed = !isErased && !(isRefused && known?.account == nil)
            try note?.write(writing, namesAccount: isNamed)
            return (booked, isRefused)
        }
        figures.countTaken()
        if !grantsNothing { news.tell(booked.account, storage) }
        if isRefused { throw claim.refusal }
        return booked
    }

    func booking(
        _ proven: ProvenPurchase, account: String?, at now: Timestamp,
        waiting: [SQLValue]? = nil
    ) -> Booking {
        Booking(
            proven: proven, account: account, recordedAt: now, rules: configuration.grants,
            waiting: waiting, outbox: outbox)
    }

    func tell(_ message: String, _ purchase: BookedPurchase, _ requestID: String) {
        ports.log(
            message,
            [
                "requestId": requestID, "transactionId": purchase.key.transactionID,
                "environment": purchase.key.environment.rawValue,
                "bundleId": purchase.key.bundleID,
            ])
    }
}

/// Writes one proof to the books. Runs in a commit, possibly twice.
struct Booking: Sendable {
    let proven: ProvenPurchase
    /// The account that gets the purchase if it belongs to nobody.
    var account: String?
    let recordedAt: Timestamp
    var rules = GrantRules.none
    /// What was signed with it about the renewal of its subscription.
    var renewal: ProvenRenewal?
    /// The key of the kept proof that is booked. An erasure deletes it in the account's
    /// line, and then the store's answer must not bring the account back.
    var waiting: [SQLValue]?
    var outbox = WebhookOutbox.none

    static func find(
        _ key: PurchaseKey, _ reading: any Reading, at now: Timestamp
    ) throws -> BookedPurchase? {
        try reading.first(Statement.Booked.byKey, key.values + [.integer(now.milliseconds)])
            .map { try BookedPurchase($0) }
    }

    /// Locks the owner's line, and returns whether its account was erased.
    func isErased(_ writing: any Writing) throws -> Bool {
        func owner() throws -> String? {
            try Self.find(proven.key, writing, at: recordedAt)?.account
        }
        guard let before = try owner() else { return false }
        _ = try writing.first(Statement.Accounts.takeKnownLine, [.text(before)])
        return try owner().map(ErasedAccount.isOne) ?? false
    }

    /// Returns the account that has the purchase or, without one, gets it by this proof.
    func holder(_ reading: any Reading) throws -> String? {
        try Self.find(proven.key, reading, at: recordedAt)?.account ?? claim(nil, nil, reading)
    }

    /// Locks the owner's line, then writes the row. An owner seldom changes. So one
    /// more round is enough if the purchase was assigned to an account, or moved,
    /// between the first read and the write.
    func write(_ writing: any Writing) throws -> BookedPurchase {
        let booked = try writeRows(writing)
        try Original(proven.key, proven.facts).touch(writing)
        return booked
    }

    /// The same, after which the caller touches the purchase's ``Original``.
    func writeRows(_ writing: any Writing) throws -> BookedPurchase {
        var heir: String?
        for _ in 0..<3 {
            let known = try Self.find(proven.key, writing, at: recordedAt)
            let claim = try claim(known?.account, heir, writing)
            let owner = known?.account ?? claim
            if let known { _ = try Taking.decide(known, proven, account: claim) }
            let revision = try owner.map { try line($0, writing) } ?? 0
            if let waiting, try writing.first(Statement.Waiting.isKept, waiting) == nil {
                throw WaitingProofGone()
            }
            // It may be part of another account. Its line keeps it from becoming one.
            if known?.account == nil, let claim, let into = try Merges.into(claim, writing) {
                heir = into
                continue
            }
            let isUnclaimed = known?.account == nil
            if let (entered, hasNewFate, event) = try enter(
                owner, claim, revision, isUnclaimed: isUnclaimed, writing)
            {
                let grants = GrantWriter(rules: rules, now: recordedAt)
                let done = entered.granted(
                    try grants.settle(entered, hasNewFate: hasNewFate, writing))
                try renewal?.write(of: proven, writing)
                if let event {
                    try outbox.post(
                        event, account: done.account, done.wire, at: recordedAt, writing)
                }
                try claimOtherPeriods(of: done, revision, grants, writing)
                return done
            }
        }
        throw StorageFault(.busy, "a purchase changed hands while it was taken")
    }

    /// Returns the account that gets a purchase which belongs to nobody; nil if it has an
    /// `owner`. `heir`: what the account is known to be part of. A new period goes to its app
    /// account token, then to the account of its subscription, then to the account of the
    /// call. Refusal: `purchaseClaimed`, if the subscription is another account's.
    private func claim(
        _ owner: String?, _ heir: String?, _ reading: any Reading
    ) throws -> String? {
        if owner != nil { return nil }
        if proven.account != nil { return heir ?? account }
        guard let subscriber = try subscriber(reading) else { return heir ?? account }
        let claiming = try heir ?? Merges.heir(of: account, unless: subscriber, reading)
        guard claiming?.isSame(as: subscriber) != false else {
            throw LedgerRefusal.purchaseClaimed(
                "Another account has the subscription of this purchase.")
        }
        return subscriber
    }

    /// Returns the account to which the other periods of a subscription belong. A store
    /// signs a renewal without an account if the first payment had none, and sends it to
    /// nobody but the ledger.
    private func subscriber(_ reading: any Reading) throws -> String? {
        guard proven.isOfSubscription else { return nil }
        return try reading.first(
            Statement.Booked.ownerOfSubscription, proven.subscriptionValues
        ).map { try $0.text("account") }
    }

    /// Gives the account of a period the other periods of its subscription that belong to
    /// no account yet, if the account has the newest of those that have one. They were
    /// booked from news without an account before the first claim.
    ///
    /// The account's line is locked.
    private func claimOtherPeriods(
        of period: BookedPurchase, _ revision: Int64, _ grants: GrantWriter,
        _ writing: any Writing
    ) throws {
        guard proven.isOfSubscription, let account = period.account,
            !ErasedAccount.isOne(account)
        else { return }
        let unclaimed = try writing.query(
            Statement.Booked.claimablePeriods, proven.subscriptionValues + [.text(account)]
        ).map { try PurchaseKey($0) }
        guard !unclaimed.isEmpty else { return }
        let claims = try writing.queryEach(
            Statement.Booked.claim,
            unclaimed.map { $0.values + [.text(account), .integer(revision)] })
        // They are read after the claim, which waits for news that is being written.
        for (key, claim) in zip(unclaimed, claims) where !claim.isEmpty {
            guard let claimed = try Self.find(key, writing, at: recordedAt) else { continue }
            let granted = try grants.settle(claimed, hasNewFate: false, writing)
            try outbox.post(
                .purchaseUpdated, account: account, claimed.granted(granted).wire,
                at: recordedAt, writing)
        }
    }

    private func line(_ account: String, _ writing: any Writing) throws -> Int64 {
        guard let row = try writing.first(Statement.Accounts.takeLine, [.text(account)]) else {
            throw StorageFault(.malformedRow, "an account has no line")
        }
        return try row.integer("revision")
    }

    /// Nil if the purchase has another owner, whose line is not locked.
    private func enter(
        _ owner: String?, _ account: String?, _ revision: Int64, isUnclaimed: Bool,
        _ writing: any Writing
    ) throws -> (purchase: BookedPurchase, hasNewFate: Bool, event: WebhookEvent?)? {
        let values = insertion(owner, revision)
        if try writing.first(Statement.Booked.insert, values) != nil {
            try putTerms(proven.fate, nil, writing)
            try putReversal(proven.fate, writing)
            let booked = BookedPurchase(proven, account: owner, revision: revision)
            return (booked, false, .purchaseBooked)
        }
        // Its line keeps an account's purchases from other news. One of nobody has none.
        if isUnclaimed { try lockUnclaimed(isClaimed: account != nil, writing) }
        guard let known = try Self.find(proven.key, writing, at: recordedAt) else { return nil }
        guard known.account == nil || known.account.isSame(as: owner) else { return nil }
        switch try Taking.decide(known, proven, account: account) {
        case .nothing: return (known, false, nil)
        case .change(let claim, let facts, let fate):
            if let claim {
                let values = proven.key.values + [.text(claim), .integer(revision)]
                guard try writing.first(Statement.Booked.claim, values) != nil else { return nil }
            }
            let holder = claim ?? known.account
            if let facts {
                let values = Self.facts(facts, proven.key, holder, revision)
                guard try writing.first(Statement.Booked.setFacts, values) != nil else {
                    return nil
                }
            }
            if let fate {
                let values = Self.fate(fate, proven.key, holder, revision, known.fate)
                guard try writing.first(Statement.Booked.setFate, values) != nil else {
                    return nil
                }
                try putTerms(fate, known.fate, writing)
                try putReversal(fate, writing)
            }
            let booked = BookedPurchase(
                proven, account: holder, facts: facts ?? known.facts, fate: fate ?? known.fate,
                spent: known.spent, held: known.held, isGranted: known.isGranted,
                revision: revision)
            return (booked, fate != nil, .purchaseUpdated)
        }
    }

    /// Locks a purchase that belongs to no account and, if it is claimed now, the other
    /// periods of its subscription, which are then claimed with it: in one order, so that two
    /// claims of different periods do not wait for each other.
    private func lockUnclaimed(isClaimed: Bool, _ writing: any Writing) throws {
        var keys = [proven.key]
        if isClaimed, proven.isOfSubscription {
            keys = try writing.query(
                Statement.Booked.unclaimedPeriods, proven.subscriptionValues
            ).map { try PurchaseKey($0) }
        }
        for key in keys { try writing.execute(Statement.Booked.lockUnclaimed, key.values) }
    }

    /// Writes the end of a subscription's period, if it is not what it was.
    private func putTerms(
        _ fate: PurchaseFate, _ before: PurchaseFate?, _ writing: any Writing
    ) throws {
        guard
            fate.expiresAt != before?.expiresAt
                || fate.isUpgraded != before?.isUpgraded ?? false
        else { return }
        try writing.execute(
            Statement.Grants.putTerms,
            LedgerSchema.terms.row(
                proven.key.columns,
                [
                    "expires_at": .optional(fate.expiresAt?.milliseconds),
                    "is_upgraded": .boolean(fate.isUpgraded),
                ]))
    }

    private func putReversal(_ fate: PurchaseFate, _ writing: any Writing) throws {
        guard fate.takesRefundBack else { return }
        try writing.execute(
            Statement.Booked.putReversal,
            LedgerSchema.refundReversals.row(
                proven.key.columns, ["signed_at": .integer(fate.signedAt.milliseconds)]))
    }

    private func insertion(_ owner: String?, _ revision: Int64) -> [SQLValue] {
        let (facts, fate) = (proven.facts, proven.fate)
        return LedgerSchema.purchases.row(
            proven.key.columns,
            [
                "original_transaction_id": .text(facts.originalTransactionID),
                "product_id": .text(facts.productID), "product_type": .text(facts.type),
                "quantity": .integer(Int64(facts.quantity)),
                "purchased_at": .integer(facts.purchasedAt.milliseconds),
                "price": .optional(facts.price), "currency": .optional(facts.currency),
                "from_receipt": .boolean(facts.isFromReceipt),
                "recorded_at": .integer(recordedAt.milliseconds),
                "signed_at": .integer(fate.signedAt.milliseconds),
                "revoked_at": .optional(fate.revokedAt?.milliseconds),
                "revocation_reason": .optional(fate.revocationReason.map(Int64.init)),
                "account": .optional(owner), "spent": .integer(0),
                "revision": .integer(revision),
            ])
    }

    private static func facts(
        _ facts: BookedFacts, _ key: PurchaseKey, _ holder: String?, _ revision: Int64
    ) -> [SQLValue] {
        key.values + [
            .optional(holder), .integer(facts.purchasedAt.milliseconds),
            .optional(facts.price), .optional(facts.currency), .integer(revision),
        ]
    }

    private static func fate(
        _ fate: PurchaseFate, _ key: PurchaseKey, _ holder: String?, _ revision: Int64,
        _ before: PurchaseFate
    ) -> [SQLValue] {
        key.values + [
            .optional(holder), .integer(fate.signedAt.milliseconds),
            .optional(fate.revokedAt?.milliseconds),
            .optional(fate.revocationReason.map(Int64.init)), .integer(revision),
            .integer(before.signedAt.milliseconds),
        ]
    }
}

extension ProvenPurchase {
    fileprivate var isOfSubscription: Bool { facts.type == BookedFacts.subscription }

    /// The subscription of a period, as parameters of statements.
    var subscriptionValues: [SQLValue] {
        [
            .text(key.root), .text(key.environment.rawValue), .text(key.bundleID),
            .text(facts.originalTransactionID),
        ]
    }
}

extension PurchaseKey {
    /// The values as parameters of statements.
    var values: [SQLValue] {
        [.text(root), .text(environment.rawValue), .text(bundleID), .text(transactionID)]
    }

    /// The columns of each row that refers to the purchase.
    var columns: Table.Values {
        [
            "root": .text(root), "environment": .text(environment.rawValue),
            "bundle_id": .text(bundleID), "transaction_id": .text(transactionID),
        ]
    }
}
