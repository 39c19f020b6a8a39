// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestSupport
import Testing

/// Server processes that share a PostgreSQL.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct PostgresTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    @Test func `two servers on one database are one store`() async throws {
        let database = try await rig.database()
        let first = try await rig.serve("--database", database, "--data", rig.path("a"))
        let second = try await rig.serve(
            "--database", database, "--data", rig.path("b"), "--seal-key",
            rig.path("a/seal.key"))

        let bought = try await rig.run(
            "shopkeeper", "buy", "com.example.monkeycredits.credits5", "--data", rig.path("a"))
        let listed = try await rig.run(
            "shopkeeper", "transaction", "list", "--data", rig.path("b"))

        #expect(bought.status == 0, "\(bought.errors)")
        #expect(listed.output.contains("credits5"))
        #expect(
            try Data(contentsOf: URL(fileURLWithPath: rig.path("a/root.pem")))
                == Data(contentsOf: URL(fileURLWithPath: rig.path("b/root.pem"))))
        first.kill(SIGKILL)
        _ = await first.outcome()
        let after = try await rig.run(
            "shopkeeper", "transaction", "list", "--data", rig.path("b"))
        #expect(after.output.contains("credits5"))
        second.kill(SIGTERM)
        #expect(await second.outcome().status == 0)
    }

    @Test func `a server with another sealing key is refused`() async throws {
        let database = try await rig.database()
        let first = try await rig.serve("--database", database, "--data", rig.path("a"))

        let other = try await rig.run(
            "shopkeeper", "serve", "--port", "0", "--database", database, "--data", rig.path("b"))

        #expect(other.status == 73)
        #expect(other.errors.contains("sealed with another key"))
        first.kill(SIGKILL)
    }

    @Test func `an unreachable database is reported, not waited for`() async throws {
        let outcome = try await rig.run(
            "shopkeeper", "serve", "--port", "0", "--database", "host=\(rig.path("none"))",
            "--data", rig.path("a"))

        #expect(outcome.status == 69)
        #expect(outcome.errors.contains("--database"))
    }

    /// Whichever commit of the start it is: the database is at fault, and the
    /// next start takes up what this one began.
    @Test(arguments: [1, 5, 9, 13])
    func `a start that loses an answer to COMMIT names the database`(number: Int) async throws {
        let database = try await rig.database()
        let name = database.split(separator: "=").last.map(String.init) ?? ""
        let proxy = try CuttingProxy(to: try await PostgresCluster.shared())
        let through = proxy.conninfo.replacingOccurrences(
            of: "dbname=postgres", with: "dbname=\(name)")
        let commits = Mutex(0)
        proxy.obey { message in
            guard !message.isToServer, message.type == "C", message.says("COMMIT") else {
                return .pass
            }
            return commits.withLock { commits in
                commits += 1
                return commits == number ? .cutBefore : .pass
            }
        }

        let started = try ChildProcess(
            [
                "shopkeeper", "serve", "--port", "0", "--database", through, "--data",
                rig.path("a"),
            ], environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))
        // Some of the commits are made again under their key: then it serves.
        let isServed = await started.line(with: "Serving") != nil
        started.kill(SIGTERM)
        let outcome = await started.outcome()

        if !isServed {
            #expect(commits.withLock { $0 } >= number)
            #expect(outcome.status == 69, "\(outcome.errors)")
            #expect(outcome.errors.contains("field:  --database"), "\(outcome.errors)")
        }
        let second = try await rig.serve("--database", database, "--data", rig.path("a"))
        second.kill(SIGTERM)
        #expect(await second.outcome().status == 0)
    }

    @Test func `production is not sold on a server that may forget`() async throws {
        let database = try await rig.database()
        let name = database.split(separator: "=").last.map(String.init) ?? ""
        let changed = try await rig.run(
            "psql", "-q", database, "-c", "ALTER DATABASE \(name) SET synchronous_commit = off")
        try #require(changed.status == 0, "\(changed.errors)")
        let store = try await rig.serve("--database", database, "--data", rig.path("a"))

        let made = try await rig.run(
            "shopkeeper", "realm", "create", "live", "--production", "--data", rig.path("a"))

        #expect(made.status != 0)
        store.kill(SIGTERM)
    }
}
