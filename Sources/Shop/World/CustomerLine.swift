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
    /// What decisions rest on, besides the customer's own rows.
    package let basis: LineBasis
    /// The commercial time, which is not before the customer's last event.
    package private(set) var now: Timestamp
    /// The realm's commercial time, by which errands fall due.
    let owedNow: Timestamp
    /// The wall time, for sessions and the audit.
    let wall: Timestamp
    /// The clock's last jump.
    private(set) var jump: LastJump?
    /// Whether this commit does the customer's due work.
    var isDueWork = false
    /// Set by what owes an errand for which the call waits in a seeded realm. Nil where a
    /// worker does it.
    var followUps: FollowUpMark?
    /// When the customer's first due work falls due. Nil too if it was not read.
    let firstDue: Timestamp?
    /// The whole row that answers the ``LineQuestion``.
    let facts: Row
    package private(set) var writing: any Writing

    /// The revision of this commit.
    var revision: Int64 { basis.revision }
    /// The revision at which the customer's purchases were last deleted. Nil if
    /// they never were.
    var historyRevision: Int64? { basis.historyRevision }
    /// The revision since which a family may get what the customer buys. Nil for a
    /// customer who never was in one.
    var familyRevision: Int64? { basis.familyRevision }
    var account: CustomerAccount { basis.account }
    /// The clock that the customer's commercial time is read from.
    var clock: ClockID { basis.clock.id }
    var catalogueRevision: Int64 { basis.clock.catalogueRevision }
    /// How long periods that begin now last. Nil in the calendar.
    var tempo: Tempo? { basis.clock.clock.tempo }

    /// Nil if there is no such customer. The clock is read when the line is held: of two
    /// commits in one line, the second is dated no earlier than the first.
    init?(
        _ customer: CustomerID, asking question: LineQuestion, wall: WallClock,
        _ writing: any Writing
    ) throws {
        let key = SQLValue.integer(customer.value)
        guard let row = try writing.first(Statement.Lines.line, [key]) else { return nil }
        let now = wall.now
        guard let facts = try writing.first(question.statement, [key] + question.values) else {
            throw Self.realmHasNoRow
        }
        let own = try ClockRow(facts)
        let basis = try LineBasis(
            row, own, realm: own.id == .realm ? own.clock : Self.realmClock(facts))
        self.init(
            customer, basis, facts, wall: now,
            firstDue: try facts.optionalInteger("first_due").map(Timestamp.init(milliseconds:)),
            writing)
    }

    private init(
        _ customer: CustomerID, _ basis: LineBasis, _ facts: Row, wall: Timestamp,
        firstDue: Timestamp?, _ writing: any Writing
    ) {
        self.customer = customer
        self.basis = basis
        now = basis.clock.now(wall: wall)
        owedNow = basis.clock.id == .realm ? now : basis.realm.now(wall: wall)
        self.wall = wall
        jump = basis.clock.jump
        self.firstDue = firstDue
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

    private static let realmHasNoRow = StorageFault(.malformedRow, "the realm has no row")

    /// Returns the line of a commit that does the customer's due work.
    var ofDueWork: CustomerLine {
        var line = self
        line.isDueWork = true
        return line
    }

    package func with(_ writing: any Writing) -> CustomerLine {
        var line = self
        line.writing = writing
        return line
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

/// Lines of several customers in one commit.
extension CustomerLine {
    /// Locks the rows of several customers, in this order, and returns the line of each.
    /// Nil for a customer who does not exist. The lines of more than one do not know when
    /// their customers' last events and first work are.
    static func all(
        of customers: [CustomerID], wall: Timestamp, _ writing: any Writing
    ) throws -> [CustomerLine?] {
        guard customers.count == 1 else {
            return try lines(of: customers, by: Statement.Lines.line, wall: wall, writing)
        }
        return [
            try CustomerLine(
                customers[0], asking: .time, wall: .standing(at: wall), writing)
        ]
    }

    /// Returns the lines that ``all(of:wall:_:)`` would return now. Locks and changes
    /// nothing.
    static func foreseen(
        of customers: [CustomerID], wall: Timestamp, _ writing: any Writing
    ) throws -> [CustomerLine?] {
        try lines(of: customers, by: Statement.Lines.foreseen, wall: wall, writing)
    }

    private static func lines(
        of customers: [CustomerID], by statement: Statement, wall: Timestamp,
        _ writing: any Writing
    ) throws -> [CustomerLine?] {
        let rows = try writing.queryEach(statement, customers.map { [.integer($0.value)] })
            .map(\.first)
        let ids = try rows.map { ClockID(try $0?.optionalInteger("clock_id") ?? 0) }
        // The clocks are read behind the locks.
        let distinct = Array(Set(ids + [.realm]))
        let found = try writing.queryEach(
            Statement.Clocks.one, distinct.map { [.integer($0.value)] })
        var clocks: [ClockID: (row: Row, clock: ClockRow)] = [:]
        for (id, rows) in zip(distinct, found) {
            guard let row = rows.first else { continue }
            clocks[id] = (row, try ClockRow(row, hasLastEvent: false))
        }
        return try zip(customers, zip(rows, ids)).map { customer, found in
            guard let row = found.0 else { return nil }
            guard let own = clocks[found.1], let realm = clocks[.realm] else {
                throw realmHasNoRow
            }
            return CustomerLine(
                customer, try LineBasis(row, own.clock, realm: realm.clock.clock), own.row,
                wall: wall, firstDue: nil, writing)
        }
    }
}

/// What decisions in a customer's line rest on, besides the customer's own rows. The
/// revision stands for these: every commit that changes them raises it, except one that
/// replaces all rows of the realm, which raises the clock's generation.
package struct LineBasis: Hashable, Sendable {
    let revision: Int64
    let historyRevision: Int64?
    let familyRevision: Int64?
    let account: CustomerAccount
    /// The customer's clock.
    let clock: ClockRow
    /// The realm's.
    let realm: RealmClock

    /// From a row of ``Statement/Lines/line``.
    init(_ row: Row, _ clock: ClockRow, realm: RealmClock) throws {
        revision = try row.integer("revision")
        historyRevision = try row.optionalInteger("history_revision")
        familyRevision = try row.optionalInteger("family_revision")
        account = try CustomerAccount(row)
        self.clock = clock
        self.realm = realm
    }
}

/// The customer's settings, which an operator can change.
struct CustomerAccount: Hashable, Sendable {
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
        let followUps = FollowUpMark()
        var mustCatchUp = true
        while true {
            let (wall, waits) = (ports.wall, mustCatchUp)
            let turn = try await storage.writeOrLeave { writing -> Ending<Answer?> in
                guard
                    var line = try CustomerLine(customer, asking: question, wall: wall, writing)
                else { throw missing }
                line.followUps = followUps
                // Work that fell due before now must be done before this.
                if waits, line.isBehind { return .leave(nil) }
                return try body(line).map(Optional.some)
            }
            switch turn {
            case .commit(let answer?):
                if followUps.isSet { await worker.followUp() }
                return .commit(answer)
            case .leave(let answer?):
                if followUps.isSet { await worker.followUp() }
                return .leave(answer)
            case .commit(nil), .leave(nil):
                // Checked again, because a clock may have been moved in the
                // meantime. Kinds that only a newer program knows are left to
                // it.
                followUps.set()
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
