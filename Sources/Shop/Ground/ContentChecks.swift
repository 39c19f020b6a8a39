// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The checks of uploads that run in this process. A large package takes longer
/// than a request may take, so that its check outlives the request that began it,
/// and a repeated request waits for the same check. A class, because all requests
/// of a realm share it.
final class ContentChecks: Sendable {
    private let running = Mutex<[String: Task<Void, any Error>]>([:])

    /// Returns the check of an upload, which begins now if it does not run.
    func task(
        _ name: String, _ body: @escaping @Sendable () async throws -> Void
    ) -> Task<Void, any Error> {
        running.withLock { running in
            if let known = running[name] { return known }
            let task = Task { try await body() }
            running[name] = task
            return task
        }
    }

    /// The outcome of a check was reported, or is not wanted any more.
    func forget(_ name: String) { running.withLock { $0[name] = nil } }

    /// Returns whether a check ends before `sleep` returns.
    static func isEnded(
        _ task: Task<Void, any Error>, before sleep: @escaping @Sendable () async throws -> Void
    ) async -> Bool {
        let (ended, end) = AsyncStream.makeStream(of: Bool.self)
        Task {
            _ = await task.result
            end.yield(true)
        }
        let limit = Task { if (try? await sleep()) != nil { end.yield(false) } }
        defer { limit.cancel() }
        for await isEnded in ended { return isEnded }
        return false
    }
}
