// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop

/// Work for the password queue that ends when a test says so.
private final class Gate: Sendable {
    private let open = DispatchSemaphore(value: 0)
    private let begun = Mutex(0)

    var count: Int { begun.withLock { $0 } }

    func pass() -> Int {
        begun.withLock { $0 += 1 }
        open.wait(for: "the test to release a job")
        return 1
    }

    func release(_ count: Int = 1) { for _ in 0..<count { open.signal() } }
}

@Suite(.engineFree, .timeLimit(.minutes(5))) struct PasswordQueueTests {
    private static let dear = PasswordCost.standard

    /// Puts so many jobs of a holder in the queue.
    private func fill(
        _ queue: PasswordQueue, _ gate: Gate, _ count: Int, for holder: String?
    ) async -> [Task<Int, any Error>] {
        let before = queue.count
        let tasks = (0..<count).map { _ in
            Task { try await queue.run(Self.dear, for: holder) { gate.pass() } }
        }
        await until("the queue has \(before + count) jobs") { queue.count >= before + count }
        return tasks
    }

    @Test func `one holder has a quarter of the queue, and all together its whole`() async throws {
        let queue = PasswordQueue(workers: 1)
        let gate = Gate()
        var tasks: [Task<Int, any Error>] = []
        for holder in ["a", "b", "c", "d"] {
            tasks += await fill(queue, gate, 2, for: holder)
            let refused = try await refusal {
                try await queue.run(Self.dear, for: holder) { gate.pass() }
            }
            #expect(refused.error.code == "passwordsBusy")
        }

        let whole = try await refusal { try await queue.run(Self.dear, for: "e") { gate.pass() } }
        // Operators wait, and are not refused.
        tasks += await fill(queue, gate, 2, for: nil)

        #expect(whole.kind == .tooMany)
        #expect(whole.retryAfterSeconds == PasswordQueue.retryAfterSeconds)
        #expect(whole.error.rule != nil && whole.error.remedy != nil)
        gate.release(tasks.count)
        for task in tasks { #expect(try await task.value == 1) }
        #expect(gate.count == 10)
        #expect(queue.count == 0)
    }

    @Test func `cheap hashes have more places in the same time`() async throws {
        let queue = PasswordQueue(workers: 1)
        let gate = Gate()
        let cheap = PasswordCost(rounds: 16_384)
        let tasks = (0..<16).map { _ in
            Task { try await queue.run(cheap, for: "a") { gate.pass() } }
        }
        await until("the queue has 16 jobs") { queue.count == 16 }

        let refused = try await refusal { try await queue.run(cheap, for: "a") { 1 } }

        #expect(refused.error.code == "passwordsBusy")
        gate.release(16)
        for task in tasks { _ = try await task.value }
    }

    @Test func `holders take turns`() async throws {
        let queue = PasswordQueue(workers: 1)
        let gate = Gate()
        let order = Mutex<[String]>([])
        var tasks = await fill(queue, gate, 1, for: "a")
        await until("a worker has begun") { gate.count >= 1 }
        for (place, holder) in ["a", "b", "b", "c"].enumerated() {
            let job: @Sendable () -> Int = {
                order.withLock { $0.append(holder) }
                return 1
            }
            tasks.append(Task { try await queue.run(Self.dear, for: holder, job) })
            await until("the job waits") { queue.waiting > place }
        }

        gate.release()
        for task in tasks { _ = try await task.value }

        #expect(order.withLock { $0 } == ["b", "c", "a", "b"])
    }

    @Test func `several workers hash at once`() async throws {
        let queue = PasswordQueue(workers: 2)
        let gate = Gate()
        let tasks = await fill(queue, gate, 3, for: "a")

        await until("a worker has begun") { gate.count >= 2 }

        #expect(gate.count == 2)
        gate.release(3)
        for task in tasks { _ = try await task.value }
    }

    @Test func `work whose client has gone is dropped, and its place is free`() async throws {
        let queue = PasswordQueue(workers: 1)
        let gate = Gate()
        let first = await fill(queue, gate, 1, for: "a")
        await until("a worker has begun") { gate.count >= 1 }
        let gone = await fill(queue, gate, 1, for: "a")

        for task in gone { task.cancel() }
        await #expect(throws: CancellationError.self) { try await gone[0].value }

        #expect(queue.count == 1)
        gate.release(2)
        _ = try await first[0].value
        #expect(gate.count == 1)
    }

    @Test func `a request that is cancelled already is not hashed`() async throws {
        let queue = PasswordQueue(workers: 1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await queue.run(Self.dear, for: "a") { 1 }
        }

        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(queue.count == 0)
    }
}
