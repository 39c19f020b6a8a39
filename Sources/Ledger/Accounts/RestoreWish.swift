// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// What happens when an account presents a purchase of another. One that the store has
/// revoked stays where it is.
public enum RestorePolicy: String, Hashable, Sendable, CaseIterable {
    /// The purchase stays where it is, and the answer says so.
    case keep
    /// The purchase moves, with everything that is not used.
    case transfer
    /// Both accounts have its entitlements; of a subscription those of every period, also
    /// of later ones. Units and credits stay.
    case share
    /// The restore is refused.
    case refuse
}

/// What a restore changes.
struct RestorePlan: Hashable, Sendable {
    enum Outcome: String, Sendable {
        case claimed, owned, kept, transferred, shared
    }

    let outcome: Outcome
    let purchase: BookedPurchase
    var entitlements: [String] = []
    var credits: [MovedCredits] = []
    /// Whether the books change.
    var isChange = false

    func wire(_ wish: RestoreWish, isDryRun: Bool) -> RestoreOutcome {
        let gains = outcome == .claimed || outcome == .transferred
        return RestoreOutcome(
            account: wish.account, policy: wish.policy.rawValue, outcome: outcome.rawValue,
            isDryRun: isDryRun, environment: purchase.key.environment.rawValue,
            transactionId: purchase.key.transactionID, productId: purchase.facts.productID,
            units: gains ? purchase.wire.unspent : 0, entitlements: entitlements,
            credits: credits.filter { $0.legs.wallet != 0 }.map {
                RestoreOutcome.Credits(currency: $0.currency, amount: $0.legs.wallet)
            })
    }
}

/// A grant of credits with what it adds to its book at present.
struct MovedCredits: Hashable, Sendable {
    let key: PurchaseKey
    let currency: String
    let legs: CreditLegs

    init(_ row: Row) throws {
        guard let policy = Grant.Reversal(rawValue: try row.text("on_reversal")) else {
            throw StorageFault(.malformedRow, "a grant has no policy")
        }
        key = try PurchaseKey(row)
        currency = try row.text("name")
        legs = .standing(
            policy, amount: try row.integer("amount"), consumed: try row.integer("consumed"),
            isReversed: try row.boolean("is_reversed"))
    }

    /// Takes it from the book of one account and adds it to that of another. Runs in a
    /// commit that has locked the lines of both.
    func move(
        from owner: String, to account: String, at now: Timestamp, _ writing: any Writing
    ) throws {
        guard legs != legs.negated else { return }
        for (account, legs) in [(owner, legs.negated), (account, legs)] {
            try CreditEntry.post(
                .transfer, legs,
                to: CreditBook(
                    account: account, environment: key.environment, currency: currency),
                for: .purchase(key), at: now, writing)
        }
    }
}

/// A restore, in checked values.
struct RestoreWish: Sendable {
    /// Books what the store has signed, for the account that has the purchase.
    let booking: Booking
    let account: String
    let policy: RestorePolicy

    var key: PurchaseKey { booking.proven.key }
    var now: Timestamp { booking.recordedAt }

    /// The most accounts that share a purchase, beside its own.
    static let sharesMax: Int64 = 10

    /// Decides what changes, from the books alone. Refusals: `accountContradicts`,
    /// `restoreRefused`, `purchaseReserved`, `creditsOwed`, `sharesTooMany`.
    private func plan(_ reading: any Reading) throws -> RestorePlan {
        let purchase = try purchase(reading)
        if let owner = purchase.account, owner.isSame(as: account) {
            return RestorePlan(outcome: .owned, purchase: purchase)
        }
        guard !booking.proven.isOfAnother(than: account) else {
            throw PurchaseClaim.accountContradicts
        }
        guard let owner = purchase.account else {
            return RestorePlan(outcome: .claimed, purchase: purchase)
        }
        switch policy {
        case .refuse:
            throw refused(
                "restoreRefused", "This purchase belongs to another account.",
                "`accounts.restore` in ledger.yaml is `refuse`", "use the account that bought it")
        case .keep: return RestorePlan(outcome: .kept, purchase: purchase)
        case .share, .transfer:
            // What is revoked gives nothing. A debt stays with the account that has used it.
            guard purchase.fate.revokedAt == nil else {
                return RestorePlan(outcome: .kept, purchase: purchase)
            }
        }
        return policy == .share
            ? try share(purchase, reading) : try transfer(purchase, from: owner, reading)
    }

    private func share(
        _ purchase: BookedPurchase, _ reading: any Reading
    ) throws -> RestorePlan {
        let names = try entitlements(reading)
        guard !names.isEmpty else { return RestorePlan(outcome: .kept, purchase: purchase) }
        let sharing = try reading.first(Statement.Shares.count, key.values + [.text(account)])
        let count = try sharing?.integer("shares") ?? 0
        let isKnown = try sharing?.integer("own") ?? 0 > 0
        guard isKnown || count < Self.sharesMax else {
            throw refused(
                "sharesTooMany", "Too many accounts share this purchase.",
                "at most \(Self.sharesMax) beside its own", "use one of those accounts")
        }
        return RestorePlan(
            outcome: .shared, purchase: purchase, entitlements: names, isChange: !isKnown)
    }

