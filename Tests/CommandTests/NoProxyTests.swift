// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import shopkeeper

/// Keys, passwords and roots reach the store alone, whatever proxy is named.
@Suite(.timeLimit(.minutes(5))) struct NoProxyTests {
    let rig: Rig
    let proxy: ScriptedPeer

    init() throws {
        rig = try Rig()
        proxy = try ScriptedPeer(.answer(ScriptedPeer.response("502 Bad Gateway")))
    }

    private var proxied: [String: String] {
        let url = "http://127.0.0.1:\(proxy.port)"
        var variables = ["no_proxy": "", "NO_PROXY": ""]
        for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            variables[name] = url
        }
        return variables
    }

    @Test func `a verb, a device and a ledger ask a store on loopback directly`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let url = try #require(try await rig.object("status")["url"] as? String)

        let listed = try await rig.run("shopkeeper", "realm", "list", with: proxied)
        let bought = try await rig.run(
            "shopkeeper", "buy", "com.example.monkeycredits.credits5", with: proxied)
        let app = try await rig.run(
            "monkey-credits", "buy", "5", with: proxied.merging(["SHOPKEEPER_URL": url]) { $1 })
        let ledger = try ChildProcess(
            [
                "shopkeeper", "ledger", "serve", "--port", "0", "--trust-store", url,
                "--bundle-id", "com.example.monkeycredits",
            ], environment: rig.environment.merging(proxied) { $1 },
            folder: URL(fileURLWithPath: rig.folder.path))
        let announced = await ledger.line(with: "Notifications go to")
        ledger.kill(SIGTERM)
        let errors = await ledger.outcome().errors

        #expect(listed.status == 0, "\(listed.errors)")
        #expect(bought.status == 0, "\(bought.errors)")
        #expect(app.output == "5\n", "\(app.errors)")
        #expect(announced != nil, "\(errors)")
        #expect(proxy.requests == [])
    }

    @Test func `what runs under exec asks the store without a proxy`() async throws {
        let outcome = try await rig.run(
            "shopkeeper", "exec", "--", "sh", "-c", "echo \"$no_proxy\"; echo \"$NO_PROXY\"",
            with: ["no_proxy": "example.com"])

        #expect(
            outcome.output.split(separator: "\n") == [
                "example.com,127.0.0.1,localhost,::1", "127.0.0.1,localhost,::1",
            ])
    }

    @Test func `a redirect gets no key`() async throws {
        let other = try ScriptedPeer(.answer(ScriptedPeer.response("200 OK", "{}")))
        let moved = try ScriptedPeer(
            .answer(
                ScriptedPeer.response(
                    "307 Temporary Redirect", headers: "Location: \(other.url)\r\n")))
        let door = DoorClient(base: "http://127.0.0.1:\(moved.port)", key: "the operators' key")

        await #expect(throws: Failure.self) { try await door.bytes("/realms") }

        // One more asked, without the key, whether the store answers at all.
        #expect(moved.requests.count == 2)
        #expect(moved.requests.count { "\($0)".contains("the operators' key") } == 1)
        #expect(other.requests == [])
    }

    @Test func `a root over plain HTTP from elsewhere is refused without a fingerprint`()
        async throws
    {
        let refused = try await rig.run(
            "shopkeeper", "ledger", "serve", "--trust-store", "http://192.0.2.1", "--bundle-id",
            "com.example.a", "--json")
        let odd = try await rig.run(
            "shopkeeper", "ledger", "serve", "--trust-store", "http://192.0.2.1", "--bundle-id",
            "com.example.a", "--root-fingerprint", "abc", "--json")

        #expect(refused.status == 64)
        #expect(refused.errors.contains("trustStorePlain"), "\(refused.errors)")
        #expect(odd.status == 64)
        #expect(odd.errors.contains("fingerprintInvalid"))
    }

    @Test func `a root with another fingerprint is not trusted`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let url = try #require(try await rig.object("status")["url"] as? String)
        let printed = try await rig.run(
            "openssl", "x509", "-in", ".shopkeeper/root.pem", "-noout", "-fingerprint", "-sha256")
        let right = try #require(printed.output.split(separator: "=").last).dropLast()
        let pinned = ["--trust-store", url, "--bundle-id", "a", "--root-fingerprint"]

        let wrong = try await rig.run(
            "shopkeeper", "ledger", "serve", "--json", pinned[0], pinned[1], pinned[2], pinned[3],
            pinned[4], String(repeating: "0", count: 64))
        let ledger = try await rig.ledger(pinned + [String(right)])
        ledger.kill(SIGTERM)

        #expect(wrong.status == 1)
        #expect(wrong.errors.contains("rootNotPinned"), "\(wrong.errors)")
        #expect(await ledger.outcome().status == 0)
    }
}
