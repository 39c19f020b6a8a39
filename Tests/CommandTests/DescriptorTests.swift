// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The built command where it may open few files: it serves fewer connections,
/// and goes on when there are no descriptors left.
@Suite(.timeLimit(.minutes(5))) struct DescriptorTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    private struct Seen: Decodable {
        let held: Int
        let readyWhileHeld: Int
        let realmWhileHeld: Int
        let cpuWithoutDescriptors: Double
        let readyAfter: Int
    }

    /// Holds more connections than there is room for, then takes every
    /// descriptor away, then lets go.
    private func seen(_ name: String, _ words: [String]) async throws -> Seen {
        let outcome = try await ChildProcess.run(
            [
                try Rig.python(), try PackageRoot.path() + "/Tests/Peers/descriptors.py", name,
            ] + words, environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Seen.self, from: Data(outcome.output.utf8))
    }

    @Test func `a store goes on where there are few descriptors, and none`() async throws {
        let seen = try await seen("store", ["shopkeeper", "serve", "--port", "0", "--json"])

        #expect(seen.held > 128)
        #expect(seen.readyWhileHeld == 503)
        #expect(seen.realmWhileHeld == 201)
        #expect(seen.cpuWithoutDescriptors < 0.5)
        #expect(seen.readyAfter == 200)
    }

    @Test func `so does a ledger`() async throws {
        let root = rig.path("root.pem")
        let store = try await rig.serve()
        let written = try await rig.run("cp", ".shopkeeper/root.pem", root)
        store.kill(SIGTERM)
        try #require(written.status == 0, "\(written.errors)")

        let seen = try await seen(
            "ledger",
            [
                "shopkeeper", "ledger", "serve", "--port", "0", "--json", "--trust", root,
                "--bundle-id", "com.example.monkeycredits",
            ])

        #expect(seen.held > 128)
        #expect(seen.readyWhileHeld == 503)
        #expect(seen.cpuWithoutDescriptors < 0.5)
        #expect(seen.readyAfter == 200)
    }

    @Test func `too few descriptors are reported with their remedy`() async throws {
        let outcome = try await rig.run(
            "sh", "-c", "ulimit -n 200; exec shopkeeper serve --port 0 --json")

        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("descriptorsTooFew"))
    }
}
