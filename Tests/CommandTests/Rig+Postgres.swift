// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

extension Rig {
    /// A database of the test's own in the run's cluster.
    func database() async throws -> String {
        let cluster = try await PostgresCluster.shared()
        let name = "command_\(UUID().uuidString.lowercased().filter { $0 != "-" })"
        let made = try await run(
            "psql", "-q", cluster.conninfo, "-c", "CREATE DATABASE \(name)")
        try #require(made.status == 0, "\(made.errors)")
        return cluster.conninfo.replacingOccurrences(
            of: "dbname=postgres", with: "dbname=\(name)")
    }

    /// Starts a ledger on a free port and waits until it listens.
    func ledger(_ options: [String] = []) async throws -> ChildProcess {
        let ledger = try ChildProcess(
            ["shopkeeper", "ledger", "serve", "--port", "0"] + options,
            environment: environment, folder: URL(fileURLWithPath: folder.path))
        guard await ledger.line(with: "Notifications go to") != nil else {
            throw Unexpected(await ledger.outcome().errors)
        }
        return ledger
    }
}
