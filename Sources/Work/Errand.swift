// SPDX-License-Identifier: Apache-2.0

package import Commerce
package import Storage

/// A piece of outer work: a call outside the database, such as to another
/// server. It is a row, written by the commit that causes it, and deleted by
/// the commit that settles it.
///
/// The worker that runs it holds a lease on it, in the database's own time.
/// Every lease raises the fence, a number. A worker's result is written only if
/// its fence is still current, so a worker that has lost its lease changes
/// nothing.
package struct Errand: Hashable, Sendable {
    /// The customer whose rows it belongs to. 0 for the realm's own.
    package let customer: CustomerID
    /// The kind, which selects the handler.
    package let kind: String
    /// What the errand concerns. Unique for a customer and a kind.
    package let subject: String
    /// The lane. Only a limited number of errands in a lane run at once, so
    /// that they do not delay other lanes.
    package let lane: String
    /// How often it was begun, including this time.
    package let attempt: Int
    package let fence: Int64
    /// In lanes in order: the errand's date, and the commercial time when it was
    /// leased.
    var dueAt: Timestamp?
    var leasedAt: Timestamp?

    package var key: [SQLValue] { [.integer(customer.value), .text(kind), .text(subject)] }
}

/// What an errand came to.
package enum ErrandOutcome: Hashable, Sendable {
    case done
    /// In commercial time.
    case again(at: Timestamp)
    /// Failed, and not retried.
    case givenUp
    /// The handler has settled it in a commit of its own. If it is not
    /// done, the handler has postponed it.
    case settled(isDone: Bool)
}

/// The result of running an errand.
package struct ErrandReport<Line>: Sendable {
    package let outcome: ErrandOutcome
    /// Writes the result in the commit that settles the errand. May run more
    /// than once.
    package let write: @Sendable (any Writing) throws -> Void

    /// Writes what belongs to the customer, before the errand is settled.
    let writeInLine: (@Sendable (Line) throws -> Void)?

    package init(
        _ outcome: ErrandOutcome, write: @escaping @Sendable (any Writing) throws -> Void = { _ in }
    ) {
        self.outcome = outcome
        self.write = write
        writeInLine = nil
    }

    package init(_ outcome: ErrandOutcome, inLine write: @escaping @Sendable (Line) throws -> Void)
    {
        self.outcome = outcome
        self.write = { _ in }
        writeInLine = write
    }
}

/// Handles the errands of one kind.
package protocol ErrandHandler<Context>: Sendable {
    associatedtype Context: WorkContext

    var kind: String { get }

    /// Whether a customer's inner work depends on the result. A jump of the clock
    /// then runs such errands between the inner work that they cause, and waits
    /// for their results.
    var holdsUpDueWork: Bool { get }

    /// Whether it brings customers what a call causes. Where everything repeats itself,
    /// the call waits for it.
    var isFollowUp: Bool { get }

    /// Returns the pauses after failed attempts.
    func retries(in context: Context) -> RetryTimetable

    /// Runs the errand, with no database transaction open. It may have been
    /// done before by a process that died before recording it.
    ///
    /// If this throws `CancellationError`, the errand is released at once for
    /// the next worker. After any other error it is postponed, with the pauses
    /// for payment processors.
    func perform(_ errand: Errand, in context: Context) async throws -> ErrandReport<Context.Line>

    /// Records that the errand is not run, because the errands before it in its lane
    /// failed.
    func skip(_ errand: Errand, in context: Context) async throws -> ErrandReport<Context.Line>
}

extension ErrandHandler {
    package func skip(
        _ errand: Errand, in context: Context
    ) async throws -> ErrandReport<Context.Line> { ErrandReport(.givenUp) }

    package var holdsUpDueWork: Bool { false }

    package var isFollowUp: Bool { false }

    package func retries(in context: Context) -> RetryTimetable { .processor }
}

extension ErrandReport {
    /// Another attempt, after a pause that grows with each one.
    package static func retry(_ errand: Errand, at now: Timestamp) -> ErrandReport {
        ErrandReport(
            .again(
                at: RetryTimetable.processor.nextForEver(
                    afterAttempts: errand.attempt, at: now)))
    }
}
