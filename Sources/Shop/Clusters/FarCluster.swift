// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Synchronization

/// A realm's database on a cluster other than the home. The first caller that
/// needs it opens it, and further ones try again until it succeeds. So a
/// cluster that is down when a server starts affects only its own customers. A
/// class, because all users of the realm share the open database.
final class FarCluster: Storage {
    /// The cluster's buckets.
    let buckets: BucketRanges
    var name: String { buckets.description }

    private struct State {
        var opening: Task<any Storage, any Error>?
        var open: (any Storage)?
        var isClosed = false
        /// Whether the last call could not reach the cluster.
        var isAway = false
        /// Listeners for words that came before the database was open.
        var listeners: [AsyncStream<Wake>.Continuation] = []
        var forwarding: [Task<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let opener: @Sendable () async throws -> any Storage

    /// `opener` returns the storage when it can be used: after its schema was
    /// migrated, its buckets were verified and its house rows copied.
    init(_ buckets: BucketRanges, opener: @escaping @Sendable () async throws -> any Storage) {
        self.buckets = buckets
        self.opener = opener
    }

    /// Whether the last call could not reach the cluster. Reading this does not
    /// ask the cluster, so monitoring does not wait for a cluster that is down.
    var isAway: Bool { state.withLock { $0.isAway } }

    /// Opens the database once for all concurrent callers.
    @discardableResult
    func opened() async throws -> any Storage {
        let task = try state.withLock { state -> Task<any Storage, any Error> in
            if state.isClosed { throw StorageFault(.unavailable, "cluster \(name) is closed") }
            if let open = state.open { return Task { open } }
            if let opening = state.opening { return opening }
            let opening = Task { try await self.openNow() }
            state.opening = opening
            return opening
        }
        return try await watched { try await task.value }
    }

    private func openNow() async throws -> any Storage {
        do {
            let storage = try await opener()
            let isClosed = state.withLock { state in
                state.opening = nil
                if !state.isClosed { state.open = storage }
                return state.isClosed
            }
            guard !isClosed else {
                try? await storage.close()
                throw StorageFault(.unavailable, "cluster \(name) is closed")
            }
            forward(storage)
            return storage
        } catch {
            state.withLock { $0.opening = nil }
            throw error
        }
    }

    func read<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        let storage = try await use()
        return try await watched { try await storage.read(body) }
    }

    func lookUp<Answer: Sendable>(
        _ body: @escaping @Sendable (any Reading) throws -> Answer
    ) async throws -> Answer {
        let storage = try await use()
        return try await watched { try await storage.lookUp(body) }
    }

    func find(_ statement: Statement, _ values: [SQLValue]) async throws -> [Row] {
        let storage = try await use()
        return try await watched { try await storage.find(statement, values) }
    }

    func write<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        let storage = try await use()
        return try await watched { try await storage.write(body) }
    }

    private func use() async throws -> any Storage {
        if let open = state.withLock({ $0.open }) { return open }
        return try await opened()
    }

    private func watched<Answer: Sendable>(
        _ body: () async throws -> Answer
    ) async throws -> Answer {
        do {
            let answer = try await body()
            state.withLock { $0.isAway = false }
            return answer
        } catch let fault as StorageFault {
            state.withLock { $0.isAway = fault.code == .unavailable }
            throw StorageFault(fault.code, "cluster \(name): \(fault.reason)")
        }
    }

    /// Sends a word. Before the database is open, there are no listeners that
    /// need it.
    func wake(_ word: String) { state.withLock { $0.open }?.wake(word) }

    func wakes() -> AsyncStream<Wake> {
        let open = state.withLock { $0.open }
        if let open { return open.wakes() }
        let (stream, listener) = AsyncStream.makeStream(of: Wake.self)
        state.withLock { $0.listeners.append(listener) }
        if let late = state.withLock({ $0.open }) { forward(late) }
        return stream
    }

    /// Connects the early listeners, which first read again.
    private func forward(_ storage: any Storage) {
        state.withLock { state in
            for listener in state.listeners {
                let wakes = storage.wakes()
                state.forwarding.append(
                    Task {
                        listener.yield(.missed)
                        for await wake in wakes { listener.yield(wake) }
                        listener.finish()
                    })
            }
            state.listeners = []
        }
    }

    func close() async throws {
        let (open, opening, listeners, forwarding) = state.withLock { state in
            defer {
                state.isClosed = true
                (state.open, state.listeners, state.forwarding) = (nil, [], [])
            }
            return (state.open, state.opening, state.listeners, state.forwarding)
        }
        for listener in listeners { listener.finish() }
        for task in forwarding { task.cancel() }
        // A task that is still opening the database finds this closed, and
        // closes what it has opened.
        if open == nil, let opening { _ = await opening.result }
        try await open?.close()
    }
}
