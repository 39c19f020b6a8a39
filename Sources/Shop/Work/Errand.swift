// SPDX-License-Identifier: Apache-2.0

public import Commerce
public import Storage

/// A piece of outer work: something to be done outside the database, such as
/// a call to somebody's server. It is a row, written by the commit that
/// causes it, and gone once a commit has settled it.
///
/// Whoever runs one holds a lease on it, in the database's own time. The
/// fence is a number that every lease raises: what a runner brings back is
/// written only while its fence still stands, so that one which slept past
/// its lease changes nothing.
public struct Errand: Hashable, Sendable {
    /// Whose rows it belongs to; 0: the realm's own.
    public let customer: CustomerID
    /// Which handler does it.
    public let kind: String
    /// What it is about; unique for a customer and a kind.
    public let subject: String
    /// What must not slow another: at most so many of one lane run at once.
    public let lane: String
    /// How often it was begun, this time included.
    public let attempt: Int
    public let fence: Int64

    var key: [SQLValue] { [.integer(customer.value), .text(kind), .text(subject)] }
}

/// What running an errand came to.
public struct ErrandReport: Sendable {
    public enum Outcome: Hashable, Sendable {
        case done
        /// Commercial time.
        case again(at: Timestamp)
        /// Not done, and not tried again.
        case givenUp
        /// The handler has settled it in a commit of its own; not done, it
        /// put it off.
        case settled(isDone: Bool)
    }

    public let outcome: Outcome
    /// Writes what came of it, in the commit that settles the errand. May
    /// run more than once.
    public let write: @Sendable (any Writing) throws -> Void

    /// Writes what is its customer's own, before the errand is settled.
    let writeInLine: (@Sendable (CustomerLine) throws -> Void)?

    public init(
        _ outcome: Outcome, write: @escaping @Sendable (any Writing) throws -> Void = { _ in }
    ) {
        self.outcome = outcome
        self.write = write
        writeInLine = nil
    }

    init(_ outcome: Outcome, inLine write: @escaping @Sendable (CustomerLine) throws -> Void) {
        self.outcome = outcome
        self.write = { _ in }
        writeInLine = write
    }
}

/// Does the errands of one kind.
public protocol ErrandHandler: Sendable {
    var kind: String { get }

    /// How long it is put off after each attempt that failed.
    func retries(in realm: Realm) -> RetryTimetable

    /// Does it. No transaction of the database is open meanwhile. It may
    /// have been done before, by a process that did not live to say so.
    ///
    /// Thrown `CancellationError`: the errand is let go at once, for the next
    /// who asks. Any other error: it is postponed, as a processor's are.
    func perform(_ errand: Errand, in realm: Realm) async throws -> ErrandReport
}

extension ErrandHandler {
    public func retries(in realm: Realm) -> RetryTimetable { .processor }
}
