// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Synchronization

/// Does long work on a few worker threads, separate from those that serve
/// requests. The queue is limited by the work in it. Requests beyond the limit
/// are refused at once, and a job whose request was cancelled while it waited
/// is dropped. A class, because all realms of a store share it.
final class WorkQueue: Sendable {
    /// One holder may use a quarter of the queue.
    static let holderParts = 4
    /// The most jobs in the queue, whatever their work.
    static let jobsMax = 4096

    /// A holder's name, compared by bytes.
    private typealias Holder = Identifier<WorkQueue, String>

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
        /// All admitted jobs that have not ended.
        var jobs: [Int: Job] = [:]
        /// The jobs that no worker has begun, oldest first.
        var line: [Int] = []

        /// How many jobs of each holder in the queue were begun.
        var turns: [Holder?: Int] = [:]

        /// The oldest job of the holders with the fewest turns. So holders take
        /// turns, and many jobs of one do not delay the others.
        var nextPlace: Int {
            line.indices.min { left, right in
                turnsBefore(line[left]) < turnsBefore(line[right])
            } ?? 0
        }

        private func turnsBefore(_ number: Int) -> Int {
            jobs[number].flatMap { turns[$0.holder] } ?? 0
        }

        /// Removes the turns of holders without a job in the queue.
        mutating func forgetTurns() {
            let holders = Set(jobs.values.map(\.holder))
            turns = turns.filter { holders.contains($0.key) }
        }

        func work(of holder: Holder?) -> Int {
            jobs.values.reduce(0) { $0 + ($1.holder == holder ? $1.work : 0) }
        }
    }

    private let workers: Int
    private let workPerWorker: Int
    private let busy: Refusal
    private let state = Mutex(State())
    private let threads: DispatchQueue

    /// `workPerWorker`: the most work in the queue for each worker. `busy`: the
    /// refusal of what is beyond it.
    init(_ name: String, workers: Int, workPerWorker: Int, busy: Refusal) {
        precondition(workers > 0, "at least one worker works")
        self.workers = workers
        self.workPerWorker = workPerWorker
        self.busy = busy
        threads = DispatchQueue(label: "shopkeeper.\(name)", attributes: .concurrent)
    }

    /// The number of admitted jobs that have not ended.
    var count: Int { state.withLock { $0.jobs.count } }

    /// The number of jobs that no worker has begun.
    var waiting: Int { state.withLock(\.line.count) }

    /// The work of all jobs that workers have done.
    var workDone: Int { state.withLock(\.workDone) }

    /// Runs `body` on a worker's thread. `holder` is the one whose share of the
    /// queue is used. Nil for jobs that are not refused. Throws the refusal of
    /// what is too much.
    func run<Value: Sendable>(
        _ work: Int, for holder: String?, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await run(try admit(work, for: holder), body)
    }

    /// Reserves a place, for ``run(_:_:)`` or ``leave(_:)``. Throws the refusal of
    /// what is too much.
    func admit(_ work: Int, for holder: String?) throws -> WorkPlace {
        WorkPlace(number: try admit(Job(holder: holder.map { Holder($0) }, work: work)))
    }

    /// Gives back a place in which nothing runs. Without effect after its job ended.
    func leave(_ place: WorkPlace) { drop(place.number) }

    /// Runs `body` in a reserved place, which is free afterwards.
    func run<Value: Sendable>(
        _ place: WorkPlace, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let number = place.number
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
        let most = workers * workPerWorker
        return try state.withLock { state in
            if let holder = job.holder {
                let all = state.jobs.values.reduce(0) { $0 + ($1.holder == nil ? 0 : $1.work) }
                let own = state.work(of: holder)
                let isOver =
                    (all > 0 && all + job.work > most)
                    || (own > 0 && own + job.work > most / Self.holderParts)
                guard !isOver, state.jobs.count < Self.jobsMax else { throw busy }
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

    /// Removes a job that no worker has begun.
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
}

/// A reserved place in a ``WorkQueue``.
struct WorkPlace: Sendable {
    fileprivate let number: Int
}
