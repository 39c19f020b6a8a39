// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import StorageSQLite
import StoreWire

/// Prints how a merchant's server reaches a running store.
struct ConnectCommand: AsyncParsableCommand {
    private struct Answer: Encodable {
        let client: String
        let snippet: String
        let url: String
        let root: String
        let environment: String
        let bundleId: String
        let keyId: String
        let issuerId: String
        let serverKey: String
    }

    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Print code that asks a running store instead of Apple.",
        discussion: """
            The code asks for one transaction, whose id is its argument, and verifies the answer. \
            For a client that cannot be changed, see `exec --intercept`.
            """)

    @Argument(help: "python, node, java, swift, php or curl.") var client: ConnectedClient
    @OptionGroup var key: LocalKeyOptions
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let found = try store.store()
        let key = try await key.find(found)
        try await key.prove(at: found)
        let realms = try await found.storeDoor.get("/realms", as: RealmList.self).realms
        let name = found.realm ?? "default"
        let environment = realms.first { $0.name == name }?.environment ?? .sandbox
        guard !client.refuses(environment) else {
            throw Failure(
                .no, "environmentUnsupported",
                "Apple's client for \(client.rawValue) does not work in the environment Xcode.",
                field: "client", rule: "swift, php or curl in a realm of the environment Xcode",
                remedy: "take one of these, or a realm of the environment LocalTesting or Sandbox")
        }
        let isProduction = environment == .production
        // The number of the key's app, which need not be the one that is served.
        let apps = try await found.operatorDoor.get("/apps", as: AppList.self).apps
        let appID = apps.first { $0.bundleId == key.bundleID }?.appAppleId
        guard !isProduction || !client.needsAppNumber || appID != nil else {
            throw Failure(
                .no, "appNumberMissing",
                "Apple's client for \(client.rawValue) verifies data of production only with the "
                    + "app's number, and \(key.bundleID) has none in this realm.",
                field: "appAppleId", rule: "a number",
                remedy: "run `\(OwnCommand.words()) app set --app-id N --bundle-id "
                    + "\(key.bundleID) --realm \(name)`")
        }
        let facts = ConnectionFacts(
            url: found.run.publicUrl.map { url in found.realm.map { "\(url)/realms/\($0)" } ?? url }
                ?? found.url,
            root: isProduction ? try await productionRoot(found) : found.run.root,
            environment: environment,
            appID: appID,
            data: found.run.data, realm: found.realm, key: key)
        let snippet = client.snippet(facts)
        guard printing.json else { return Output.contents(snippet) }
        try Output.answer(
            json: Answer(
                client: client.rawValue, snippet: snippet, url: facts.url, root: facts.root,
                environment: environment.rawValue,
                bundleId: key.bundleID, keyId: key.keyID, issuerId: key.issuerID,
                serverKey: key.path))
    }

    /// Writes the root of production realms beside that of the sandboxes.
    private func productionRoot(_ found: RunningStore) async throws -> String {
        let path = found.run.data + "/root-production.pem"
        let pem = try await found.publicDoor.bytes(
            "/certificates/root?kind=production&format=pem")
        do { try PrivateFiles.store([UInt8](pem), as: path, mode: 0o644) } catch {
            throw Failure(
                .taken, "fileUnwritable", "\(error)", field: "--data",
                remedy: "run this as the user who serves the store")
        }
        return path
    }
}

/// What a client of a store needs to know.
struct ConnectionFacts {
    let url: String
    let root: String
    let environment: Environment
    let appID: Int64?
    let data: String
    let realm: String?
    let key: LocalServerKey
}
