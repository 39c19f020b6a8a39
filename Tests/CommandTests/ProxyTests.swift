// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The built command where others reach it: behind a proxy with TLS, with
/// keys of its operator's own, and watched.
@Suite(.timeLimit(.minutes(5))) struct ProxyTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
        for door in ["operator", "control"] {
            Self.write("\(door)-\(String(repeating: "k", count: 32))\n", rig.path("\(door).key"))
        }
    }

    private static func write(_ text: String, _ file: String, mode: Int = 0o600) {
        let isMade = FileManager.default.createFile(
            atPath: file, contents: Data(text.utf8), attributes: [.posixPermissions: mode])
        #expect(isMade)
    }

    @Test func `what the store suggests behind a proxy works as it stands`() async throws {
        let store = try await rig.serve(
            "--behind-proxy", "127.0.0.1", "--operator-key", rig.path("operator.key"),
            "--control-key", rig.path("control.key"), "--scrypt-rounds", "1024",
            "--public-url", "https://store.example")
        defer { store.kill(SIGTERM) }

        for words in ["On this machine: http://127.0.0.1:", "Try, in another terminal:"] {
            #expect(await store.line(with: words) != nil)
        }
        for words in ["openssl", "customer create", "buy", "transaction list"] {
            let line = try #require(await store.line(with: words))
            let said = try await rig.run("bash", "-c", line)
            #expect(said.status == 0, "\(line): \(said.errors)")
        }
        #expect(try await rig.list("transaction", "list").count == 1)
    }

    @Test func `a device buys over https through a proxy`() async throws {
        let store = try await rig.serve(
            "--behind-proxy", "127.0.0.1", "--operator-key", rig.path("operator.key"),
            "--control-key", rig.path("control.key"), "--scrypt-rounds", "1024")
        defer { store.kill(SIGTERM) }
        let url = try #require(try await rig.object("status")["url"] as? String)
        _ = try await rig.object("customer", "create", "ann", "--password", "correct horse")
        let proxy = try await Self.proxy(rig, storeURL: url)
        defer { proxy.process.kill(SIGTERM) }
        // Not the sample: what its TLS trusts is the system's list, which is not ours to change.
        let bought = try await rig.run(
            try Rig.python(), try PackageRoot.path() + "/Tests/Peers/buy_over_https.py",
            proxy.url, "tls.pem", "ann", "correct horse",
            "com.example.monkeycredits.credits5", "990")
        let listed = try await rig.list("transaction", "list")

        #expect(bought.output == "sold\n", "\(bought.errors)")
        #expect(listed.count == 1)
    }

    @Test(arguments: [
        (["--behind-proxy", "10.0.0.1"], 77, "doorKeyMissing"),
        (["--behind-proxy", "proxy.example"], 64, "proxyInvalid"),
        (["--behind-proxy", "10.0.0.1", "--behind-proxy", "0.0.0.0/0"], 64, "proxyAnybody"),
        (["--behind-proxy", "::/0"], 64, "proxyAnybody"),
        (["--behind-proxy", "0.0.0.0/0", "--behind-any-proxy"], 77, "doorKeyMissing"),
        (["--host", "0.0.0.0"], 64, "hostNotLoopback"),
        (["--public-url", "http://store.example"], 64, "publicUrlInvalid"),
        (["--operator-key", "missing.key"], 77, "keyFileUnreadable"),
        (["--operator-key", "open.key"], 77, "keyFileOpen"),
        (["--operator-key", "short.key"], 77, "doorKeyInvalid"),
        (["--operator-key", "operator.key", "--control-key", "operator.key"], 77, "doorKeyTwice"),
        (["--connections-max", "0"], 64, "connectionsMaxInvalid"),
    ])
    func `what would leave a door open is refused`(
        options: [String], status: Int32, code: String
    ) async throws {
        Self.write(String(repeating: "k", count: 40), rig.path("open.key"), mode: 0o644)
        Self.write("short", rig.path("short.key"))

        let outcome = try await ChildProcess.run(
            ["shopkeeper", "serve", "--port", "0", "--json"] + options,
            environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))

        let error = try JSONSerialization.jsonObject(with: Data(outcome.errors.utf8))
        let told = try #require(error as? [String: Any])
        #expect(outcome.status == status)
        #expect(told["code"] as? String == code)
        #expect(told["field"] is String && told["remedy"] is String && told["rule"] is String)
    }

    @Test func `Prometheus' own library reads the figures`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        _ = try await rig.object("buy", "com.example.monkeycredits.credits5")
        let run = try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(fileURLWithPath: rig.path(".shopkeeper/run.json"))))
        let told = try #require(run as? [String: Any])

        let outcome = try await rig.run(
            try Rig.python(), try PackageRoot.path() + "/Tests/Peers/metrics.py",
            told["url"] as? String ?? "", told["metricsKey"] as? String ?? "")

        try #require(outcome.status == 0, "\(outcome.errors)")
        let read = try #require(
            try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        let types = try #require(read["types"] as? [String: String])
        let samples = try #require(read["samples"] as? [String: Double])
        #expect(types["shopkeeper_requests"] == "counter")
        #expect(types["shopkeeper_request_seconds"] == "histogram")
        let purchases = "{method=PUT,route=/device/v1/purchases/{},status=200}"
        #expect(samples["shopkeeper_requests_total" + purchases] == 1)
        let route = "route=/device/v1/purchases/{}"
        #expect(samples["shopkeeper_request_seconds_count{\(route)}"] == 1)
        #expect(samples["shopkeeper_request_seconds_bucket{le=+Inf,\(route)}"] == 1)
        // `buy` reads the transaction that it made, and no others.
        let made = "{method=GET,route=/operator/v1/transactions/{},status=200}"
        #expect((samples["shopkeeper_requests_total" + made] ?? 0) >= 1)
        #expect(!samples.keys.contains { $0.contains("route=/operator/v1/transactions,") })
        #expect(samples["shopkeeper_waiting_requests"] != nil)
        #expect((samples["shopkeeper_commits_total"] ?? 0) >= 3)
    }

    private static func proxy(
        _ rig: Rig, storeURL: String
    ) async throws -> (process: ChildProcess, url: String) {
        let made = try await rig.run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "tls.key", "-out", "tls.pem",
            "-days", "2", "-subj", "/CN=proxy", "-addext", "subjectAltName=IP:127.0.0.1")
        try #require(made.status == 0, "\(made.errors)")
        let port = storeURL.split(separator: ":").last.map(String.init) ?? ""
        let process = try ChildProcess(
            [
                try Rig.python(), try PackageRoot.path() + "/Tests/Peers/tls_proxy.py", port,
                "tls.pem", "tls.key",
            ], environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))
        guard let line = await process.line(with: "proxy on ") else {
            throw Unexpected(await process.outcome().errors)
        }
        return (process, "https://127.0.0.1:\(line.split(separator: " ").last ?? "")")
    }
}
