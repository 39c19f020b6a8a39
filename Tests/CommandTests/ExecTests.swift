// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A whole CI job in one line.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct ExecTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    @Test func `the command's exit code is passed on, and nothing stays behind`() async throws {
        let outcome = try await rig.run(
            "shopkeeper", "exec", "--", "sh", "-c", "printf %s \"$SHOPKEEPER_DATA\"; exit 7")

        #expect(outcome.status == 7)
        #expect(!outcome.output.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: outcome.output))
    }

    @Test func `events go to standard error, and only where they are asked for`() async throws {
        let product = "com.example.monkeycredits.credits5"
        let script = "shopkeeper buy \(product) --json"
        let shown = try await rig.run("shopkeeper", "exec", "--events", "--", "sh", "-c", script)
        let quiet = try await rig.run("shopkeeper", "exec", "--", "sh", "-c", script)
        let same = try await rig.run("shopkeeper", "exec", "--quiet", "--", "sh", "-c", script)

        for outcome in [shown, quiet, same] {
            #expect(outcome.status == 0, "\(outcome.errors)")
            let bought = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
            #expect((bought as? [String: Any])?["transactionId"] != nil)
        }
        #expect(shown.errors.contains("purchase      \(product): sold"))
        #expect(!quiet.errors.contains("purchase  ") && !same.errors.contains("purchase  "))
    }

    @Test func `a command that a signal ends returns its exit code`() async throws {
        let outcome = try await rig.run("shopkeeper", "exec", "--", "sh", "-c", "kill -9 $$")

        #expect(outcome.status == 128 + 9)
    }

    @Test func `what the command leaves running is not waited for`() async throws {
        let outcome = try await rig.run(
            "shopkeeper", "exec", "--", "sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!; exit 4")

        #expect(outcome.status == 4)
        let left = try #require(pid_t(outcome.output.trimmingCharacters(in: .newlines)))
        #expect(kill(left, SIGKILL) == 0)
    }

    @Test func `a signal goes to the command, and the store is gone with it`() async throws {
        let job = try ChildProcess(
            [
                "shopkeeper", "exec", "--", "sh", "-c",
                "trap 'echo told; exit 3' TERM; echo ready; while :; do sleep 0.05; done",
            ], environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))
        _ = await job.line(with: "ready")

        job.kill(SIGTERM)
        let outcome = await job.outcome()

        #expect(outcome.status == 3)
        #expect(outcome.output.contains("told"))
    }

    @Test func `jobs beside each other do not meet`() async throws {
        let script =
            "shopkeeper buy com.example.monkeycredits.credits5 >&2; shopkeeper transaction list --json"
        let outcomes = try await withThrowingTaskGroup(of: ChildProcess.Outcome.self) { group in
            for _ in 0..<3 {
                group.addTask { [rig] in
                    try await rig.run("shopkeeper", "exec", "--", "sh", "-c", script)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        for outcome in outcomes {
            let listed = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
            #expect((listed as? [Any])?.count == 1)
        }
    }

    @Test func `same seed, same ids`() async throws {
        let script = "shopkeeper buy com.example.monkeycredits.credits5 --json"
        let first = try await rig.run(
            "shopkeeper", "exec", "--seed", "42", "--", "sh", "-c", script)
        let second = try await rig.run(
            "shopkeeper", "exec", "--seed", "42", "--", "sh", "-c", script)

        let ids = try [first, second].map { outcome in
            let value = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
            return (value as? [String: Any])?["transactionId"] as? String
        }
        #expect(ids[0] != nil)
        #expect(ids[0] == ids[1])
    }

    @Test func `a Python script buys, and Apple's library accepts what it reads back`() async throws
    {
        let script = try PackageRoot.path() + "/Tests/Peers/exec_round_trip.py"

        let outcome = try await rig.run(
            "shopkeeper", "exec", "--", try Rig.python(), script)

        #expect(outcome.status == 0, "\(outcome.errors)")
        let checks = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
        let answers = try #require(checks as? [String: Bool])
        #expect(answers.count == 7)
        #expect(answers.values.allSatisfy { $0 })
    }
}
