// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// A piece of inner work: something that happens to a customer by itself at a
/// commercial instant. It is a row, written by the commit that causes it, and
/// goes in the commit that does it, which stands in the customer's line: who
/// does not find the row any more does nothing. So it needs no lease, and a
/// process that dies has done the whole of it or nothing.
struct DueWork: Hashable, Sendable {
    /// Customers whose work is done in one commit.
    static let customersMax = 100

    let customer: CustomerID
    /// Which handler does it.
    let kind: String
    /// What it is about; unique for a customer and a kind.
    let subject: String
    let dueAt: Timestamp

    var key: [SQLValue] { [.integer(customer.value), .text(kind), .text(subject)] }

    /// Owes it, in the commit that causes it; owed already, it moves to the new date.
    func add(_ writing: any Writing) throws {
        try writing.execute(Statement.DueWorks.insert, key + [.integer(dueAt.milliseconds)])
    }

    /// Takes it back, in the commit that makes it needless.
    static func remove(
        _ kind: String, _ subject: String, of customer: CustomerID, _ writing: any Writing
    ) throws {
        try writing.execute(
            Statement.DueWorks.remove, [.integer(customer.value), .text(kind), .text(subject)])
    }

    init(customer: CustomerID, kind: String, subject: String, dueAt: Timestamp) {
        self.customer = customer
        self.kind = kind
        self.subject = subject
        self.dueAt = dueAt
    }

    init(_ row: Row) throws {
        customer = CustomerID(try row.integer("customer_id"))
        kind = try row.text("kind")
        subject = try row.text("subject")
        dueAt = Timestamp(milliseconds: try row.integer("due_at"))
    }

    /// Takes the row for the one who does the work, behind the customer's line.
    func isTaken(_ writing: any Writing) throws -> Bool {
        try writing.first(Statement.DueWorks.take, key + [.integer(dueAt.milliseconds)]) != nil
    }

    /// Where the next page starts.
    var cursor: [SQLValue] { [.integer(dueAt.milliseconds), .integer(customer.value)] }
    static let firstCursor: [SQLValue] = [.integer(Int64.min), .integer(0)]
}

/// Does the inner work of one kind.
protocol DueWorkHandler: Sendable {
    var kind: String { get }
    /// The longest from what causes it to its date, commercial time.
    var longestMilliseconds: Int64 { get }

    /// Draws what the commit will need; the commit may run more than once.
    func prepare(_ work: DueWork, in realm: Realm) async throws -> any DueWorkCommit
}

/// The effect of a piece of inner work.
protocol DueWorkCommit: Sendable {
    /// Writes it in the customer's line; the row of the work is gone. Its date
    /// is the work's own, which may be long before the line's time.
    func write(_ work: DueWork, _ line: CustomerLine) throws
}
