// SPDX-License-Identifier: Apache-2.0

public import Storage

/// Settings of a SQLite database.
public struct SQLiteOptions: Sendable {
    /// Is notified of every statement and commit.
    public var observer: (any StorageObserver)?
    /// Runs each writing closure, rolls it back and runs it again. This reveals
    /// closures that keep state outside the transaction.
    public var runsWritesTwice: Bool
    /// The name of a registered SQLite file system; nil for the system's own.
    public var vfs: String?
    /// How long a statement waits for another process's lock.
    public var busySeconds: Double
    /// The most pages that the file may have. Nil for SQLite's own limit.
    public var pagesMax: Int?
    /// A monotonic clock. It limits how long the writes of one commit may run
    /// together, and how long a read may last. Without it, only the number of
    /// writes is limited.
    public var milliseconds: (@Sendable () -> Int64)?

    /// Sizes of the log, in pages of 4 KiB. From `logPagesMin` on, the log is
    /// moved into the database beside the writes. From `logPagesMax` on, the
    /// writer moves the rest if that is less than a quarter of this size, even
    /// while others wait. `logPagesRest` is how few the writer moves between
    /// two writes.
    var logPagesMin = 1_000
    var logPagesMax = 8_000
    var logPagesRest = 50
    /// The size of the log file after it restarts, if a long read let it grow.
    var logBytesKept = 64 << 20
    /// How long one read of a served file may take, by `milliseconds`. While it
    /// lasts, the log cannot restart.
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
