// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage

/// Plain threads that take jobs from one queue. Each has its own connection. So
/// no cooperative thread of Swift waits for a disk.
///
/// A class, because it is one shared queue. `condition` guards its state, which
/// makes it safe to share.
final class Lane: @unchecked Sendable {
    /// The most jobs that may wait. Further callers are rejected at once,
    /// because they would wait too long.
    static let waitingMax = 10_000

    private let condition = NSCondition()
    private let name: String
    private let threadsMax: Int
    /// Runs on each new thread. Serves this lane until ``next(atMost:)``
    /// returns nothing.
    private let serve: @Sendable (Lane) -> Void
    private var waiting: [any Job] = []
    private var threads = 0
    private var idle = 0
    private var isClosed = false
    private var whenEnded: [@Sendable () -> Void] = []

    init(_ name: String, threads: Int, serve: @escaping @Sendable (Lane) -> Void) {
        self.name = name
        threadsMax = threads
        self.serve = serve
    }

    /// Adds a job to the queue, and starts a thread if none is free and another
    /// is allowed. Rejected jobs fail at once.
    func add(_ job: any Job) {
        condition.lock()
        let refusal: StorageFault?
        var wakes = false
        if isClosed {
            refusal = StorageFault(.unavailable, "this storage was closed")
        } else if waiting.count >= Self.waitingMax {
            refusal = StorageFault(
                .busy, "\(waiting.count) wait for this database; ask again in a moment")
        } else {
            refusal = nil
            waiting.append(job)
            if idle > 0 {
                wakes = true
            } else if threads < threadsMax {
                startThread()
            }
        }
        condition.unlock()
        // Not under the lock, which the woken thread takes first.
        if wakes { condition.signal() }
        if let refusal { job.fail(refusal) }
    }

    /// Starts a thread before there is a job for it.
    func start() {
        condition.lock()
        startThread()
        condition.unlock()
    }

    /// Waits until there is at least one job, and returns the waiting ones.
    /// Returns nothing once the lane is closed.
    func next(atMost count: Int) -> [any Job] {
        condition.lock()
        defer { condition.unlock() }
        while waiting.isEmpty, !isClosed {
            idle += 1
            condition.wait()
            idle -= 1
        }
        let jobs = Array(waiting.prefix(count))
        waiting.removeFirst(jobs.count)
        return jobs
    }

    /// Puts jobs back that did not fit into a group. They come first in the
    /// next one.
    func putBack(_ jobs: some Collection<any Job>) {
        condition.lock()
        waiting.insert(contentsOf: jobs, at: 0)
        condition.unlock()
    }

    var waitingCount: Int {
        condition.lock()
        defer { condition.unlock() }
        return waiting.count
    }

    /// Ends each thread after its current job. Waiting jobs fail. Calls `ended`
    /// when the last thread has ended.
    func close(_ ended: @escaping @Sendable () -> Void = {}) {
        condition.lock()
        isClosed = true
        let failing = waiting
        waiting = []
        let isOver = threads == 0
        if !isOver { whenEnded.append(ended) }
        condition.broadcast()
        condition.unlock()
        for job in failing {
            job.fail(StorageFault(.unavailable, "this storage was closed"))
        }
        if isOver { ended() }
    }

    private func startThread() {
        threads += 1
        let thread = Thread { [self] in
            serve(self)
            threadEnded()
        }
        thread.name = name
        thread.start()
    }

    private func threadEnded() {
        condition.lock()
        threads -= 1
        // This thread could not serve. Another one takes the jobs that came in
        // the meantime.
        let isOver = threads == 0
        if isOver, !isClosed, !waiting.isEmpty {
            startThread()
            condition.unlock()
            return
        }
        let ended = isOver && isClosed ? whenEnded : []
        if !ended.isEmpty { whenEnded = [] }
        condition.unlock()
        for word in ended { word() }
    }
}

/// A closure to run, with the caller that waits for it.
protocol Job: AnyObject, Sendable {
    var isReading: Bool { get }
    /// Runs the closure and keeps its answer or fault. Returns whether its
    /// writes may be committed.
    func run(_ transaction: SQLiteTransaction) -> Bool
    /// Returns the kept answer or fault to the caller.
    func answer()
    /// Returns a fault to the caller in place of the kept answer.
    func fail(_ fault: any Error)
    /// What the closure threw.
    var failure: (any Error)? { get }
}

/// A closure with its caller. A class, because its answer comes later. It is
/// used by one thread at a time, which makes it safe to send.
final class Pending<Answer: Sendable>: Job, @unchecked Sendable {
    let isReading: Bool
    private let body: @Sendable (any Writing) throws -> Answer
    private let continuation: CheckedContinuation<Answer, any Error>
    private var outcome: Result<Answer, any Error>?

    init(
        isReading: Bool, _ continuation: CheckedContinuation<Answer, any Error>,
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) {
        self.isReading = isReading
        self.continuation = continuation
        self.body = body
    }

    func run(_ transaction: SQLiteTransaction) -> Bool {
        defer { transaction.end() }
        outcome = Result {
            let answer = try body(transaction)
            try transaction.checkSound()
            return answer
        }
        return failure == nil
    }

    var failure: (any Error)? {
        guard case .failure(let error) = outcome else { return nil }
        return error
    }

    func answer() {
        continuation.resume(
            with: outcome ?? .failure(StorageFault(.engine, "a transaction gave no answer")))
    }

    func fail(_ fault: any Error) {
        continuation.resume(throwing: fault)
    }
}
