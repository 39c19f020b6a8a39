// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Storage
public import StoreWire

extension Ledger {
    /// Returns what an account can spend. Refusals: `textInvalid`,
    /// `environmentMissing`, `environmentRefused`.
    public func balances(
        account: String, environment: String? = nil
    ) async throws -> AccountBalances {
        let account = try Edge.account(account)
        let environment = try self.environment(environment)
        let values: [SQLValue] = [.text(account), .text(environment.rawValue)]
        let rows = try await storage.find(Statement.Credits.balances, values)
        return AccountBalances(
            account: account, environment: environment.rawValue,
            balances: try rows.map { row in
                LedgerBalance(
                    currency: try row.text("currency"), balance: try row.integer("wallet"),
                    granted: -(try row.integer("issued")), spent: try row.integer("spent"),
                    writtenOff: -(try row.integer("written_off")))
            })
    }

    /// Spends credits of an account. A repeated request with the same key gets the
    /// same answer and spends nothing.
    ///
    /// Refusals, in order: `textInvalid`, `amountInvalid`, `environmentMissing`,
    /// `environmentRefused`, `spendingContradicts` (naming the field),
    /// `creditsMissing`.
    public func spend(
        _ request: SpendRequest, account: String, requestID: String = ""
    ) async throws -> LedgerSpending {
        let prepared = try prepare(request, account: account)
        let note = note(.spent, account: prepared.wish.account, prepared.wish.idempotencyKey)
        let (spending, isNew) = try await commit { writing in
            // A repeated request writes nothing, so that it waits for nobody and no disk.
            if let told = try prepared.wish.told(writing) { return (told, false) }
            let spent = try prepared.spend(in: writing)
            if spent.isNew { try note?.write(writing) }
            return spent
        }
        guard isNew else { return spending }
        ports.log(
            "spent credits", ["requestId": requestID, "environment": spending.environment])
        return spending
    }

    /// Checks a request, for a spending in a transaction of the merchant's own on
    /// the ledger's database. Refusals: the first ones of
    /// ``spend(_:account:requestID:)``, up to `environmentRefused`.
    public func prepare(
        _ request: SpendRequest, account: String
    ) throws(LedgerRefusal) -> PreparedSpending {
        PreparedSpending(
            wish: SpendingWish(
                account: try Edge.account(account),
                idempotencyKey: try Edge.text(request.idempotencyKey, "idempotencyKey"),
                currency: try Edge.text(request.currency, "currency"),
                purpose: try Edge.text(
                    request.purpose, "purpose", bytesMax: Edge.purposeBytesMax),
                amount: try Edge.amount(request.amount),
                environment: try environment(request.environment)),
            now: ports.wall.now, outbox: outbox)
    }
}

/// A checked spending, to be carried out in a transaction of the merchant's own,
/// like a ``PreparedRedemption``.
public struct PreparedSpending: Sendable {
    let wish: SpendingWish
    let now: Timestamp
    let outbox: WebhookOutbox

    /// Spends the credits, or finds what the same key has spent before. `isNew` says
    /// which: the effect belongs in the transaction only if it is true. Refusals:
    /// `spendingContradicts`, `creditsMissing`. The transaction must not continue
    /// after one.
    public func spend(
        in writing: any Writing
    ) throws -> (spending: LedgerSpending, isNew: Bool) {
        let spent = try wish.fulfil(writing, at: now)
        if spent.isNew {
            try outbox.post(
                .creditsSpent, account: wish.account, spent.spending, at: now, writing)
        }
        return spent
    }
}

extension Edge {
    /// The most that is spent at once.
    static let amountMax: Int64 = 1_000_000_000_000

    static func amount(_ value: Int64) throws(LedgerRefusal) -> Int64 {
        guard (1...amountMax).contains(value) else {
            throw LedgerRefusal(
                .badRequest, code: "amountInvalid", "That many credits cannot be spent.",
                field: "amount", rule: "1 to \(amountMax)", remedy: "send such a number")
        }
        return value
    }
}

/// A request to spend credits, in checked values.
struct SpendingWish: Hashable, Sendable {
    let account: String
    let idempotencyKey: String
    let currency: String
    let purpose: String
    let amount: Int64
    let environment: Environment

    private var book: CreditBook {
        CreditBook(account: account, environment: environment, currency: currency)
    }

    /// Returns what was spent with this key, if anything was. Refusal:
    /// `spendingContradicts`.
    func told(_ reading: any Reading) throws -> LedgerSpending? {
        try reading.first(Statement.Credits.byKey, key).map(told)
    }

    private var key: [SQLValue] { [.text(account), .text(idempotencyKey)] }

    private func told(_ row: Row) throws -> LedgerSpending {
        let told = LedgerSpending(
            account: account, environment: try row.text("environment"),
            idempotencyKey: idempotencyKey, currency: try row.text("currency"),
            amount: try row.integer("spent"), purpose: try row.optionalText("purpose") ?? "",
            entry: try row.integer("number"), balance: try row.integer("balance"),
            spentDate: Timestamp(milliseconds: try row.integer("recorded_at")))
        guard let field = difference(from: told) else { return told }
        throw LedgerRefusal(
            .conflict, code: "spendingContradicts",
            "This key was used for a spending with another \(field).", field: field,
            rule: "one idempotency key is one spending",
            remedy: "send what was sent before, or a new key for a new spending")
    }

    private func difference(from told: LedgerSpending) -> String? {
        if !currency.isSame(as: told.currency) { return "currency" }
        if amount != told.amount { return "amount" }
        if !purpose.isSame(as: told.purpose) { return "purpose" }
        return environment.rawValue == told.environment ? nil : "environment"
    }

    /// Runs in a commit, possibly twice: locks the account's line, then spends with a
    /// conditional statement, unless the key was used before. These are sent together, so
    /// that others wait for the line no longer than for the commit.
    func fulfil(
        _ writing: any Writing, at now: Timestamp
    ) throws -> (spending: LedgerSpending, isNew: Bool) {
        let spending = book.values + [.integer(amount)]
        let answers = try writing.queryAll([
            (Statement.Accounts.takeKnownLine, [.text(account)]),
            (Statement.Credits.byKey, key),
            (Statement.Credits.spend, spending + [.text(idempotencyKey)]),
        ])
        guard !answers[0].isEmpty else { throw missing }
        if let told = try answers[1].first.map(told) { return (told, isNew: false) }
        guard let after = answers[2].first else { throw missing }
        try writing.execute(Statement.Credits.consume, spending)
        let entry = CreditEntry(
            book: book, number: try after.integer("entries"), kind: .spending,
            legs: .spending(amount), balance: try after.integer("wallet"), recordedAt: now,
            cause: .spending(idempotencyKey: idempotencyKey, purpose: purpose))
        try writing.execute(Statement.Credits.insertEntry, entry.row)
        return (
            LedgerSpending(
                account: account, environment: environment.rawValue,
                idempotencyKey: idempotencyKey, currency: currency, amount: amount,
                purpose: purpose, entry: entry.number, balance: entry.balance,
                spentDate: now), isNew: true
        )
    }

    private var missing: LedgerRefusal {
        LedgerRefusal(
            .conflict, code: "creditsMissing",
            "This account has fewer than \(amount) \(currency) in \(environment).",
            field: "amount", rule: "no more than the balance",
            remedy: "read the balances, or let the customer buy more")
    }
}
