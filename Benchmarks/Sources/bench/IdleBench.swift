// SPDX-License-Identifier: Apache-2.0

import Foundation
import Live
import Shop
import StoreWire

/// What sandboxes cost that nobody uses: each with a clock of its own that was set and goes
/// on, served by one process.
struct IdleBench {
    private let sandboxes = Brief.or(1000, brief: 5)
    /// Longer than the longest time between two looks at the wall clock.
    private let wait = Brief.or(180.0, brief: 1)

    func run() async throws -> [String] {
        [try await idle(1), try await idle(sandboxes)]
    }

    private func idle(_ count: Int) async throws -> String {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("bench-idle-\(count)-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        progress("idle sandboxes: \(count)")
        try await make(count, in: folder)
        return try measure(count, in: folder)
    }

    private func measure(_ count: Int, in folder: URL) throws -> String {
        let served = try ServedProcess(arguments: ["serve-as-is", folder.path])
        defer { served.kill() }
        // What a process does once, when it begins, is not what idling costs.
        Thread.sleep(forTimeInterval: min(wait, 10))
        let before = try served.processorSeconds
        let took = seconds { Thread.sleep(forTimeInterval: wait) }
        let spent = try served.processorSeconds - before
        return String(
            format: "%d idle sandboxes: %.2f s of CPU in %.0f s (%.5f a second), resident "
                + "memory %d MiB", count, spent, took, spent / took,
            served.residentBytes / 1_048_576)
    }

    private func make(_ count: Int, in folder: URL) async throws {
        let store = try await BenchStore.open(in: folder)
        for number in 1...count {
            let name = "idle-\(number)"
            _ = try await store.createRealm(
                CreateRealmRequest(name: name), RequestContext(requestID: "bench"))
            _ = try await store.realm(named: name).moveClock(
                MoveClockRequest(advancePeriod: "P1M"), RequestContext(requestID: "bench"))
        }
        await store.close()
    }
}
