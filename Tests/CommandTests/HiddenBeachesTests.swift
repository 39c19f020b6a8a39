// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The sample whose products are chosen in the store, as its user sees it.
@Suite(.timeLimit(.minutes(5))) struct HiddenBeachesTests {
    private static let bundleID = "com.example.hiddenbeaches"

    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    /// One run of the game, beside its own server, which goes and comes back.
    @Test func `what is chosen in the store is bought once, later or not at all`() async throws {
        let store = try await serve()
        defer { store.kill(SIGTERM) }
        let lagoon = try await choose("lagoon", wait: 0)
        #expect(lagoon.message.hasSuffix("Install or open it within 24 hours."))
        let (server, url) = try await startServer()
        defer { server.kill(SIGTERM) }
        let game = try await Game(rig, server: url)
        defer { game.process.kill(SIGTERM) }
        await game.says("The Lagoon is yours.")
        await game.says("The store's page hides: The Lagoon.")

        #expect(try await choose("lagoon").message.hasSuffix("It may do so later."))
        await game.says("The Lagoon is yours already. Nothing was charged.")

        try FileManager.default.removeItem(atPath: rig.path("pages/open"))
        await game.says("The game's server is away.")
        let cove = try await choose("cove")
        #expect(cove.message.hasSuffix("It may do so later."))
        await game.says("The Cove is bought as soon as it is there. Until then nothing is charged.")
        _ = try await choose("cove")
        await game.says("The Cove waits for the game's server already.")
        #expect(try await sold().map(\.item) == ["lagoon"])

        try Data().write(to: URL(fileURLWithPath: rig.path("pages/open")))
        await game.says("The Cove is yours.")
        let pro = try await choose("pro")
        #expect(pro.message == "The purchase goes on in the app.")
        await game.says("Pro is yours.")
        game.type("4")
        await game.says("A fishing hot spot is yours.")
        game.type(Array(repeating: "n", count: 10) + ["f"])
        await game.says("begins with: Pro, A fishing hot spot.")
        let sold = try await sold()
        #expect(sold.map(\.item) == ["cove", "hotspot", "lagoon", "pro"])
        #expect(Set(sold.map(\.purchase)).isSuperset(of: [lagoon.id, cove.id, pro.id]))
        game.type("p")
        await game.says("First in the store: Pro, A fishing hot spot")
        await game.says("Hidden: The Lagoon, The Cove, Pro")

        try await refund("lagoon")
        await game.says("The store has taken back: The Lagoon.")
        await game.says("The store's page shows: The Lagoon.")
        game.type("q")
        let outcome = await game.process.outcome()
        #expect(outcome.output.contains("You catch a bream."))
        #expect(outcome.errors == "")
        #expect(outcome.status == 0)
    }

    @Test(arguments: [["buy", "reef"], ["open", "nan"], ["open", "-1"], ["sing"]])
    func `wrong arguments print the usage`(_ arguments: [String]) async throws {
        let outcome = try await ChildProcess.run(
            ["hidden-beaches"] + arguments, environment: rig.environment)

        #expect(outcome.status == 64)
        #expect(outcome.errors.hasPrefix("usage:"))
    }

    /// Serves the sample's products, and promotes them.
    private func serve() async throws -> ChildProcess {
        let folder = try PackageRoot.path() + "/Samples/HiddenBeaches"
        let store = try await rig.serve(
            folder + "/HiddenBeaches.storekit", "--bundle-id", Self.bundleID)
        for item in ["lagoon", "pro", "hotspot"] {
            let promoted = try await rig.run(
                "shopkeeper", "promotion", "set", "\(Self.bundleID).\(item)", "--image",
                folder + "/beach.png")
            #expect(promoted.status == 0, "\(promoted.errors)")
        }
        return store
    }

    /// Chooses in the store, and returns the choice's id, and what the customer is told.
    private func choose(
        _ item: String, wait: Int = 60
    ) async throws -> (id: String, message: String) {
        let choice = try await rig.object(
            "promotion", "choose", "\(Self.bundleID).\(item)", "--wait", "\(wait)")
        return (
            try #require(choice["intentId"] as? String), try #require(choice["message"] as? String)
        )
    }

    /// What was sold, each with the id of its payment.
    private func sold() async throws -> [(item: String, purchase: String)] {
        try await rig.list("transaction", "list").map { sale in
            let product = try #require(sale["productId"] as? String)
            let purchase = try #require(sale["purchaseId"] as? String)
            return (String(product.dropFirst(Self.bundleID.count + 1)), purchase)
        }.sorted { $0.0 < $1.0 }
    }

    private func refund(_ item: String) async throws {
        let sale = try await rig.list("transaction", "list").first {
            $0["productId"] as? String == "\(Self.bundleID).\(item)"
        }
        let id = try #require(sale?["transactionId"] as? String)
        #expect(try await rig.run("shopkeeper", "refund", id).status == 0)
    }

    /// A server, and the address at which it answers 200 while its file is there.
    private func startServer() async throws -> (ChildProcess, String) {
        try FileManager.default.createDirectory(
            atPath: rig.path("pages"), withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: rig.path("pages/open")))
        let server = try ChildProcess(
            [
                try Rig.python(), "-u", "-m", "http.server", "0", "--bind", "127.0.0.1",
                "--directory", rig.path("pages"),
            ], environment: rig.environment)
        let line = await server.line(with: "(http://")
        let address = line?.components(separatedBy: "(").last?.components(separatedBy: ")").first
        return (server, try #require(address) + "open")
    }
}

/// The game with its menu, and a pipe in place of the keyboard.
private struct Game {
    let process: ChildProcess
    private let keys: FileHandle

    init(_ rig: Rig, server: String) async throws {
        let url = try #require(try await rig.object("status")["url"] as? String)
        var variables = rig.environment
        variables["SHOPKEEPER_URL"] = url
        variables["SHOPKEEPER_BUNDLE_ID"] = "com.example.hiddenbeaches"
        // Otherwise a choice that is slow to arrive would start a second game.
        variables["SHOPKEEPER_DEVICE"] = rig.path("device")
        variables["HIDDEN_BEACHES_URL"] = server
        try #require(mkfifo(rig.path("keys"), 0o600) == 0)
        // Also for reading, because opening does not wait for the game then.
        keys = try #require(FileHandle(forUpdatingAtPath: rig.path("keys")))
        process = try ChildProcess(
            ["sh", "-c", "exec hidden-beaches < keys"], environment: variables,
            folder: URL(fileURLWithPath: rig.folder.path))
    }

    func type(_ line: String) { type([line]) }

    func type(_ lines: [String]) {
        keys.write(Data((lines.joined(separator: "\n") + "\n").utf8))
    }

    /// Waits for the next line with these words.
    func says(_ words: String, at place: SourceLocation = #_sourceLocation) async {
        let line = await process.line(with: words, at: place)
        #expect(line != nil, "“\(words)”", sourceLocation: place)
    }
}
