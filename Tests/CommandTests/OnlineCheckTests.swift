// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Apple's own library asks a served store whether its certificates hold.
@Suite(.timeLimit(.minutes(5))) struct OnlineCheckTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    @Test func `a leaf that holds is good, one that was revoked is not`() async throws {
        let store = try await serve()
        let product = "com.example.monkeycredits.credits5"
        let bought = try await rig.run("shopkeeper", "buy", product)
        try #require(bought.status == 0, "\(bought.errors)")
        let old = try await signed()
        let leaf = try #require(
            try await rig.list("certificate", "list").first {
                $0["role"] as? String == "transactions" && $0["isInUse"] as? Bool == true
            }?["serialNumber"] as? String)

        let before = try await judged([old])
        let rotated = try await rig.run("shopkeeper", "certificate", "rotate", "--intermediate")
        try #require(rotated.status == 0, "\(rotated.errors)")
        let new = try await signed()
        let revoked = try await rig.run("shopkeeper", "certificate", "revoke", leaf)
        try #require(revoked.status == 0, "\(revoked.errors)")
        let after = try await judged([old, new])
        store.kill(SIGTERM)

        #expect(before == ["good"])
        #expect(after == ["VERIFICATION_FAILURE", "good"])
    }

    /// A port that was free a moment ago: certificates name it before it is
    /// listened at. Where somebody takes it meanwhile, another.
    private func serve() async throws -> ChildProcess {
        for attempt in 1...5 {
            let probe = try await rig.serve("--data", rig.path("probe-\(attempt)"))
            let status = try await rig.object("status")
            let url = try #require(status["url"] as? String)
            probe.kill(SIGTERM)
            _ = await probe.outcome()
            let port = try #require(url.split(separator: ":").last.map(String.init))
            let store = try ChildProcess(
                [
                    "shopkeeper", "serve", "--port", port, "--data", rig.path("data-\(attempt)"),
                    "--status-url", "\(url)/certificates/status",
                ], environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))
            if await store.line(with: "Serving") != nil { return store }
        }
        throw Unexpected("no port stayed free")
    }

    private func signed() async throws -> String {
        let list = try await rig.list("transaction", "list")
        return try #require(list.first?["signedTransactionInfo"] as? String)
    }

    private func judged(_ signed: [String]) async throws -> [String] {
        let root = try await rig.run("shopkeeper", "certificate", "root", "-o", "root.cer")
        try #require(root.status == 0, "\(root.errors)")
        let script = try PackageRoot.path() + "/Tests/Peers/online_checks.py"
        let outcome = try await ChildProcess.run(
            [try Rig.python(), script, rig.path("root.cer"), "com.example.monkeycredits"] + signed,
            environment: rig.environment, folder: URL(fileURLWithPath: rig.folder.path))
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.output.split(separator: "\n").map(String.init)
    }
}
