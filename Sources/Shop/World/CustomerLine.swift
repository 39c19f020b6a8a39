// SPDX-License-Identifier: Apache-2.0

package import Commerce
package import Storage
import Work

/// The context of a write for a customer: the row is locked and its revision
/// raised, and what every commit needs was read once behind the lock.
///
/// Only ``Realm/line(of:asking:else:_:)`` and related functions make one, after
/// they have done the customer's own due work.
package struct CustomerLine {
    let customer: CustomerID
    /// The revision of this commit.
    let revision: Int64
    /// The revision at which the customer's purchases were last deleted. Nil if
    /// they never were.
    let historyRevision: Int64?
    /// The revision since which a family may get what the customer buys. Nil for a
    /// customer who never was in one.
    let familyRevision: Int64?
    let account: CustomerAccount
    /// The clock that the customer's commercial time is read from.
    let clock: ClockID
    /// The commercial time, which is not before the customer's last event.
    package private(set) var now: Timestamp
    /// The realm's commercial time, by which errands fall due.
    let owedNow: Timestamp
    /// The wall time, for sessions and the audit.
    let wall: Timestamp
    let catalogueRevision: Int64
    /// How long periods that begin now last. Nil in the calendar.
    let tempo: Tempo?
    /// The clock's last jump.
    private(set) var jump: LastJump?
    /// Whether this commit does the customer's due work.
    var isDueWork = false
    /// When the customer's first due work falls due.
    let firstDue: Timestamp?
    /// The whole row that answers the ``LineQuestion``.
    let facts: Row
    package let writing: any Writing

    /// Nil if there is no such customer. The clock is read when the line is held: of two
    /// commits in one line, the second is dated no earlier than the first.
    init?(
        _ customer: CustomerID, asking question: LineQuestion, wall: WallClock,
        _ writing: any Writing
    ) throws {
        let key = SQLValue.integer(customer.value)
        guard let row = try writing.first(Statement.Lines.line, [key]) else { return nil }
        let now = wall.now
        let facts = try writing.first(question.statement, [key] + question.values)
        self = try CustomerLine(customer, row, facts, wall: now, writing)
    }

    /// Locks the rows of several customers, in this order, and returns the line of each.
    /// Nil for a customer who does not exist.
    static func all(
        of customers: [CustomerID], wall: Timestamp, _ writing: any Writing
    ) throws -> [CustomerLine?] {
        let keys: [[SQLValue]] = customers.map { [.integer($0.value)] }
        let rows = try writing.queryEach(Statement.Lines.line, keys)
        let facts = try writing.queryEach(Statement.Lines.now, keys)
        return try zip(customers, zip(rows, facts)).map { customer, found in
            guard let row = found.0.first else { return nil }
            return try CustomerLine(customer, row, found.1.first, wall: wall, writing)
        }
    }

    private init(
        _ customer: CustomerID, _ row: Row, _ facts: Row?, wall: Timestamp, _ writing: any Writing
    ) throws {
        guard let facts else { throw StorageFault(.malformedRow, "the realm has no row") }
        let clock = try ClockRow(facts)
        self.customer = customer
        revision = try row.integer("revision")
        historyRevision = try row.optionalInteger("history_revision")
        familyRevision = try row.optionalInteger("family_revision")
        account = try CustomerAccount(row)
        self.clock = clock.id
        now = clock.now(wall: wall)
        owedNow = clock.id == .realm ? now : try Self.realmClock(facts).now(wall: wall)
        self.wall = wall
        catalogueRevision = clock.catalogueRevision
        tempo = clock.clock.tempo
        jump = clock.jump
        firstDue = try facts.optionalInteger("first_due").map(Timestamp.init(milliseconds:))
        self.facts = facts
        self.writing = writing
    }

    /// The realm's clock in a row with ``Statement/Lines/lineColumns``.
    private static func realmClock(_ row: Row) throws -> RealmClock {
        RealmClock(
            standsAt: try row.optionalInteger("realm_stands_at").map(Timestamp.init),
            aheadMilliseconds: try row.integer("realm_ahead"),
            rate: try row.integer("realm_rate"),
            since: Timestamp(milliseconds: try row.integer("realm_since")))
    }

    /// Returns the line of what happened at an earlier instant. Its notifications are
    /// sent as those of a jump.
    func dated(_ instant: Timestamp, jump: LastJump) -> CustomerLine {
        var line = self
        (line.now, line.jump, line.isDueWork) = (instant, jump, true)
        return line
    }

    /// Whether the customer has due work that is not done yet.
    var isBehind: Bool { firstDue.map { $0 <= now } ?? false }

    static let missing = StorageFault(.malformedRow, "a customer without a row")
}

