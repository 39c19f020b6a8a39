// SPDX-License-Identifier: Apache-2.0

import Storage

/// Connections to one database. Each has a plain thread that uses libpq in
/// blocking mode, so that no cooperative thread waits for a server. Callers
/// wait in one bounded queue and are rejected as `busy` after a while. A caller
/// keeps its connection for a limited time.
///
/// `@unchecked`: the condition guards everything that changes.
final class PostgresPool: @unchecked Sendable {
    /// One caller's request. `run` returns the function that answers the
    /// caller. Either that function or `refuse` is called, once.
    struct Job {
        let schema: String
        /// Whether it may hold a connection for `callMilliseconds` at most.
        let isLimited: Bool
        let ticket: PostgresTicket
        let run: (PostgresRunner) throws -> () -> Void
        let refuse: (any Error) -> Void
    }

    private struct Waiting {
        let job: Job
        let deadline: Deadline
    }

    private struct Running {
        let ticket: PostgresTicket
        let grip: PostgresGrip
        /// When its statement is cancelled, and when its connection is cut. Nil
        /// if that was done already or never happens.
        var cancelAt: Deadline?
        var cutAt: Deadline?
    }

    private let conninfo: String
    private let options: PostgresOptions
    private let condition = MonotonicCondition()
    /// There is a job. Each wakes one thread: to wake all would cost more than the job.
    private let work: MonotonicCondition
    /// The watching thread must look again.
    private let watched: MonotonicCondition
    private var line: [Waiting] = []
    private var running: [ObjectIdentifier: Running] = [:]
    private var threads = 0
    private var idle = 0
    private var isClosed = false
    private var isWatched = false
    /// When the watching thread looks again by itself. Nil if it waits for a word.
    private var nextLook: Deadline?
    private var mustBeDurable = false
    private let proof = PostgresProof()

    init(conninfo: String, options: PostgresOptions) {
        self.conninfo = conninfo
        self.options = options
        work = MonotonicCondition(under: condition)
        watched = MonotonicCondition(under: condition)
    }

    /// Runs a job on any connection. The caller is answered or rejected, once.
    func submit(_ job: Job) {
        let refusal = condition.withLock { () -> (any Error)? in
            if let refusal = self.refusal(of: job) { return refusal }
            let deadline = Deadline.after(milliseconds: options.waitMilliseconds)
            line.append(Waiting(job: job, deadline: deadline))
            if idle < line.count, threads < options.connections {
                threads += 1
                start("postgres") { $0.serve() }
            }
            if !isWatched {
                isWatched = true
                start("postgres.busy") { $0.watch() }
            }
            work.signal()
            if nextLook.map({ deadline < $0 }) ?? true { watched.signal() }
            return nil
        }
        if let refusal { job.refuse(refusal) }
    }

    /// How many callers wait for a connection.
    var waiting: Int { condition.withLock { line.count } }

    /// Removes a caller from the queue, or has its statement cancelled.
    func cancel(_ ticket: PostgresTicket) {
        ticket.cancel()
        let (waiting, grip) = condition.withLock { () -> (Waiting?, PostgresGrip?) in
            if let place = line.firstIndex(where: { $0.job.ticket === ticket }) {
                return (line.remove(at: place), nil)
            }
            return (nil, running[ObjectIdentifier(ticket)]?.grip)
        }
        waiting?.job.refuse(CancellationError())
        if let grip { PlainThread.start("postgres.cancel") { grip.cancel(ticket, .callerGone) } }
    }

    /// From now on, checks on every new connection whether its server is
    /// durable.
    func demandDurability() { condition.withLock { mustBeDurable = true } }

    /// Rejects the waiting callers and all later ones. Returns when every
    /// connection is closed.
    func close() {
        let refused = condition.withLock {
            isClosed = true
            defer { line = [] }
            work.broadcast()
            watched.broadcast()
            return line
        }
        for waiting in refused { waiting.job.refuse(Self.closed) }
        condition.withLock {
            while threads > 0 { condition.wait() }
        }
    }

    private func refusal(of job: Job) -> (any Error)? {
        if isClosed { return Self.closed }
        if job.ticket.isCancelled { return CancellationError() }
        guard line.count < options.waitingMax else {
            return StorageFault(
                .busy, "\(options.waitingMax) callers wait for a connection already; try later")
        }
        return nil
    }

    private static let closed = StorageFault(.unavailable, "the database was closed")

    private func start(_ name: String, _ body: @escaping @Sendable (PostgresPool) -> Void) {
        PlainThread.start(name) { body(self) }
    }

    // MARK: A connection's thread

    /// Serves one connection: opens it when it is first needed, and again after
    /// it was lost.
    private func serve() {
        var connection: PostgresConnection?
        while let job = next() { run(job, on: &connection)() }
        connection = nil
        condition.withLock {
            threads -= 1
            condition.broadcast()
            watched.broadcast()
        }
    }

    private func next() -> Job? {
        condition.withLock {
            idle += 1
            defer { idle -= 1 }
            while line.isEmpty, !isClosed { work.wait() }
            return line.isEmpty ? nil : line.removeFirst().job
        }
    }

