// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Synchronization

/// Where passwords are hashed: off the threads that serve everything else, by
/// a few workers, behind a queue that is bounded by the work in it. A request
/// beyond the bound is refused at once, and work whose request was cancelled
/// while it waited is dropped. A class, because all realms of a store share it.
final class PasswordQueue: Sendable {
    /// Work in the queue for each worker, in units of ``PasswordCost/work``:
    /// eight hashes at the standard cost, a few seconds.
    static let workPerWorker = 8 * PasswordCost.standard.work
    /// One holder's part of the queue: a quarter.
    static let holderParts = 4
    /// Jobs in the queue, however cheap.
    static let jobsMax = 4096
    static let retryAfterSeconds = 2

    /// A holder's name, compared by bytes.
    private typealias Holder = Identifier<PasswordQueue, String>

    private struct Job: Sendable {
        let holder: Holder?
        let work: Int
        /// Nil until its request waits for the answer.
        var run: (@Sendable () -> Void)?
        var drop: (@Sendable () -> Void)?
    }

    private struct State {
        var nextNumber = 0
        var running = 0
        var workDone = 0
        /// All jobs that are admitted and have not ended.
        var jobs: [Int: Job] = [:]
        /// Those that no worker has begun, oldest first.
        var line: [Int] = []

        /// How many jobs of each holder in the queue were begun.
        var turns: [Holder?: Int] = [:]

        /// Holders take turns, so that many jobs of one hold no other up: the oldest
        /// job of those holders that had the fewest turns.
        var nextPlace: Int {
            line.indices.min { left, right in
                turnsBefore(line[left]) < turnsBefore(line[right])
            } ?? 0
        }

        private func turnsBefore(_ number: Int) -> Int {
            jobs[number].flatMap { turns[$0.holder] } ?? 0
        }

        /// Who has no job in the queue any more begins anew.
        mutating func forgetTurns() {
            let holders = Set(jobs.values.map(\.holder))
            turns = turns.filter { holders.contains($0.key) }
        }

        func work(of holder: Holder?) -> Int {
            jobs.values.reduce(0) { $0 + ($1.holder == holder ? $1.work : 0) }
        }
    }

    private let workers: Int
    private let state = Mutex(State())
    private let threads = DispatchQueue(label: "shopkeeper.passwords", attributes: .concurrent)

    init(workers: Int) {
        precondition(workers > 0, "somebody has to hash")
        self.workers = workers
    }

    /// How many jobs are admitted and have not ended.
    var count: Int { state.withLock { $0.jobs.count } }

    /// How many of them no worker has begun.
    var waiting: Int { state.withLock(\.line.count) }

    /// The work of all jobs that a worker has done.
    var workDone: Int { state.withLock(\.workDone) }

    /// Runs `body` on a worker's thread. `holder` is the account's device or the
    /// client's address whose part of the queue is used; nil for operators, whose
    /// work is not refused. Refusal: `passwordsBusy`.
    func run<Value: Sendable>(
        _ cost: PasswordCost, for holder: String?,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let number = try admit(Job(holder: holder.map { Holder($0) }, work: cost.work))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait(
                    number, run: { continuation.resume(with: Result(catching: body)) },
                    drop: { continuation.resume(throwing: CancellationError()) })
            }
        } onCancel: {
            drop(number)
        }
    }

    private func admit(_ job: Job) throws -> Int {
        let most = workers * Self.workPerWorker
        return try state.withLock { state in
            if let holder = job.holder {
                let all = state.jobs.values.reduce(0) { $0 + ($1.holder == nil ? 0 : $1.work) }
                let own = state.work(of: holder)
                let isOver =
                    (all > 0 && all + job.work > most)
                    || (own > 0 && own + job.work > most / Self.holderParts)
                guard !isOver, state.jobs.count < Self.jobsMax else { throw Self.busy }
            }
            state.nextNumber += 1
            state.jobs[state.nextNumber] = job
            return state.nextNumber
        }
    }

    private func wait(
        _ number: Int, run: @escaping @Sendable () -> Void, drop: @escaping @Sendable () -> Void
    ) {
        let isDropped = state.withLock { state in
            guard state.jobs[number] != nil else { return true }
            state.jobs[number]?.run = run
            state.jobs[number]?.drop = drop
            state.line.append(number)
            return false
        }
        if isDropped { drop() } else { beginNext() }
    }

    /// Takes a job out that no worker has begun.
    private func drop(_ number: Int) {
        let job: Job? = state.withLock { state in
            guard let job = state.jobs[number] else { return nil }
            if job.run != nil {
                guard let place = state.line.firstIndex(of: number) else { return nil }
                state.line.remove(at: place)
            }
            state.jobs[number] = nil
            return job
        }
        job?.drop?()
    }

    private func beginNext() {
        let begun: (number: Int, work: Int, run: @Sendable () -> Void)? = state.withLock { state in
            guard state.running < workers, !state.line.isEmpty else { return nil }
            let number = state.line.remove(at: state.nextPlace)
            guard let job = state.jobs[number], let run = job.run else { return nil }
            state.running += 1
            state.turns[job.holder, default: 0] += 1
            return (number, job.work, run)
        }
        guard let begun else { return }
        threads.async { [self] in
            begun.run()
            state.withLock { state in
                state.jobs[begun.number] = nil
                state.running -= 1
                state.workDone += begun.work
                state.forgetTurns()
            }
            beginNext()
        }
    }

    private static var busy: Refusal {
        var refusal = Refusal(
            .tooMany, code: "passwordsBusy", "Too many passwords are being checked.",
            field: "password", rule: "as many at once as are checked within a few seconds",
            remedy: "send the same request again in \(retryAfterSeconds) s")
        refusal.retryAfterSeconds = retryAfterSeconds
        return refusal
    }
}
