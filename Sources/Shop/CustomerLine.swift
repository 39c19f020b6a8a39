// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// A customer's turn to be written for: the row is locked, its revision counted
/// up, and what every commit asks has been read behind the lock, once.
///
/// Only ``Realm/line(of:asking:else:_:)`` and its kin make one, after the
/// customer's own due work up to now has been done.
struct CustomerLine {
    let customer: CustomerID
    /// The revision of what this commit writes.
    let revision: Int64
    let account: CustomerAccount
    /// Commercial time, not before the customer's last event.
    let now: Timestamp
    /// Wall time, of sessions and the audit.
    let wall: Timestamp
    let catalogueRevision: Int64
    /// When the customer's first due work falls due.
    let firstDue: Timestamp?
    /// The whole answer to the ``LineQuestion``.
    let facts: Row
    let writing: any Writing

    /// Nil when there is no such customer.
    init?(
        _ customer: CustomerID, asking question: LineQuestion, wall: Timestamp,
        _ writing: any Writing
    ) throws {
        let key = SQLValue.integer(customer.value)
        guard let row = try writing.first(Statement.Customers.line, [key]) else { return nil }
        guard let facts = try writing.first(question.statement, [key] + question.values) else {
            throw StorageFault(.malformedRow, "the realm has no row")
        }
        let clock = try ClockRow(facts)
        self.customer = customer
        revision = try row.integer("revision")
        account = try CustomerAccount(row)
        now = clock.now(wall: wall)
        self.wall = wall
        catalogueRevision = clock.catalogueRevision
        firstDue = try facts.optionalInteger("first_due").map(Timestamp.init(milliseconds:))
        self.facts = facts
        self.writing = writing
    }

    /// Whether the customer has work that should have been done by now.
    var isBehind: Bool { firstDue.map { $0 <= now } ?? false }

    static let missing = StorageFault(.malformedRow, "a customer without a row")
}

/// What a customer may do and where, as an operator has set it.
struct CustomerAccount: Sendable {
    /// The customer's own storefront; nil for that of the app.
    let storefront: String?
    let mayBuy: Bool
    let asksToBuy: Bool
    let interruptsPurchases: Bool

    init(_ row: Row) throws {
        storefront = try row.optionalText("storefront")
        mayBuy = try row.boolean("may_buy")
        asksToBuy = try row.boolean("asks_to_buy")
        interruptsPurchases = try row.boolean("interrupts_purchases")
    }
}

/// What a commit asks behind the customer's line: one statement, whose first
/// value is the customer and whose answer has ``Statement/Customers/lineColumns``.
struct LineQuestion: Sendable {
    let statement: Statement
    /// Behind the customer.
    var values: [SQLValue] = []

    /// Nothing but the time.
    static let time = LineQuestion(statement: Statement.Customers.now)
}

extension Realm {
    /// Writes for a customer, in the customer's line. The closure may run more
    /// than once. Work of the customer that is due is done first, in commits of
    /// its own. Throws `missing` where there is no such customer.
    func line<Answer: Sendable>(
        of customer: CustomerID, asking question: LineQuestion = .time,
        else missing: any Error & Sendable = CustomerLine.missing,
        _ body: @escaping @Sendable (CustomerLine) throws -> Answer
    ) async throws -> Answer {
        try await lineOrLeave(of: customer, asking: question, else: missing) {
            .commit(try body($0))
        }.answer
    }

    /// As ``line(of:asking:else:_:)``, for what may find nothing to write.
    ///
    /// `mayLag`: whether it is written also where work that is due fails.
    func lineOrLeave<Answer: Sendable>(
        of customer: CustomerID, asking question: LineQuestion = .time,
        else missing: any Error & Sendable = CustomerLine.missing, mayLag: Bool = false,
        _ body: @escaping @Sendable (CustomerLine) throws -> Ending<Answer>
    ) async throws -> Ending<Answer> {
        let storage = storage(of: customer)
        var mustCatchUp = true
        while true {
            let (wall, waits) = (ports.wall.now, mustCatchUp)
            let turn = try await storage.writeOrLeave { writing -> Ending<Answer?> in
                guard let line = try CustomerLine(customer, asking: question, wall: wall, writing)
                else { throw missing }
                // What happens by itself before now happens before this.
                if waits, line.isBehind { return .leave(nil) }
                return try body(line).map(Optional.some)
            }
            switch turn {
            case .commit(let answer?): return .commit(answer)
            case .leave(let answer?): return .leave(answer)
            case .commit(nil), .leave(nil):
                // Looked at again, for a clock may have been moved meanwhile. Kinds that
                // only a newer program knows are left to it.
                do { mustCatchUp = try await isCaughtUp(customer) } catch {
                    ports.log(
                        .error, "due work failed", nil,
                        ["customer": customer.description, "fault": "\(error)"])
                    guard mayLag else { throw error }
                    mustCatchUp = false
                }
            }
        }
    }

    /// As ``lineOrLeave(of:asking:else:mayLag:_:)``, in a task of its own: what a
    /// processor has said is written also where its caller was cancelled, and
    /// where other work of the customer cannot be done.
    func uncancelledLine<Answer: Sendable>(
        of customer: CustomerID, asking question: LineQuestion = .time,
        _ body: @escaping @Sendable (CustomerLine) throws -> Ending<Answer>
    ) async throws -> Ending<Answer> {
        try await Task {
            try await self.lineOrLeave(of: customer, asking: question, mayLag: true, body)
        }.value
    }
}
