// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import Synchronization

/// Connections to one database, each with a plain thread that runs what is
/// asked in libpq's blocking mode, so that no cooperative thread ever waits
/// for a server. Who asks stands in one bounded line, and is refused as `busy`
/// after a while.
///
/// `@unchecked`: everything that changes is guarded by the condition.
final class PostgresPool: @unchecked Sendable {
    /// What one caller asks.
    struct Job {
        let schema: String
        let run: (PostgresRunner) throws -> Void
        let refuse: (any Error) -> Void
    }

    private struct Waiting {
        let job: Job
        let deadline: Date
    }

    private let conninfo: String
    private let options: PostgresOptions
    private let condition = NSCondition()
    private var line: [Waiting] = []
    private var threads = 0
    private var idle = 0
    private var isClosed = false
    private var isWatched = false

    init(conninfo: String, options: PostgresOptions) {
        self.conninfo = conninfo
        self.options = options
    }

    /// Runs a job on some connection; `run` or `refuse` is called, once.
    func submit(_ job: Job) {
        condition.lock()
        let refusal = refusal()
        if refusal == nil {
            let wait = Double(options.waitMilliseconds) / 1000
            line.append(Waiting(job: job, deadline: Date(timeIntervalSinceNow: wait)))
            if idle < line.count, threads < options.connections {
                threads += 1
                start("postgres") { $0.serve() }
            }
            if !isWatched {
                isWatched = true
                start("postgres.busy") { $0.watch() }
            }
            condition.broadcast()
        }
        condition.unlock()
        if let refusal { job.refuse(refusal) }
    }

    /// Refuses who waits and everybody from here on; returns when every
    /// connection is closed.
    func close() {
        condition.lock()
        isClosed = true
        let refused = line
        line = []
        condition.broadcast()
        while threads > 0 { condition.wait() }
        condition.unlock()
        for waiting in refused { waiting.job.refuse(Self.closed) }
    }

    private func refusal() -> StorageFault? {
        if isClosed { return Self.closed }
        guard line.count < options.waitingMax else {
            return StorageFault(
                .busy, "\(options.waitingMax) callers wait for a connection already; try later")
        }
        return nil
    }

    private static let closed = StorageFault(.unavailable, "the database was closed")

    private func start(_ name: String, _ body: @escaping @Sendable (PostgresPool) -> Void) {
        let thread = Thread { body(self) }
        thread.name = name
        thread.start()
    }

    // MARK: Threads

    /// One connection's life: made when first needed, made anew when lost.
    private func serve() {
        var connection: PostgresConnection?
        while let job = next() {
            run(job, on: &connection)
            if connection?.isLost == true { connection = nil }
        }
        connection = nil
        condition.lock()
        threads -= 1
        condition.broadcast()
        condition.unlock()
    }

    private func next() -> Job? {
        condition.lock()
        defer { condition.unlock() }
        idle += 1
        defer { idle -= 1 }
        while line.isEmpty, !isClosed { condition.wait() }
        return line.isEmpty ? nil : line.removeFirst().job
    }

    /// A connection that was lost before anything could be committed has
    /// done nothing: the job is run on a new one, a few times.
    private func run(_ job: Job, on connection: inout PostgresConnection?) {
        var attempt = 1
        while true {
            do {
                let open = try connection ?? PostgresConnection(conninfo, options)
                connection = open
                if !job.schema.isEmpty { try open.use(job.schema) }
                return try job.run(PostgresRunner(connection: open, options: options))
            } catch let lost as ConnectionLost {
                let wasOpen = connection != nil
                connection = nil
                attempt += 1
                if wasOpen, !lost.mayHaveCommitted, attempt <= PostgresOptions.attemptsMax {
                    continue
                }
                return job.refuse(lost.fault(in: "PostgreSQL"))
            } catch {
                return job.refuse(Self.fault(error))
            }
        }
    }

    /// The port's word for what went wrong; a closure's own error as it is.
    static func fault(_ error: any Error) -> any Error {
        switch error {
        case let failed as StatementFailed: failed.error.fault(in: failed.name)
        case let error as ServerError: error.fault(in: "PostgreSQL")
        case is PipelineAborted:
            StorageFault(.engine, "a statement was not run, since one before it had failed")
        default: error
        }
    }

    /// Refuses those who have waited too long.
    private func watch() {
        condition.lock()
        while !isClosed {
            let now = Date(timeIntervalSinceNow: 0)
            let late = line.prefix { $0.deadline <= now }
            line.removeFirst(late.count)
            if !late.isEmpty {
                condition.unlock()
                let fault = StorageFault(
                    .busy, "no connection was free within \(options.waitMilliseconds) ms; try later"
                )
                for waiting in late { waiting.job.refuse(fault) }
                condition.lock()
            } else if let first = line.first {
                _ = condition.wait(until: first.deadline)
            } else {
                condition.wait()
            }
        }
        condition.unlock()
    }
}