    private func transfer(
        _ purchase: BookedPurchase, from owner: String, _ reading: any Reading
    ) throws -> RestorePlan {
        guard purchase.held == 0 else {
            throw refused(
                "purchaseReserved", "Its account has reserved units of this purchase.",
                "a purchase without reserved units", "wait until they are redeemed or released")
        }
        let credits = try credits(reading)
        for moved in credits where moved.legs.wallet > 0 {
            // What its account owes for other purchases stays payable.
            let book: [SQLValue] = [
                .text(owner), .text(key.environment.rawValue), .text(moved.currency),
            ]
            let wallet = try reading.first(Statement.Moves.wallet, book)?.integer("wallet") ?? 0
            guard wallet >= moved.legs.wallet else {
                throw refused(
                    "creditsOwed", "Its account owes \(moved.currency) for other purchases.",
                    "a balance of at least what the purchase has left",
                    "wait until the debt is paid")
            }
        }
        return RestorePlan(
            outcome: .transferred, purchase: purchase, entitlements: try entitlements(reading),
            credits: credits, isChange: true)
    }

    private func purchase(_ reading: any Reading) throws -> BookedPurchase {
        guard let purchase = try Booking.find(key, reading, at: now) else {
            throw StorageFault(.malformedRow, "a purchase that was booked is gone")
        }
        return purchase
    }

    private func granted(_ reading: any Reading) throws -> [Row] {
        try reading.query(Statement.Moves.granted, key.values)
    }

    private func entitlements(_ reading: any Reading) throws -> [String] {
        try granted(reading).filter { try $0.text("kind") == GrantKind.entitlement }
            .map { try $0.text("name") }
    }

    private func credits(_ reading: any Reading) throws -> [MovedCredits] {
        try granted(reading).filter { try $0.text("kind") == GrantKind.credits }
            .map { try MovedCredits($0) }
    }

    /// Runs in a commit, possibly twice, and for a dry run in one that is undone: locks the
    /// lines of both accounts, books what the store has signed, decides, and writes.
    /// Refusals: `purchaseContradicts`, `accountMerged`, and as for ``plan(_:)``.
    func carryOut(_ writing: any Writing) throws -> RestorePlan {
        let plan = try change(writing)
        try original.touch(writing)
        return plan
    }

    private var original: Original { Original(key, booking.proven.facts) }

    private func change(_ writing: any Writing) throws -> RestorePlan {
        for _ in 0..<3 {
            let owner = try booking.holder(writing)
            let revision =
                try Merges.lock([owner, account], writing)[AccountName(account)] ?? 0
            guard try booking.writeRows(writing).account.isSame(as: owner) else { continue }
            try Merges.refuse(account, writing)
            let plan = try plan(writing)
            guard plan.purchase.account.isSame(as: owner) else { continue }
            guard let owner else { return try claim(writing) }
            guard plan.isChange else { return plan }
            switch plan.outcome {
            case .shared:
                try writing.execute(
                    Statement.Shares.insert,
                    LedgerSchema.shares.row(
                        key.columns,
                        ["account": .text(account), "shared_at": .integer(now.milliseconds)]))
                try original.add(to: account, writing)
            case .transferred:
                try move(plan, from: owner, revision, writing)
                try original.add(to: account, writing)
            case .claimed, .owned, .kept: break
            }
            return plan
        }
        throw StorageFault(.busy, "a purchase changed hands while it was restored")
    }

    /// Books a purchase of nobody for the account, whose line is locked. Its gains are read
    /// after that, because it is granted something now.
    private func claim(_ writing: any Writing) throws -> RestorePlan {
        var claiming = booking
        claiming.account = account
        _ = try claiming.writeRows(writing)
        return RestorePlan(
            outcome: .claimed, purchase: try purchase(writing),
            entitlements: try entitlements(writing), credits: try credits(writing),
            isChange: true)
    }

    private func move(
        _ plan: RestorePlan, from owner: String, _ revision: Int64, _ writing: any Writing
    ) throws {
        let values = key.values + [.text(owner), .text(account), .integer(revision)]
        guard try writing.first(Statement.Moves.purchase, values) != nil else {
            throw StorageFault(.busy, "a purchase changed hands while it was restored")
        }
        for credits in plan.credits {
            try credits.move(from: owner, to: account, at: now, writing)
        }
        try writing.execute(Statement.Moves.grants, key.values + [.text(account)])
        try writing.execute(Statement.Shares.remove, [.text(account)] + key.values)
    }

    private func refused(
        _ code: String, _ message: String, _ rule: String, _ remedy: String
    ) -> LedgerRefusal {
        LedgerRefusal(
            .conflict, code: code, message, field: "signedTransaction", rule: rule,
            remedy: remedy)
    }
}
