// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// Counts what a ledger asks of its storage, every read and commit and every
/// statement of a commit, and dies at one of them: that one and all later
/// ones throw until somebody opens the ledger anew. A class, because the
/// storages of one process share it.
final class Knife: Sendable {
    enum Side: CaseIterable { case before, after }
    struct Died: Error {}

    private struct State {
        var calls = 0
        var fired = 0
        var isDead = false
    }

    private let cut: (call: Int, side: Side)?
    private let state = Mutex(State())

    init(_ cut: (call: Int, side: Side)?) {
        self.cut = cut
    }

    var calls: Int { state.withLock { $0.calls } }
    var fired: Int { state.withLock { $0.fired } }

    /// A new process: calls go through again.
    func revive() { state.withLock { $0.isDead = false } }

    func inside<Answer>(_ body: () throws -> Answer) throws -> Answer {
        let number = try enter()
        let answer = Result { try body() }
        try leave(number)
        return try answer.get()
    }

    func call<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        let number = try enter()
        let answer: Result<Answer, any Error>
        do { answer = .success(try await body()) } catch { answer = .failure(error) }
        try leave(number)
        return try answer.get()
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

/// A storage under the knife.
struct CutStorage: Storage {
    let storage: any Storage
    let knife: Knife

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        try await knife.call { try await storage.read(body) }
    }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        let knife = knife
        return try await knife.call {
            try await storage.write { try body(CutWriting(writing: $0, knife: knife)) }
        }
    }

    func close() async throws {}
}

private struct CutWriting: Writing {
    let writing: any Writing
    let knife: Knife

    func query(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
        try knife.inside { try writing.query(statement, values) }
    }

    func execute(_ statement: Statement, _ values: [SQLValue]) throws {
        try knife.inside { try writing.execute(statement, values) }
    }

    func databaseTime() throws -> Int64 { try writing.databaseTime() }
}
