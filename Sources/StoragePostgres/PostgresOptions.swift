// SPDX-License-Identifier: Apache-2.0

public import Storage

/// How a PostgreSQL database is used.
public struct PostgresOptions: Sendable {
    /// Connections, each with a thread of its own. More than the server's
    /// cores serve little.
    public var connections: Int
    /// How many callers may wait for a connection; more are refused as `busy`.
    public var waitingMax: Int
    /// How long a caller waits for a connection before it is refused as `busy`.
    public var waitMilliseconds: Int
    /// How long one statement may take, and wait for a lock.
    public var statementMilliseconds: Int
    public var lockMilliseconds: Int
    /// How long the server keeps a transaction open that says nothing.
    public var idleInTransactionMilliseconds: Int
    /// How long a call may have a connection, all its statements together.
    /// Then its statement is cancelled, and what does not end by that within
    /// `graceMilliseconds` has its connection cut; a commit is never
    /// cancelled, only cut, with its outcome unknown.
    public var callMilliseconds: Int
    public var graceMilliseconds: Int
    /// How long sent bytes may stay unacknowledged before a connection counts as lost.
    public var unacknowledgedMilliseconds: Int
    /// How long the connection that listens may be silent before the server
    /// is asked whether it is there, and how long it may take to answer.
    public var heartbeatMilliseconds: Int
    public var heartbeatAnswerMilliseconds: Int
    /// Into how many parts, by a hash of the customer, the tables of a schema
    /// are split when it is made, from 2 to ``partitionsMax``; nil leaves a
    /// new schema's tables whole and an old one's as they are.
    public var partitions: Int?
    /// Hears every statement, commit and round trip.
    public var observer: (any StorageObserver)?
    /// Runs each writing closure, rolls it back and runs it again, so that a
    /// closure which keeps something outside the transaction is found out.
    public var runsWritesTwice: Bool

    public init(
        connections: Int = 8, waitingMax: Int = 1000, waitMilliseconds: Int = 10_000,
        statementMilliseconds: Int = 30_000, lockMilliseconds: Int = 10_000,
        idleInTransactionMilliseconds: Int = 30_000, callMilliseconds: Int = 30_000,
        graceMilliseconds: Int = 5000, unacknowledgedMilliseconds: Int = 20_000,
        heartbeatMilliseconds: Int = 10_000, heartbeatAnswerMilliseconds: Int = 10_000,
        partitions: Int? = nil, observer: (any StorageObserver)? = nil,
        runsWritesTwice: Bool = false
    ) {
        self.connections = connections
        self.waitingMax = waitingMax
        self.waitMilliseconds = waitMilliseconds
        self.statementMilliseconds = statementMilliseconds
        self.lockMilliseconds = lockMilliseconds
        self.idleInTransactionMilliseconds = idleInTransactionMilliseconds
        self.callMilliseconds = callMilliseconds
        self.graceMilliseconds = graceMilliseconds
        self.unacknowledgedMilliseconds = unacknowledgedMilliseconds
        self.heartbeatMilliseconds = heartbeatMilliseconds
        self.heartbeatAnswerMilliseconds = heartbeatAnswerMilliseconds
        precondition(
            partitions.map { (2...Self.partitionsMax).contains($0) } ?? true,
            "tables are split into 2 to \(Self.partitionsMax) parts")
        self.partitions = partitions
        self.observer = observer
        self.runsWritesTwice = runsWritesTwice
    }

    /// Times that a transaction is run again which the server could not
    /// serialise, or whose connection was lost before it was to commit.
    static let attemptsMax = 8

    public static let partitionsMax = PostgresPartitions.countMax

    /// Statements that a connection keeps prepared before it is replaced: a
    /// server process holds some tens of kilobytes for each.
    static let preparedMax = 4000
}
