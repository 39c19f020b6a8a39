// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import shopkeeper

/// `stop` ends the store that a run file is about, and nothing else.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct StopTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    /// A store's run file, left behind by a kill, that names another process.
    private func leaveRunFile(naming pid: Int32) async throws {
        let store = try await rig.serve()
        let file = rig.path(".shopkeeper/run.json")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        store.kill(SIGKILL)
        _ = await store.outcome()
        var run = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        run["pid"] = pid
        try JSONSerialization.data(withJSONObject: run).write(to: URL(fileURLWithPath: file))
    }

    @Test func `a process that has the number and not the store is left alone`() async throws {
        let bystander = try ChildProcess(["sleep", "600"])
        defer { bystander.kill(SIGKILL) }
        try await leaveRunFile(naming: bystander.pid)

        let stopped = try await rig.run(
            "shopkeeper", "stop", "--timeout", "1", "--data", ".shopkeeper")
        let status = try await rig.run("shopkeeper", "status", "--data", ".shopkeeper")

        #expect(stopped.status == 69, "\(stopped.output)\(stopped.errors)")
        #expect(status.status == 69)
        #expect(kill(bystander.pid, 0) == 0)
        let facts = try String(contentsOfFile: "/proc/\(bystander.pid)/stat", encoding: .utf8)
        #expect(!facts.contains(") Z"), "the bystander was ended")
    }

    @Test func `no number but the lock's holder is a server`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let data = rig.path(".shopkeeper")

        #expect(DirectoryHolder(of: data, claimed: store.pid)?.isRunning == true)
        for pid in [Int32.min, -store.pid, -1, 0, 1, getpid()] {
            #expect(DirectoryHolder(of: data, claimed: pid) == nil, "\(pid)")
        }
        #expect(DirectoryHolder(of: rig.path("nowhere"), claimed: store.pid) == nil)
    }

    @Test func `a command under exec cannot stop its own store`() async throws {
        let outcome = try await rig.run(
            "shopkeeper", "exec", "--", "sh", "-c",
            "shopkeeper stop --timeout 240; echo \"code $?\"; shopkeeper status")

        #expect(outcome.output.contains("code 1"), "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.contains("ready: "))
        #expect(outcome.errors.contains("`exec`"))
        #expect(outcome.status == 0)
    }

    @Test func `a store of exec is stopped from outside, with its command`() async throws {
        let job = try ChildProcess(
            [
                "shopkeeper", "exec", "--data", "job", "--", "sh", "-c",
                "echo ready; exec sleep 600",
            ],
            environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))
        _ = await job.line(with: "ready")

        let stopped = try await rig.run("shopkeeper", "stop", "--data", "job")

        #expect(stopped.status == 0, "\(stopped.errors)")
        #expect(await job.outcome().status == 128 + SIGTERM)
    }
}
