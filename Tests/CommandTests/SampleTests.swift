// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The sample, as its user sees it.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct SampleTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    @Test func `3 × 5 credits are 15, also after a restart`() async throws {
        let outcome = try await rig.run(
            "shopkeeper", "exec", "--", "sh", "-c",
            "monkey-credits buy 5 --quantity 3 && monkey-credits balance && monkey-credits spend 4")

        #expect(outcome.output == "15\n15\n11\n")
        #expect(outcome.status == 0)
    }

    @Test func `titles and prices come from the store`() async throws {
        let outcome = try await rig.run("shopkeeper", "exec", "--", "monkey-credits", "products")

        #expect(outcome.output.contains("5 Monkey Credits\t$0.99\tA handful of credits"))
        #expect(outcome.output.contains("10 Monkey Credits\t$1.79\t"))
    }

    @Test func `the sample's own file is served without a warning`() async throws {
        let file = try PackageRoot.path() + "/Samples/MonkeyCredits/MonkeyCredits.storekit"
        let outcome = try await rig.run(
            "shopkeeper", "exec", file, "--bundle-id", "com.example.monkeycredits", "--",
            "monkey-credits", "buy", "10")

        #expect(outcome.output == "10\n")
        #expect(outcome.errors == "")
    }

    @Test func `a store that is away is the network's fault, until it comes back`() async throws {
        let away = try await rig.run(
            "monkey-credits", "buy", "5", with: ["SHOPKEEPER_URL": "http://127.0.0.1:1"])
        let store = try await rig.serve()
        let url = try #require(try await rig.object("status")["url"] as? String)
        let back = try await rig.run("monkey-credits", "buy", "5", with: ["SHOPKEEPER_URL": url])
        store.kill(SIGTERM)

        #expect(away.status == 69)
        #expect(away.errors == "Network down?\n")
        #expect(back.output == "5\n")
    }

    @Test func `a restricted device has a disabled store`() async throws {
        let outcome = try await rig.run(
            "shopkeeper", "exec", "--", "env", "SHOPKEEPER_RESTRICTED=1", "monkey-credits", "buy",
            "5")

        #expect(outcome.status == 1)
        #expect(outcome.errors == "Store disabled\n")
    }

    @Test func `a cancelled purchase prints no error`() async throws {
        let outcome = try await rig.run(
            "shopkeeper", "exec", "--", "env", "SHOPKEEPER_SHEET=cancel", "monkey-credits", "buy",
            "5")

        #expect(outcome.status == 1)
        #expect(outcome.output == "")
        #expect(outcome.errors == "")
    }

    /// `balance` listens for a moment only: it is asked until the moment was
    /// long enough, and twice more.
    @Test func `what was bought while it did not run is credited, once`() async throws {
        let outcome = try await rig.run(
            "shopkeeper", "exec", "--", "sh", "-c",
            """
            shopkeeper buy com.example.monkeycredits.credits10 --unfinished >&2
            while [ "$(monkey-credits balance)" = 0 ]; do :; done
            monkey-credits balance; monkey-credits balance
            """)

        #expect(outcome.output == "10\n10\n")
    }

    /// The first `buy` is answered with what is owed, unless that was delivered and finished
    /// before the payment came to the store: then it is sold again. If it was finished while
    /// the answer was under way, the payment ends without a second delivery.
    @Test func `an owed purchase and new ones are credited, each once`() async throws {
        let outcome = try await rig.run(
            "shopkeeper", "exec", "--", "sh", "-c",
            """
            shopkeeper buy com.example.monkeycredits.credits5 --unfinished >&2
            monkey-credits buy 5
            monkey-credits buy 5
            shopkeeper transaction list --json | grep -c '"productId"'
            """)

        let right = ["5\n10\n2\n", "10\n15\n3\n", "10\n2\n"]
        #expect(right.contains(outcome.output), "\(outcome.output)")
    }

    @Test func `killed at any moment, it credits what was sold, once`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        let url = try #require(try await rig.object("status")["url"] as? String)
        var variables = rig.environment
        variables["SHOPKEEPER_URL"] = url

        for turns in 0..<12 {
            let app = try ChildProcess(
                ["monkey-credits", "buy", "5"], environment: variables,
                folder: URL(fileURLWithPath: rig.folder.path))
            // A little later each time, by doing something instead of sleeping.
            for _ in 0..<turns { _ = try await rig.run("true") }
            app.kill(SIGKILL)
            _ = await app.outcome()
        }
        _ = try await rig.run("monkey-credits", "buy", "5", with: ["SHOPKEEPER_URL": url])

        let (balance, sold) = try await settled(url)
        #expect(sold >= 1)
        #expect(balance == "\(5 * sold)\n")
    }

    @Test func `processes that share a wallet lose none of its changes`() async throws {
        let wallet = rig.path("wallet/wallet.json")
        try FileManager.default.createDirectory(
            atPath: rig.path("wallet"), withIntermediateDirectories: true)
        try Data(#"{"balance": 1000, "credited": []}"#.utf8).write(
            to: URL(fileURLWithPath: wallet))
        let apps = try (0..<24).map { _ in
            try ChildProcess(
                ["monkey-credits", "spend", "10"], environment: rig.environment,
                folder: URL(fileURLWithPath: rig.folder.path))
        }
        var spent = 0
        for app in apps where await app.outcome().status == 0 { spent += 10 }

        let left = try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(fileURLWithPath: wallet)))
        #expect(spent == 240)
        #expect((left as? [String: Any])?["balance"] as? Int == 1000 - spent)
    }

    /// A process that was stopped while it had the wallet stops no other for ever.
    @Test func `a wallet that another process keeps locked is a fault`() async throws {
        try FileManager.default.createDirectory(
            atPath: rig.path("wallet"), withIntermediateDirectories: true)
        let lock = open(rig.path("wallet/wallet.lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(lock) }
        try #require(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)

        let refused = try await rig.run("monkey-credits", "spend", "10")

        #expect(refused.status == 1, "\(refused.output)")
        #expect(refused.errors.contains("keeps it locked"), "\(refused.errors)")
    }

    /// Starts the app until the store knows everything sold as finished: the
    /// balance that this last start showed, and the number of sales. What is
    /// finished was credited before, and the balance is shown after that.
    private func settled(_ url: String) async throws -> (balance: String, sold: Int) {
        while true {
            try Task.checkCancellation()
            let shown = try await rig.run(
                "monkey-credits", "balance", with: ["SHOPKEEPER_URL": url])
            let sold = try await rig.list("transaction", "list")
            if sold.allSatisfy({ $0["isFinished"] as? Bool == true }) {
                return (shown.output, sold.count)
            }
        }
    }

    @Test(arguments: [["buy", "7"], ["buy", "5", "--quantity", "11"], ["spend", "0"], ["sing"]])
    func `wrong arguments print the usage`(_ arguments: [String]) async throws {
        let outcome = try await ChildProcess.run(
            ["monkey-credits"] + arguments, environment: rig.environment)

        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("usage:"))
    }
}