/// The customer's settings, which an operator can change.
struct CustomerAccount: Sendable {
    /// The customer's own storefront. Nil for the app's.
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

/// What a commit reads behind the customer's line: one statement. Its first
/// value is the customer, and its result has
/// ``Statement/Customers/lineColumns``.
struct LineQuestion: Sendable {
    let statement: Statement
    /// The values after the customer.
    var values: [SQLValue] = []

    /// Reads only the time.
    static let time = LineQuestion(statement: Statement.Lines.now)
}

extension Realm {
    /// Writes for a customer, in the customer's line. The closure may run more
    /// than once. The customer's due work is done before, in separate commits.
    /// Throws `missing` if there is no such customer.
    func line<Answer: Sendable>(
        of customer: CustomerID, asking question: LineQuestion = .time,
        else missing: any Error & Sendable = CustomerLine.missing,
        _ body: @escaping @Sendable (CustomerLine) throws -> Answer
    ) async throws -> Answer {
        try await lineOrLeave(of: customer, asking: question, else: missing) {
            .commit(try body($0))
        }.answer
    }

    /// Like ``line(of:asking:else:_:)``, for a closure that may find nothing to
    /// write.
    ///
    /// `mayLag`: whether the closure runs even if the customer's due work
    /// fails.
    func lineOrLeave<Answer: Sendable>(
        of customer: CustomerID, asking question: LineQuestion = .time,
        else missing: any Error & Sendable = CustomerLine.missing, mayLag: Bool = false,
        _ body: @escaping @Sendable (CustomerLine) throws -> Ending<Answer>
    ) async throws -> Ending<Answer> {
        let storage = storage(of: customer)
        var mustCatchUp = true
        while true {
            let (wall, waits) = (ports.wall, mustCatchUp)
            let turn = try await storage.writeOrLeave { writing -> Ending<Answer?> in
                guard let line = try CustomerLine(customer, asking: question, wall: wall, writing)
                else { throw missing }
                // Work that fell due before now must be done before this.
                if waits, line.isBehind { return .leave(nil) }
                return try body(line).map(Optional.some)
            }
            switch turn {
            case .commit(let answer?): return .commit(answer)
            case .leave(let answer?): return .leave(answer)
            case .commit(nil), .leave(nil):
                // Checked again, because a clock may have been moved in the
                // meantime. Kinds that only a newer program knows are left to
                // it.
                do { mustCatchUp = try await worker.isCaughtUp(customer) } catch {
                    ports.log(
                        .error, "due work failed", nil,
                        ["customer": customer.description, "fault": "\(error)"])
                    guard mayLag else { throw error }
                    mustCatchUp = false
                }
            }
        }
    }

    /// Like ``lineOrLeave(of:asking:else:mayLag:_:)``, in a separate task. A
    /// processor's answer is written even if the caller was cancelled, and even
    /// if other work of the customer cannot be done.
    func uncancelledLine<Answer: Sendable>(
        of customer: CustomerID, asking question: LineQuestion = .time,
        _ body: @escaping @Sendable (CustomerLine) throws -> Ending<Answer>
    ) async throws -> Ending<Answer> {
        try await Task {
            try await self.lineOrLeave(of: customer, asking: question, mayLag: true, body)
        }.value
    }
}