    /// Runs a job. If the connection is lost before anything could be
    /// committed, nothing was done, and the job is run again on a new
    /// connection, a few times. All waits for a standby together may take one
    /// call's time.
    private func run(_ job: Job, on connection: inout PostgresConnection?) -> () -> Void {
        let latest = Deadline.after(milliseconds: options.callMilliseconds)
        for attempt in 1... {
            var wasOpen = connection != nil
            do {
                let open = try connection ?? connect()
                connection = open
                wasOpen = true
                return try turn(job, on: open, &connection)
            } catch let lost as ConnectionLost {
                connection = nil
                if wasOpen || attempt > 1, !lost.mayHaveCommitted,
                    attempt < PostgresOptions.attemptsMax, !job.ticket.isCancelled,
                    lost.moment != .confirming || !latest.isPast
                {
                    continue
                }
                return { job.refuse(lost.fault(in: "PostgreSQL")) }
            } catch {
                return { job.refuse(Self.fault(error)) }
            }
        }
        return {}
    }

    private func connect() throws -> PostgresConnection {
        let connection = try PostgresConnection(
            conninfo, options, mustBeDurable: condition.withLock { mustBeDurable })
        // This may be another server than before, whose transaction numbers
        // have other meanings.
        proof.forget()
        return connection
    }

    /// Runs the job's turn on a connection. Other threads may cancel it while
    /// it lasts.
    private func turn(
        _ job: Job, on open: PostgresConnection, _ connection: inout PostgresConnection?
    ) throws -> () -> Void {
        begin(job, open.grip)
        let outcome = Result {
            if job.ticket.isCancelled { throw CancellationError() }
            return try job.run(
                PostgresRunner(
                    connection: open, options: options, schema: job.schema,
                    proof: job.isLimited ? proof.turn() : nil))
        }
        let reason = end(job, open)
        if open.isLost || open.isWornOut { connection = nil }
        do { return try outcome.get() } catch {
            guard let reason, Self.mayComeOfCancelling(error) else { throw error }
            throw reason.error(options)
        }
    }

    private func begin(_ job: Job, _ grip: PostgresGrip) {
        grip.begin(job.ticket)
        let cancelAt = Deadline.after(milliseconds: options.callMilliseconds)
        let cutAt = cancelAt.adding(milliseconds: options.graceMilliseconds)
        condition.withLock {
            running[ObjectIdentifier(job.ticket)] = Running(
                ticket: job.ticket, grip: grip, cancelAt: job.isLimited ? cancelAt : nil,
                cutAt: job.isLimited ? cutAt : nil)
        }
    }

    private func end(_ job: Job, _ open: PostgresConnection) -> PostgresGrip.Reason? {
        condition.withLock { running[ObjectIdentifier(job.ticket)] = nil }
        return open.grip.end(isLost: open.isLost)
    }

    /// Whether an error can be the result of a cancelled statement or a cut
    /// connection. An unknown outcome of a commit is reported as such, and a
    /// closure's own error is passed on unchanged.
    private static func mayComeOfCancelling(_ error: any Error) -> Bool {
        switch error {
        case let lost as ConnectionLost: !lost.mayHaveCommitted
        case is PostgresGrip.Reason, is PipelineAborted: true
        case let failed as StatementFailed: failed.error.state == "57014"
        case let error as ServerError: error.state == "57014"
        default: false
        }
    }

    /// Translates an error to the port's. A closure's own error is returned
    /// unchanged.
    static func fault(_ error: any Error) -> any Error {
        switch error {
        case let failed as StatementFailed: failed.error.fault(in: failed.name)
        case let error as ServerError: error.fault(in: "PostgreSQL")
        case is PipelineAborted:
            StorageFault(.engine, "a statement was not run, since one before it had failed")
        default: error
        }
    }

    // MARK: The watching thread

    /// Rejects callers that have waited too long, and ends turns that have
    /// lasted too long.
    private func watch() {
        condition.lock()
        while !isClosed || threads > 0 {
            let late = line.prefix { $0.deadline.isPast }
            line.removeFirst(late.count)
            let (tooLong, cuts) = takeOverdue()
            if !late.isEmpty || !tooLong.isEmpty || !cuts.isEmpty {
                condition.unlock()
                refuse(late)
                for turn in tooLong {
                    PlainThread.start("postgres.cancel") {
                        turn.grip.cancel(turn.ticket, .tooLong)
                    }
                }
                for turn in cuts { turn.grip.sever(turn.ticket) }
                condition.lock()
            } else {
                nextLook = nextDeadline()
                if let nextLook { _ = watched.wait(until: nextLook) } else { watched.wait() }
            }
        }
        condition.unlock()
    }

    private func refuse(_ late: ArraySlice<Waiting>) {
        let fault = StorageFault(
            .busy, "no connection was free within \(options.waitMilliseconds) ms; try later")
        for waiting in late { waiting.job.refuse(fault) }
    }

    private func takeOverdue() -> (cancelled: [Running], cut: [Running]) {
        var overdue: (cancelled: [Running], cut: [Running]) = ([], [])
        for (key, turn) in running {
            if let cancelAt = turn.cancelAt, cancelAt.isPast {
                running[key]?.cancelAt = nil
                overdue.cancelled.append(turn)
            }
            if let cutAt = turn.cutAt, cutAt.isPast {
                running[key]?.cutAt = nil
                overdue.cut.append(turn)
            }
        }
        return overdue
    }

    /// The time of the next check. A turn that begins in the meantime has a
    /// later deadline.
    private func nextDeadline() -> Deadline? {
        let turns = running.values.compactMap { $0.cancelAt ?? $0.cutAt }
        let soonest = (turns + [line.first?.deadline].compactMap(\.self)).min()
        let begun = Deadline.after(milliseconds: options.callMilliseconds)
        return threads == 0 ? soonest : min(soonest ?? begun, begun)
    }
}
