// SPDX-License-Identifier: Apache-2.0

import Commerce

/// Hashes passwords, a limited number at a time.
struct PasswordQueue: Sendable {
    /// The most work in the queue for each worker, in units of
    /// ``PasswordCost/work``: eight hashes at the standard cost, which take a
    /// few seconds.
    static let workPerWorker = 8 * PasswordCost.standard.work
    static let retryAfterSeconds = 2

    private let queue: WorkQueue

    init(workers: Int) {
        queue = WorkQueue(
            "passwords", workers: workers, workPerWorker: Self.workPerWorker, busy: Self.busy)
    }

    /// The number of admitted jobs that have not ended.
    var count: Int { queue.count }

    /// The number of jobs that no worker has begun.
    var waiting: Int { queue.waiting }

    /// The work of all jobs that workers have done.
    var workDone: Int { queue.workDone }

    /// Runs `body` on a worker's thread. `holder` is the account's device or
    /// the client's address whose share of the queue is used. Nil for
    /// operators, whose jobs are not refused. Refusal: `passwordsBusy`.
    func run<Value: Sendable>(
        _ cost: PasswordCost, for holder: String?,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await queue.run(cost.work, for: holder, body)
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
