// SPDX-License-Identifier: Apache-2.0

import ForwardProxy
import Foundation
import TestSupport
import Testing

@testable import shopkeeper

/// Clients that know only Apple's hosts.
@Suite(.timeLimit(.minutes(5))) struct InterceptTests {
    let rig: Rig

    init() throws { rig = try Rig() }

    @Test func `Apple's client for Python works unchanged under its own hosts`() async throws {
        let outcome = try await rig.run(
            "shopkeeper", "exec", "--intercept", "--", try Rig.python(),
            try PackageRoot.path() + "/Tests/Peers/exec_intercept.py",
            with: ["NO_PROXY": "*", "no_proxy": ".apple.com"])

        #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
        let checks = try JSONDecoder().decode(
            [String: Bool].self, from: Data(outcome.output.utf8))
        #expect(checks.count == 20, "\(outcome.output)")
        let told = outcome.errors.split(separator: "\n").filter {
            $0.contains("example.com was refused. Add --allow-network")
        }
        #expect(told.count == 1, "\(outcome.errors)")
    }

    @Test func `curl is intercepted, and gets nowhere else`() async throws {
        let script = """
            curl -sS -o /dev/null -w '%{http_code} ' https://api.storekit.apple.com/inApps/v1/transactions/1
            curl -sS -o /dev/null -w '%{http_code}' https://other.example/ 2>/dev/null || echo " $?"
            """
        let outcome = try await rig.run(
            "shopkeeper", "exec", "--intercept", "--", "sh", "-c", script)

        #expect(outcome.output == "401 000 56\n", "\(outcome.output) \(outcome.errors)")
        #expect(outcome.errors.contains("other.example was refused"), "\(outcome.errors)")
    }

    /// 6: the answer was 401. 5: the certificate was not trusted.
    @Test func `wget is intercepted, and keeps its own settings`() async throws {
        guard try await rig.run("sh", "-c", "command -v wget").status == 0 else {
            print("skipped: wget is intercepted (there is no wget here)")
            return
        }
        // Its file counts more than variables.
        try Data("tries = 1\nuse_proxy = off".utf8).write(
            to: URL(fileURLWithPath: rig.folder.path).appendingPathComponent(".wgetrc"))
        let script = "wget -q -O - https://api.storekit.apple.com/inApps/v1/transactions/1; echo $?"
        let outcome = try await rig.run(
            "shopkeeper", "exec", "--intercept", "--", "sh", "-c", script)

        #expect(outcome.output == "6\n", "\(outcome.output) \(outcome.errors)")
    }

    @Test func `with a network other hosts are reached`() async throws {
        let other = try ScriptedPeer(.answer(ScriptedPeer.response("200 OK", "hello")))
        let script = "curl -sS --noproxy '' http://127.0.0.2:\(other.port)/x"
        let outcome = try await rig.run(
            "shopkeeper", "exec", "--intercept", "--allow-network", "--", "sh", "-c",
            script.replacingOccurrences(of: "127.0.0.2", with: "127.0.0.1"))

        #expect(outcome.output == "hello", "\(outcome.errors)")
        #expect(other.requests.count == 1)
        #expect(outcome.errors.isEmpty)
    }

    @Test func `Apple's hosts never leave the machine`() throws {
        let plain = Interception.Place(host: "127.0.0.1", port: 1)
        let secure = Interception.Place(host: "127.0.0.1", port: 2)
        func route(_ host: String, _ port: Int, tunnel: Bool = true) -> String {
            let target = ForwardProxy.Target(host: host, port: port, isTunnel: tunnel)
            switch Interception.route(target, plain, secure, allowsNetwork: true) {
            case .connect(let host, let port): return "\(host):\(port)"
            case .refuse: return "refused"
            }
        }

        #expect(route("api.storekit.apple.com", 443) == "127.0.0.1:2")
        #expect(route("api.storekit.apple.com", 80) == "127.0.0.1:1")
        #expect(route("buy.itunes.apple.com", 80, tunnel: false) == "127.0.0.1:1")
        #expect(route("buy.itunes.apple.com", 443, tunnel: false) == "refused")
        #expect(route("api.storekit.apple.com", 8443) == "refused")
        #expect(route("other.example", 8443) == "other.example:8443")
    }

    @Test(arguments: [
        ("", false, ""), ("db.example", false, ""), ("db.example", true, "db.example,"),
        ("*", true, ""), (" *.apple.com , .itunes.apple.com,a.example", true, "a.example,"),
        ("api.storekit.apple.com,APPLE.com", true, ""),
        ("le.com,pineapple.com", true, "le.com,pineapple.com,"),
        ("internal.example apple.com", true, "internal.example,"),
        ("api.storekit.apple.com:443\tdb:5432,[::2]:80", true, "db:5432,[::2]:80,"),
    ])
    func `exclusions stay, but for Apple's hosts`(
        known: String, allowsNetwork: Bool, kept: String
    ) {
        #expect(
            Interception.direct(["no_proxy": known], allowsNetwork: allowsNetwork)
                == kept + "127.0.0.1,localhost,::1")
    }

    @Test func `a port with TLS is trusted by the root, also after a restart`() async throws {
        var store = try await rig.serve("--tls-port", "0")
        let root = rig.path("kept.pem")
        try FileManager.default.copyItem(atPath: rig.path(".shopkeeper/root.pem"), toPath: root)
        for turn in 1...2 {
            let variables = try await rig.object("env")
            let url = try #require(variables["SHOPKEEPER_TLS_URL"] as? String)
            for host in ["127.0.0.1", "localhost"] {
                let asked = try await rig.run(
                    "curl", "-sS", "--cacert", root,
                    url.replacingOccurrences(of: "127.0.0.1", with: host) + "/ready")
                #expect(asked.output.contains("ready"), "\(asked.errors)")
            }
            let distrustful = try await rig.run("curl", "-sS", url + "/ready")
            #expect(distrustful.status == 60, "\(distrustful.errors)")
            store.kill(SIGTERM)
            _ = await store.outcome()
            if turn == 1 { store = try await rig.serve("--tls-port", "0") }
        }
    }

    @Test(arguments: [
        (["serve", "--tls-port", "0", "--behind-proxy", "10.0.0.1"], "tlsTwice"),
        (["serve", "--tls-port", "70000", "--port", "0"], "portInvalid"),
        (["exec", "--allow-network", "--", "true"], "networkNotIntercepted"),
        (
            ["exec", "--intercept", "--behind-proxy", "10.0.0.1", "--", "true"],
            "interceptBehindProxy"
        ),
    ])
    func `what makes no sense is refused`(arguments: [String], code: String) async throws {
        let words = [arguments[0], "--json"] + arguments.dropFirst()
        let outcome = try await rig.run(
            all: ["shopkeeper"] + (arguments[0] == "exec" ? arguments : words))

        #expect(outcome.status == 64, "\(outcome.errors)")
        if arguments[0] == "serve" { #expect(outcome.errors.contains(code)) }
    }
}
