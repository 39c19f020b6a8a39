// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts calls and, before or after one of them, kills whoever makes them:
/// that call and all later ones throw until ``revive()`` stands for a new
/// process. A class, because all that one process calls shares it.
public final class Knife: Sendable {
    public enum Side: CaseIterable, Sendable { case before, after }

    /// What every call of a dead process throws.
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

    /// Nil counts alone.
    public init(_ cut: Cut?) {
        self.cut = cut
    }

    public var calls: Int { state.withLock { $0.calls } }
    /// How often it has killed: 1 after a story that was cut.
    public var fired: Int { state.withLock { $0.fired } }

    /// A new process: calls go through again.
    public func revive() { state.withLock { $0.isDead = false } }

    /// Throws when the process is dead, also where it caught that itself.
    public func check() throws {
        if state.withLock({ $0.isDead }) { throw Died() }
    }

    /// A call inside of a transaction.
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

    /// Walks a story to its end, however often it dies on the way; `deathsMax`
    /// is one more than a cut can cause. Answers how many calls were made.
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
