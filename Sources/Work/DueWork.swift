// SPDX-License-Identifier: Apache-2.0

package import Commerce
package import Storage

/// A piece of inner work: a change that happens to a customer at a commercial
/// instant. It is a row, written by the commit that causes it, and deleted by
/// the commit that does it, in the customer's line. A process that does not
/// find the row does nothing. So it needs no lease, and a process that dies has
/// done all of it or nothing.
package struct DueWork: Hashable, Sendable {
    /// The number of customers whose work is found at once.
    package static let customersMax = 10 * CommitSize.subjectsMax

    package let customer: CustomerID
    /// The kind, which selects the handler.
    package let kind: String
    /// What the work concerns. Unique for a customer and a kind.
    package let subject: String
    package let dueAt: Timestamp

    var key: [SQLValue] { [.integer(customer.value), .text(kind), .text(subject)] }

    /// Adds the work, in the commit that causes it. Existing work moves to the
    /// new date.
    package func add(_ writing: any Writing) throws {
        try writing.execute(Statement.DueWorks.insert, key + [.integer(dueAt.milliseconds)])
    }

    /// Removes the work, in the commit that makes it unnecessary.
    package static func remove(
        _ kind: String, _ subject: String, of customer: CustomerID, _ writing: any Writing
    ) throws {
        try writing.execute(
            Statement.DueWorks.remove, [.integer(customer.value), .text(kind), .text(subject)])
    }

    package init(customer: CustomerID, kind: String, subject: String, dueAt: Timestamp) {
        self.customer = customer
        self.kind = kind
        self.subject = subject
        self.dueAt = dueAt
    }

    package init(_ row: Row) throws {
        customer = CustomerID(try row.integer("customer_id"))
        kind = try row.text("kind")
        subject = try row.text("subject")
        dueAt = Timestamp(milliseconds: try row.integer("due_at"))
    }

    /// Deletes the rows of several pieces, behind their customers' lines. Returns the
    /// places of those that were gone already.
    static func take(_ works: [DueWork], _ writing: any Writing) throws -> [Int] {
        let taken = try writing.queryEach(
            Statement.DueWorks.take, works.map { $0.key + [.integer($0.dueAt.milliseconds)] })
        return taken.indices.filter { taken[$0].isEmpty }
    }

    /// The start of the next page.
    var cursor: [SQLValue] { [.integer(dueAt.milliseconds), .integer(customer.value)] }
    static let firstCursor: [SQLValue] = [.integer(Int64.min), .integer(0)]
}

/// Handles the inner work of one kind.
package protocol DueWorkHandler<Context>: Sendable {
    associatedtype Context: WorkContext

    var kind: String { get }
    /// The longest time from the cause of the work to its date, in commercial
    /// time.
    var longestMilliseconds: Int64 { get }

    /// Corrects what else of this kind a clock has dated later than `latest`, after
    /// it was set back to `now`.
    func bringForward(
        of clock: ClockID, beyond latest: Timestamp, to now: Timestamp, _ writing: any Writing
    ) throws

    /// Draws what the commit needs, because the commit may run more than once.
    func prepare(_ work: DueWork, in context: Context) async throws -> any DueWorkCommit<
        Context.Line
    >

    /// The same for several pieces of one database, which share a commit. Returns
    /// one for each piece, in the same order.
    func prepare(
        _ works: [DueWork], in context: Context
    ) async throws -> [any DueWorkCommit<Context.Line>]
}

extension DueWorkHandler {
    package func bringForward(
        of clock: ClockID, beyond latest: Timestamp, to now: Timestamp, _ writing: any Writing
    ) throws {}

    package func prepare(
        _ works: [DueWork], in context: Context
    ) async throws -> [any DueWorkCommit<Context.Line>] {
        var commits: [any DueWorkCommit<Context.Line>] = []
        for work in works { commits.append(try await prepare(work, in: context)) }
        return commits
    }
}

/// The effect of a piece of inner work.
package protocol DueWorkCommit<Line>: Sendable {
    associatedtype Line

    /// Whether ``write(_:_:answer:)`` may run before the line is locked, to work out what
    /// it will write. Its decisions then rest on the customer's rows and the line's basis
    /// alone: another commit that changes these takes the line, or changes the basis.
    var isForeseeable: Bool { get }

    /// What it reads behind the line. Pieces of one commit ask together. Nil if nothing.
    func question(_ work: DueWork) -> BoundStatement?

    /// Writes the effect in the customer's line. The row of the work is already
    /// deleted. The date of the effect is the work's own, which may be long
    /// before the line's time. `answer`: the rows of its question.
    func write(_ work: DueWork, _ line: Line, answer: [Row]) throws

    /// Called once, after the last run of ``write(_:_:)``. `isWritten`: whether
    /// the database has its effect. Gives back what was drawn and not used.
    func finish(isWritten: Bool)
}

/// A statement with its values.
package struct BoundStatement: Sendable {
    let statement: Statement
    let values: [SQLValue]

    package init(_ statement: Statement, _ values: [SQLValue]) {
        self.statement = statement
        self.values = values
    }
}

extension DueWorkCommit {
    package var isForeseeable: Bool { false }

    package func question(_ work: DueWork) -> BoundStatement? { nil }

    package func finish(isWritten: Bool) {}
}
