// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Sandbox and production of one store, and the environments of local tests.
@Suite(.timeLimit(.minutes(5))) struct EnvironmentCommandTests {
    private func checks(_ arguments: String...) async throws -> [String: Bool] {
        let outcome = try await Rig().run(
            all: [
                try Rig.python(), try PackageRoot.path() + "/Tests/Peers/exec_environments.py",
            ] + arguments)
        #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
        return try JSONDecoder().decode([String: Bool].self, from: Data(outcome.output.utf8))
    }

    @Test func `sandbox and production have data, keys, hosts and customers of their own`()
        async throws
    {
        #expect(try await checks().count == 10)
    }

    @Test func `Apple's library tests against a store for LocalTesting`() async throws {
        #expect(try await checks("local").count == 4)
    }

    @Test func `an environment that there is not, or another than the realm's, is refused`()
        async throws
    {
        let rig = try Rig()
        let unknown = try await rig.run("shopkeeper", "serve", "--environment", "Moon")
        let production = try await rig.run(
            "shopkeeper", "serve", "--json", "--environment", "production")
        let store = try await rig.serve("--environment", "xcode")
        let twice = try await rig.run(
            "shopkeeper", "realm", "create", "x", "--production", "--environment", "Sandbox")
        store.kill(SIGTERM)
        _ = await store.outcome()
        let other = try await rig.run(
            "shopkeeper", "serve", "--json", "--port", "0", "--environment", "Sandbox")

        #expect([unknown.status, twice.status] == [64, 64])
        #expect(production.status != 0 && production.errors.contains("environmentUnknown"))
        #expect(other.status != 0 && other.errors.contains("environmentMismatch"))
    }
}
