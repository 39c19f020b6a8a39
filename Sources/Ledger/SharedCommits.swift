// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// Calls of one line share commits: those that come while a commit of the line is under
/// way are written together by the next one. So a line of which many calls are made at once
/// is locked once for all of them, and they wait for the disk once.
///
/// A call waits for the commit under way and for its own. Lines do not wait for each other,
/// and other processes take part by the database's own locks.
final class SharedCommits<Entry: Sendable, Answer: Sendable>: Sendable {
    /// Writes entries in one commit, in their order, and returns the answer to each. An
    /// answer that is an error has written nothing. Throws if nothing was written, or if
    /// nobody knows.
    typealias Commit = @Sendable ([Entry]) async throws -> [Result<Answer, any Error>]

    private let lines = Mutex(Lines<Entry, Answer>())

    /// Writes an entry, alone or with others of its line, in the commit of any of them.
    /// Entries with the same name are never in one commit. If the commit of several fails
    /// because of the database, all of them fail; if it fails otherwise, each is written
    /// alone, so that none fails because of another. If the caller is cancelled while it
    /// waits, throws `CancellationError`, and nothing was written.
    func write(
        _ entry: Entry, named name: String, of line: String, _ commit: Commit
    ) async throws -> Answer {
        let line = Array(line.utf8)
        switch await turn(of: entry, Array(name.utf8), line) {
        case .leads(let others): return try await lead(entry, others, line, commit)
        case .alone: return try await commit([entry])[0].get()
        case .answered(let answer): return try answer.get()
        }
    }

    /// How many calls wait for a commit of their line.
    var waiting: Int { lines.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

    private func turn(
        of entry: Entry, _ name: [UInt8], _ line: [UInt8]
    ) async -> SharedTurn<Entry, Answer> {
        let id = lines.withLock { $0.newID() }
        defer { lines.withLock { _ = $0.cancelled.remove(id) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { resuming in
                let waiter = Waiter(id: id, name: name, entry: entry, resuming: resuming)
                let turn = lines.withLock { lines -> SharedTurn<Entry, Answer>? in
                    if lines.begin(line) { return .leads([]) }
                    // A call that begins after its task was cancelled is a clean-up.
                    if Task.isCancelled { return .alone }
                    lines.waiting[line]?.append(waiter)
                    return nil
                }
                if let turn { resuming.resume(returning: turn) }
            }
        } onCancel: {
            let waiter = lines.withLock { $0.cancel(id, of: line) }
            waiter?.resuming.resume(returning: .answered(.failure(CancellationError())))
        }
    }

    private func lead(
        _ entry: Entry, _ others: [Waiter<Entry, Answer>], _ line: [UInt8], _ commit: Commit
    ) async throws -> Answer {
        defer {
            if let (next, others) = lines.withLock({ $0.next(of: line) }) {
                next.resuming.resume(returning: .leads(others))
            }
        }
        let answers: [Result<Answer, any Error>]
        do { answers = try await commit([entry] + others.map(\.entry)) } catch {
            guard failed(error, others, line) else { throw error }
            return try await commit([entry])[0].get()
        }
        precondition(answers.count == 1 + others.count, "each entry has an answer")
        for (other, answer) in zip(others, answers.dropFirst()) {
            other.resuming.resume(returning: .answered(answer))
        }
        return try answers[0].get()
    }

    /// Sends the others of a commit that failed on their way. Returns whether the caller's
    /// own entry is to be written alone.
    private func failed(
        _ error: any Error, _ others: [Waiter<Entry, Answer>], _ line: [UInt8]
    ) -> Bool {
        let code = (error as? StorageFault)?.code
        if let code, Self.ofDatabase.contains(code) {
            for other in others { other.resuming.resume(returning: .answered(.failure(error))) }
            return false
        }
        // A caller who is gone says nothing about the others.
        let isGone = error is CancellationError
        let cancelled = lines.withLock { $0.putBack(others, alone: !isGone, of: line) }
        for other in cancelled {
            other.resuming.resume(returning: .answered(.failure(CancellationError())))
        }
        return !isGone && !others.isEmpty
    }

    /// Faults that have nothing to do with what is written.
    private static var ofDatabase: Set<StorageFault.Code> {
        [.busy, .unavailable, .outcomeUnknown, .full, .readOnly]
    }
}

/// What a call that wants to write does next.
private enum SharedTurn<Entry: Sendable, Answer: Sendable>: Sendable {
    /// It writes its own entry and those of others, which wait for it.
    case leads([Waiter<Entry, Answer>])
    /// It writes its own entry.
    case alone
    /// Another call has written its entry, or it was cancelled.
    case answered(Result<Answer, any Error>)
}

/// A call that waits for its turn.
private struct Waiter<Entry: Sendable, Answer: Sendable>: Sendable {
    let id: Int
    let name: [UInt8]
    let entry: Entry
    let resuming: CheckedContinuation<SharedTurn<Entry, Answer>, Never>
    /// Whether it is written in a commit of its own.
    var isAlone = false
}

/// The calls that wait, in the order in which they came. By bytes, because texts that
/// Swift compares as equal may be names of two accounts.
private struct Lines<Entry: Sendable, Answer: Sendable> {
    /// The most entries of one commit.
    private static var entriesMax: Int { 32 }

    /// Of each line that has a commit under way.
    var waiting: [[UInt8]: [Waiter<Entry, Answer>]] = [:]
    /// Calls that were cancelled while another one wrote for them.
    var cancelled: Set<Int> = []
    private var lastID = 0

    mutating func newID() -> Int {
        lastID += 1
        return lastID
    }

    /// Whether the line has no commit under way. From now on it has one.
    mutating func begin(_ line: [UInt8]) -> Bool {
        guard waiting[line] == nil else { return false }
        waiting[line] = []
        return true
    }

    /// Returns the call that was cancelled if it still waits.
    mutating func cancel(_ id: Int, of line: [UInt8]) -> Waiter<Entry, Answer>? {
        guard let place = waiting[line]?.firstIndex(where: { $0.id == id }) else {
            cancelled.insert(id)
            return nil
        }
        return waiting[line]?.remove(at: place)
    }

    /// Puts calls first in their line again, each alone or not. Returns those that were
    /// cancelled meanwhile, which wait no more.
    mutating func putBack(
        _ waiters: [Waiter<Entry, Answer>], alone: Bool, of line: [UInt8]
    ) -> [Waiter<Entry, Answer>] {
        let left = waiters.filter { !cancelled.contains($0.id) }.map { waiter in
            var waiter = waiter
            waiter.isAlone = alone
            return waiter
        }
        waiting[line, default: []].insert(contentsOf: left, at: 0)
        return waiters.filter { cancelled.contains($0.id) }
    }

    /// Returns who writes the next commit, and with whom. Nil if nobody waits: then the
    /// line has no commit under way.
    mutating func next(
        of line: [UInt8]
    ) -> (next: Waiter<Entry, Answer>, others: [Waiter<Entry, Answer>])? {
        var (together, later): ([Waiter<Entry, Answer>], [Waiter<Entry, Answer>]) = ([], [])
        var names: Set<[UInt8]> = []
        for waiter in waiting[line] ?? [] {
            let mayJoin = together.allSatisfy { !$0.isAlone && !waiter.isAlone }
            if mayJoin, together.count < Self.entriesMax, names.insert(waiter.name).inserted {
                together.append(waiter)
            } else {
                later.append(waiter)
            }
        }
        guard let next = together.first else {
            waiting[line] = nil
            return nil
        }
        waiting[line] = later
        return (next, Array(together.dropFirst()))
    }
}
