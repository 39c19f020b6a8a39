// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts calls, and kills their process before or after one of them: that call
/// and all later ones throw until ``revive()`` represents a new process. A
/// class, because all callers in one process share it.
public final class Knife: Sendable {
    public enum Side: CaseIterable, Sendable { case before, after }

    /// The error of every call in a dead process.
    public struct Died: Error {}

    /// The call that dies, counted from 0.
    public typealias Cut = (call: Int, side: Side)

    private struct State {
        var calls = 0
        var fired = 0
        var isDead = false
    }

    private let cut: Cut?
    private let state = Mutex(State())

    /// Nil for counting only.
    public init(_ cut: Cut?) {
        self.cut = cut
    }

    public var calls: Int { state.withLock { $0.calls } }
    /// How often it has killed. 1 after a story with a cut.
    public var fired: Int { state.withLock { $0.fired } }

    /// Represents a new process: calls succeed again.
    public func revive() { state.withLock { $0.isDead = false } }

    /// Throws if the process is dead, even if the process caught that error.
    public func check() throws {
        if state.withLock({ $0.isDead }) { throw Died() }
    }

    /// A call inside a transaction.
    public func inside<Answer>(_ body: () throws -> Answer) throws -> Answer {
        let number = try enter()
        let answer = Result { try body() }
        try leave(number)
        return try answer.get()
    }

    public func call<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        let number = try enter()
        let answer: Result<Answer, any Error>
        do { answer = .success(try await body()) } catch { answer = .failure(error) }
        try leave(number)
        return try answer.get()
    }

    /// Runs a story to its end, however often it dies. `deathsMax` is one more
    /// than a cut can cause. Returns how many calls were made.
    public func walk(deathsMax: Int, _ story: () async throws -> Void) async throws -> Int {
        var deaths = 0
        while true {
            do {
                try await story()
                return calls
            } catch let died as Died {
                deaths += 1
                guard deaths < deathsMax else { throw died }
                revive()
            }
        }
    }

    private func enter() throws -> Int {
        try state.withLock { state in
            guard !state.isDead else { throw Died() }
            let number = state.calls
            state.calls += 1
            if let cut, cut.call == number, cut.side == .before { throw die(&state) }
            return number
        }
    }

    private func leave(_ number: Int) throws {
        try state.withLock { state in
            if let cut, cut.call == number { throw die(&state) }
        }
    }

    private func die(_ state: inout State) -> Died {
        state.fired += 1
        state.isDead = true
        return Died()
    }
}
