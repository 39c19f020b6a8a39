// SPDX-License-Identifier: Apache-2.0

package import Commerce
package import Storage

/// The world that a ``Worker`` works in: its databases, its clocks, and the kinds
/// of work that it knows.
package protocol WorkContext: Sendable {
    /// What the commit of a customer's work is given.
    associatedtype Line: WorkLine

    /// The handler for each kind of outer work.
    var errandHandlers: [String: any ErrandHandler<Self>] { get }
    /// The handler for each kind of inner work.
    var dueWorkHandlers: [String: any DueWorkHandler<Self>] { get }
    /// What a worker does from time to time besides.
    var chores: [Chore<Self>] { get }

    /// The number of customers whose inner work one commit does.
    var customersOfCommit: Int { get }

    /// The databases that have work. Each is worked on by itself.
    var databases: [any Storage] { get }
    /// The bell of each database's worker.
    var bells: [WorkBell] { get }
    /// What this process runs of each database's outer work.
    var lanes: [RunningLanes] { get }
    /// The turns of each database's jumps in this process.
    var jumpTurns: [JumpTurn] { get }
    /// The turns of each database's clocks in this process.
    var clockTurns: [ClockTurns] { get }
    /// The database with all facts of a customer.
    func database(of customer: CustomerID) -> any Storage
    /// The turns of the clocks in that database.
    func clockTurns(of customer: CustomerID) -> ClockTurns
    /// The name of a database for people.
    func name(ofDatabase index: Int) -> String
    /// Asks all databases but the first whether they have a clock as the first one has
    /// it, and what is left of its jump.
    ///
    /// `asksAway`: whether to ask a database that did not answer the last call.
    /// If not, returns nil if there is one, because a worker must not wait for
    /// it.
    func farClocks(_ clock: RealmClock, of id: ClockID, asksAway: Bool) async -> FarClocks?
    /// Whether a later attempt may succeed, because the database only does not
    /// answer at present.
    static func isAway(_ fault: StorageFault) -> Bool

    /// The wall time.
    var wall: Timestamp { get }
    /// The time for leases that are taken now.
    var leases: LeaseClock { get }
    /// Sleeps until a due date. Ends early when its task is cancelled.
    func sleep(_ pause: Duration) async throws
    /// The first clock of commercial time, by which outer work falls due.
    static func clock(_ reading: any Reading) throws -> RealmClock
    /// One clock. Nil if it was removed.
    static func clock(_ reading: any Reading, of id: ClockID) throws -> RealmClock?
    /// All other clocks, which belong to customers.
    static func customerClocks(_ reading: any Reading) throws -> [ClockID: RealmClock]
    /// Whether only this process works in the databases, so that no other one leaves
    /// work here.
    var isAlone: Bool { get }
    /// Whether the same calls give the same numbers and commits, so that errands that draw
    /// numbers are run in a fixed order.
    var repeatsItself: Bool { get }
    /// The commercial time of a customer, which is not before the customer's last
    /// event. Nil if there is no such customer.
    static func now(
        of customer: CustomerID, wall: Timestamp, _ reading: any Reading
    ) throws -> Timestamp?

    /// Locks the rows of customers in a commit, in this order. Nil for a customer who does
    /// not exist.
    static func lines(
        of customers: [CustomerID], wall: Timestamp, _ writing: any Writing
    ) throws -> [Line?]
    /// Returns the lines as a commit would have them now. Locks and changes nothing.
    static func foreseenLines(
        of customers: [CustomerID], wall: Timestamp, _ writing: any Writing
    ) throws -> [Line?]
    /// Writes in the customer's line in a separate task, even if the caller is
    /// cancelled, and even if other work of the customer cannot be done.
    func uncancelledLine(
        of customer: CustomerID, _ body: @escaping @Sendable (Line) throws -> Void
    ) async throws

    /// Called after a commit that changed what the customer has.
    func wake(_ customer: CustomerID)
    /// Makes the workers of all processes look for work.
    func wakeWorkers()
    func report(_ severity: WorkSeverity, _ message: String, _ facts: [String: String])
}

extension WorkContext {
    package func farClocks(
        _ clock: RealmClock, of id: ClockID, asksAway: Bool
    ) async -> FarClocks? { FarClocks() }
}

/// What the other databases have of the first one's clock.
package struct FarClocks: Sendable {
    /// The databases that do not answer or do not have the clock yet, by name.
    package var away: [String] = []
    /// The jump that has come least far on any database that has the clock.
    package var jump: ClockJump?

    package init() {}
}

/// A commit for one customer, whose row is locked.
package protocol WorkLine {
    /// What decisions in the line rest on, besides the customer's own rows.
    associatedtype Basis: Equatable & Sendable

    /// The commercial time.
    var now: Timestamp { get }
    var writing: any Writing { get }
    /// Another basis after each commit for the customer.
    var basis: Basis { get }
    /// Returns the same line, which writes elsewhere.
    func with(_ writing: any Writing) -> Self
}

/// How much a report of a worker matters.
package enum WorkSeverity: Sendable {
    case info, warning, error
}

/// Something that a worker does from time to time, in wall time.
package struct Chore<Context: WorkContext>: Sendable {
    /// The first time, after the worker's start.
    let startSeconds: Int64
    let pauseSeconds: Int64
    /// Whether work goes on in the meantime.
    let isApart: Bool
    /// Whether the first database needs it too.
    let isOfFirst: Bool
    /// Receives the number of the worker's database. Reports its errors itself.
    let perform: @Sendable (Context, Int) async -> Void

    package init(
        startSeconds: Int64, pauseSeconds: Int64, isApart: Bool, isOfFirst: Bool = true,
        _ perform: @escaping @Sendable (Context, Int) async -> Void
    ) {
        self.startSeconds = startSeconds
        self.pauseSeconds = pauseSeconds
        self.isApart = isApart
        self.isOfFirst = isOfFirst
        self.perform = perform
    }

    /// Whether a database needs it. A worker whose chores are few sleeps long.
    package func concerns(_ index: Int) -> Bool { index > 0 || isOfFirst }
}

/// When each chore is to be done next.
struct ChoreTimes {
    private var next: [Timestamp]

    init<Context>(_ chores: [Chore<Context>], at wall: Timestamp) {
        next = chores.map { wall.adding(seconds: $0.startSeconds) }
    }

    /// All of them are to be done now, because the machine's clock was set back.
    mutating func reset(to wall: Timestamp) { next = next.map { _ in wall } }

    /// Whether the time of a chore has come.
    func hasDue(at wall: Timestamp) -> Bool { next.contains { $0 <= wall } }

    /// Returns the chores whose time has come, and sets their next time.
    mutating func due<Context>(
        of chores: [Chore<Context>], at wall: Timestamp
    ) -> [Chore<Context>] {
        zip(chores, chores.indices).compactMap { chore, index in
            guard wall >= next[index] else { return nil }
            next[index] = wall.adding(seconds: chore.pauseSeconds)
            return chore
        }
    }
}
