// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import TestSupport
import Testing

/// Two server processes of one store whose customers are on two PostgreSQL
/// clusters: the default customer on the second, `neighbour` at home.
@Suite(.timeLimit(.minutes(5))) struct ClusterCommandTests {
    private static let buckets = "0,2,4-999"

    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    private func serve(
        _ name: String, home: String, _ buckets: String, far: String
    ) async throws -> ChildProcess {
        try await rig.serve(
            "--database", home, "--data", rig.path(name), "--seal-key", rig.path("seal.key"),
            "--cluster", "\(buckets)=\(far)")
    }

    /// How many rows of a table the only realm of a database has.
    private func count(_ table: String, _ database: String) async throws -> String {
        func ask(_ sql: String) async throws -> String {
            let outcome = try await rig.run("psql", "-qAt", database, "-c", sql)
            guard outcome.status == 0 else { throw Unexpected(outcome.errors) }
            return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let schema = try await ask(
            "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'realm%'")
        return try await ask("SELECT count(*) FROM \(schema).\(table)")
    }

    private func purchaseID(_ n: Int) -> String { "00000000-0000-4000-8000-00000000000\(n)" }

    @Test func `two servers and two clusters are one store, also when one cluster goes`()
        async throws
    {
        let home = try await rig.database()
        let far = try await PostgresCluster()
        let proxy = try CuttingProxy(to: far)
        let second = proxy.conninfo
        let servers = [
            try await serve("a", home: home, Self.buckets, far: second),
            try await serve("b", home: home, Self.buckets, far: second),
        ]
        // The first server's next number, and so its next bucket.
        _ = try await rig.object(
            "customer", "create", "neighbour", "--data", rig.path("a"))

        // Each is sold to at one server, and hears of it at the other.
        var devices: [DeviceClient] = []
        for name in [nil, "neighbour"] {
            let here = try await DeviceClient(rig.path("a"), customer: name)
            let there = try DeviceClient(here, at: rig.path("b"))
            let now = try await there.transactions(since: 0, waitSeconds: 0).revision
            async let heard = there.transactions(since: now, waitSeconds: 30)
            #expect(try await here.purchase(purchaseID(1)).state == "sold")
            #expect(try await heard.transactions.count == 1)
            #expect(try await there.purchase(purchaseID(1)).state == "sold")
            devices.append(here)
        }

        #expect(try await count("transactions", home) == "1")
        #expect(try await count("transactions", far.conninfo) == "1")
        let listed = try await rig.list("transaction", "list", "--data", rig.path("b"))
        #expect(listed.count == 2)
        let backup = try await rig.run(
            "shopkeeper", "database", "backup", rig.path("copy"), "--database", home, "--data",
            rig.path("a"), "--seal-key", rig.path("seal.key"))
        #expect(backup.status != 0 && backup.errors.contains("other clusters"), "\(backup.errors)")

        proxy.obey { _ in .cutBefore }
        try await checkAlone(devices)
        for server in servers {
            server.kill(SIGTERM)
            #expect(await server.outcome().status == 0)
        }
        #expect(try await status(home, "\(Self.buckets)=\(second)") == "away")
        #expect(try await status(home, nil) == "notNamed")
        #expect(try await status(home, "\(Self.buckets)=\(far.conninfo)") == "here")
        try await checkAdvance(home, far: far.conninfo)
    }

    /// What is told of the second cluster.
    private func status(_ home: String, _ cluster: String?) async throws -> String? {
        let answer =
            if let cluster {
                try await rig.object(
                    "database", "status", "--database", home, "--cluster", cluster)
            } else { try await rig.object("database", "status", "--database", home) }
        let realms = (answer["status"] as? [String: Any])?["realms"] as? [[String: Any]]
        let clusters = realms?.first?["clusters"] as? [[String: Any]]
        let state = clusters?.first?["state"] as? String
        #expect(clusters?.first?["buckets"] as? String == Self.buckets)
        #expect((clusters?.first?["holding"] != nil) == (state == "here"))
        return state
    }

    /// All clusters or none.
    private func checkAdvance(_ home: String, far: String) async throws {
        let alone = try await rig.run(
            "shopkeeper", "database", "advance", "--database", home, "--data", rig.path("c"))
        let between = try await serve("a", home: home, Self.buckets, far: far)
        between.kill(SIGTERM)
        #expect(await between.outcome().status == 0)
        let both = try await rig.object(
            "database", "advance", "--database", home, "--data", rig.path("c"), "--cluster",
            "\(Self.buckets)=\(far)")
        let after = try await serve("a", home: home, Self.buckets, far: far)
        let listed = try await rig.list("transaction", "list", "--data", rig.path("a"))
        after.kill(SIGTERM)

        #expect(alone.status == 73 && alone.errors.contains("otherClusters"), "\(alone.errors)")
        #expect(both["namesFound"] as? Int == 0 && both["namesFreed"] as? Int == 0)
        #expect(listed.count == 3)
        #expect(await after.outcome().status == 0)
    }

    /// With the second cluster gone, its customer waits and the home's buys.
    private func checkAlone(_ devices: [DeviceClient]) async throws {
        var failure = ""
        do { _ = try await devices[0].purchase(purchaseID(2)) } catch { failure = "\(error)" }
        let sold = try await devices[1].purchase(purchaseID(2), pack: 10)
        let ready = try await rig.run("curl", "-s", devices[0].url + "/ready")

        #expect(failure.contains("503"), "\(failure)")
        #expect(sold.state == "sold")
        #expect(
            ready.output.contains("\"ready\"") && ready.output.contains(Self.buckets),
            "\(ready.output)")
    }

    @Test func `other buckets than a store was made with are refused`() async throws {
        let home = try await rig.database()
        let far = try await PostgresCluster()
        let first = try await serve("a", home: home, Self.buckets, far: far.conninfo)
        first.kill(SIGTERM)
        _ = await first.outcome()
        let empty = try await PostgresCluster()
        let wrong: [[String]] = [
            [], ["--cluster", "500-999=\(far.conninfo)"],
            ["--cluster", "\(Self.buckets)=\(empty.conninfo)"],
            ["--cluster", "\(Self.buckets)=\(home)"],
        ]

        for options in wrong {
            let refused = try await ChildProcess.run(
                [
                    "shopkeeper", "serve", "--port", "0", "--database", home, "--data",
                    rig.path("a"), "--seal-key", rig.path("seal.key"),
                ] + options, environment: rig.environment,
                folder: URL(fileURLWithPath: rig.folder.path))

            #expect(refused.status == 73, "\(options): \(refused.errors)")
            #expect(refused.errors.contains("field:  --cluster"), "\(refused.errors)")
        }
        let again = try await serve("a", home: home, Self.buckets, far: far.conninfo)
        again.kill(SIGTERM)
        #expect(await again.outcome().status == 0)
    }

    @Test(arguments: [
        ["--cluster", "500-999"], ["--cluster", "900-1000=host=x"],
        ["--cluster", "1-2=host=x", "--cluster", "2-3=host=y"],
    ])
    func `what names no clusters is refused`(options: [String]) async throws {
        let refused = try await ChildProcess.run(
            [
                "shopkeeper", "serve", "--port", "0", "--database", "host=none", "--data",
                rig.path("a"),
            ] + options, environment: rig.environment,
            folder: URL(fileURLWithPath: rig.folder.path))
        let ofFiles = try await ChildProcess.run(
            ["shopkeeper", "serve", "--port", "0", "--data", rig.path("b")] + options,
            environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))

        #expect(refused.status == 64 && refused.errors.contains("--cluster"), "\(refused.errors)")
        #expect(ofFiles.status == 64 && ofFiles.errors.contains("--database"), "\(ofFiles.errors)")
    }
}
