// SPDX-License-Identifier: Apache-2.0

public import Storage

/// Settings of a PostgreSQL database.
public struct PostgresOptions: Sendable {
    /// The number of connections. Each has its own thread. More than the server
    /// has cores bring little.
    public var connections: Int
    /// How many callers may wait for a connection. Further ones are rejected as
    /// `busy`.
    public var waitingMax: Int
    /// How long a caller waits for a connection before it is rejected as
    /// `busy`.
    public var waitMilliseconds: Int
    /// How long one statement may take, and how long it may wait for a lock.
    public var statementMilliseconds: Int
    public var lockMilliseconds: Int
    /// How long the server keeps an open transaction that sends nothing.
    public var idleInTransactionMilliseconds: Int
    /// How long a call may hold a connection, with all its statements. After
    /// that its statement is cancelled. If the call does not end within a
    /// further `graceMilliseconds`, its connection is cut. A commit is never
    /// cancelled, only cut; its outcome is then unknown.
    public var callMilliseconds: Int
    public var graceMilliseconds: Int
    /// How long sent bytes may stay unacknowledged before a connection counts as lost.
    public var unacknowledgedMilliseconds: Int
    /// How long the listening connection may be silent before the server is
    /// asked whether it is still there, and how long the server may take to
    /// answer.
    public var heartbeatMilliseconds: Int
    public var heartbeatAnswerMilliseconds: Int
    /// The number of parts, from 2 to ``partitionsMax``, into which the tables
    /// of a new schema are split by a hash of the customer. Nil leaves a new
    /// schema's tables whole. An existing schema is not changed.
    public var partitions: Int?
    /// Is notified of every statement, commit and round trip.
    public var observer: (any StorageObserver)?
    /// Runs each writing closure, rolls it back and runs it again. This reveals
    /// closures that keep state outside the transaction.
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

    /// How often a transaction is run if the server cannot serialise it, or its
    /// connection is lost before the commit.
    static let attemptsMax = 8

    public static let partitionsMax = PostgresPartitions.countMax

    /// How many statements a connection keeps prepared before it is replaced. A
    /// server process needs some tens of kilobytes for each.
    static let preparedMax = 4000
}
