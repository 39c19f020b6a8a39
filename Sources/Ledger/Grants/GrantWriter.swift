// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// Writes what a booked purchase grants, in the commit that books it.
///
/// A purchase grants once, everything in one commit: what its product grants at that
/// moment. A grant is written under the purchase and the grant's name. A grant of
/// credits is reversed when the store revokes the purchase, and restored when that
/// is taken back. Entitlements need neither: they are read from the purchase's facts.
struct GrantWriter: Sendable {
    let rules: GrantRules
    let now: Timestamp

    /// Grants what its product gives if it has granted nothing, then brings credits in line
    /// with the purchase's fate. The account's line is locked. Returns the number of new grants,
    /// after which the caller touches the purchase's ``Original``.
    @discardableResult
    func settle(
        _ purchase: BookedPurchase, hasNewFate: Bool, _ writing: any Writing
    ) throws -> Int {
        guard let account = purchase.account else { return 0 }
        var granted = 0
        // What it has granted keeps its terms, and nothing is added to it. Units that were
        // redeemed or reserved one by one stay redeemable.
        if !purchase.isGranted, purchase.spent == 0, purchase.held == 0 {
            for grant in rules.grants(of: purchase.facts.productID)
            where try write(grant, of: purchase, to: account, writing) {
                granted += 1
            }
        }
        if hasNewFate || granted > 0 { try reverse(purchase, writing) }
        return granted
    }

    /// Whether it was written now.
    private func write(
        _ grant: Grant, of purchase: BookedPurchase, to account: String, _ writing: any Writing
    ) throws -> Bool {
        let amount: Int64 =
            if case .credits(let perUnit) = grant.kind {
                perUnit * Int64(purchase.facts.quantity)
            } else { 0 }
        let row = LedgerSchema.grants.row(
            purchase.key.columns,
            [
                "kind": .text(grant.kindWord), "name": .text(grant.name),
                "account": .text(account), "lasting": .text(grant.lastingWord),
                "period": .optional(grant.period?.description), "amount": .integer(amount),
                "consumed": .integer(0), "on_reversal": .text(grant.onReversal.rawValue),
                "is_reversed": .boolean(false),
                "purchased_at": .integer(purchase.facts.purchasedAt.milliseconds),
                "granted_at": .integer(now.milliseconds),
            ])
        guard try writing.first(Statement.Grants.insert, row) != nil else { return false }
        guard amount > 0 else {
            try Original(purchase.key, purchase.facts).add(to: account, writing)
            return true
        }
        try CreditEntry.post(
            .grant, .grant(amount), to: book(grant.name, purchase, account),
            for: .purchase(purchase.key), at: now, writing)
        return true
    }

    /// Brings every grant of credits in line with whether the purchase is revoked.
    private func reverse(_ purchase: BookedPurchase, _ writing: any Writing) throws {
        guard let account = purchase.account else { return }
        let isReversed = purchase.fate.revokedAt != nil
        let turned = try writing.query(
            Statement.Grants.turn, purchase.key.values + [.boolean(isReversed)])
        // One grant for each currency, in a fixed order.
        let grants = try turned.map { row in
            (name: try row.text("name"), legs: try Self.legs(row))
        }.sorted { $0.name < $1.name }
        for grant in grants {
            try CreditEntry.post(
                isReversed ? .reversal : .restoration,
                isReversed ? grant.legs : grant.legs.negated,
                to: book(grant.name, purchase, account), for: .purchase(purchase.key), at: now,
                writing)
        }
    }

    private static func legs(_ row: Row) throws -> CreditLegs {
        guard let policy = Grant.Reversal(rawValue: try row.text("on_reversal")) else {
            throw StorageFault(.malformedRow, "a grant has no policy")
        }
        return .reversal(
            policy, amount: try row.integer("amount"), consumed: try row.integer("consumed"))
    }

    private func book(
        _ currency: String, _ purchase: BookedPurchase, _ account: String
    ) -> CreditBook {
        CreditBook(
            account: account, environment: purchase.key.environment, currency: currency)
    }
}

extension Grant {
    /// The word for how long it lasts in the books.
    fileprivate var lastingWord: String {
        switch kind {
        case .credits: "credits"
        case .entitlement(.forever): "forever"
        case .entitlement(.period): "period"
        case .entitlement(.subscription(let grace)): grace ? "grace" : "subscription"
        }
    }

    fileprivate var period: Period? {
        if case .entitlement(.period(let period)) = kind { period } else { nil }
    }
}
