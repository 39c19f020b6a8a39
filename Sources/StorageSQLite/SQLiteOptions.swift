// SPDX-License-Identifier: Apache-2.0

public import Storage

/// How a SQLite database is opened.
public struct SQLiteOptions: Sendable {
    /// Hears every statement and commit.
    public var observer: (any StorageObserver)?
    /// Runs each writing closure, rolls it back and runs it again, so that
    /// a closure which keeps something outside the transaction is found out.
    public var runsWritesTwice: Bool
    /// The name of a registered SQLite file system; nil for the system's own.
    public var vfs: String?
    /// How long a statement waits for another process's lock.
    public var busySeconds: Double
    /// The most pages the file may grow to; nil for SQLite's own bound.
    public var pagesMax: Int?
    /// A monotonic clock that bounds how long the writes of one commit may
    /// run together, and how long a read may last; without it the number of
    /// writes alone is bounded.
    public var milliseconds: (@Sendable () -> Int64)?

    /// Pages of log, of 4 KiB, from which on they are moved into the database
    /// beside the writes; from which on the writer moves what is left, whoever
    /// waits, where that is less than a quarter; and how few it moves between
    /// two writes.
    var logPagesMin = 1_000
    var logPagesMax = 8_000
    var logPagesRest = 50
    /// How large the log's file stays when it begins anew, after a long read
    /// let it grow.
    var logBytesKept = 64 << 20
    /// How long one read of a served file may take, by `milliseconds`: as long
    /// as it lasts, the log cannot begin anew.
    var readMilliseconds: Int64 = 30_000

    public init(
        observer: (any StorageObserver)? = nil, runsWritesTwice: Bool = false,
        vfs: String? = nil, busySeconds: Double = 5, pagesMax: Int? = nil,
        milliseconds: (@Sendable () -> Int64)? = nil
    ) {
        self.observer = observer
        self.runsWritesTwice = runsWritesTwice
        self.vfs = vfs
        self.busySeconds = busySeconds
        self.pagesMax = pagesMax
        self.milliseconds = milliseconds
    }
}
