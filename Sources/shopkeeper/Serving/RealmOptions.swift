// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Shop
import ShopServer
import StoreWire

/// The realms that have a host or a port of their own, in addition to
/// `/realms/NAME`.
struct RealmOptions: ParsableArguments {
    @Option(
        name: .long,
        help: "NAME=HOST: requests for the host, without a prefix, go to the realm; repeatable.")
    var realmHost: [String] = []

    @Option(
        name: .long,
        help: "NAME=PORT: requests at the port go to the realm; 0 for any free one; repeatable.")
    var realmPort: [String] = []

    func route() throws -> RealmRoute {
        var hosts: [String: String] = [:]
        for text in realmHost {
            let (realm, host) = try Self.parts(text, "--realm-host", "NAME=HOST")
            guard hosts.updateValue(realm, forKey: host.lowercased()) == nil else {
                throw Self.twice(host, "--realm-host", "a host is one realm's")
            }
        }
        do { return try RealmRoute(hosts: hosts) } catch {
            throw Failure(
                .usage, error.code, error.message, field: "--realm-host", rule: error.rule,
                remedy: error.remedy)
        }
    }

    func listeners(beside main: Int) throws -> [ShopServerConfiguration.Listener] {
        var ports: Set<Int> = [main]
        var realms: Set<String> = []
        return try realmPort.map { text in
            let (realm, word) = try Self.parts(text, "--realm-port", "NAME=PORT")
            guard let port = Int(word), (0...65_535).contains(port) else {
                throw Failure(
                    .usage, "portInvalid", "There is no port \(word).", field: "--realm-port",
                    rule: "0 (any free one) to 65535", remedy: "choose another")
            }
            guard realms.insert(realm).inserted, port == 0 || ports.insert(port).inserted else {
                throw Self.twice(text, "--realm-port", "a port is one realm's, and a realm has one")
            }
            return try ShopServerConfiguration.Listener(name: realm, port: port)
        }
    }

    private static func parts(
        _ text: String, _ field: String, _ rule: String
    ) throws -> (realm: String, value: String) {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, RealmRow.isName(parts[0]) else {
            throw Failure(
                .usage, "realmOptionInvalid", "`\(text)` names no realm and its place.",
                field: field, rule: rule + ", NAME of 1 to 40 of a–z, 0–9 and `-`",
                remedy: "write it so, such as test=4781 or test=test.store.example")
        }
        return (parts[0], parts[1])
    }

    private static func twice(_ text: String, _ field: String, _ rule: String) -> Failure {
        Failure(
            .usage, "realmOptionTwice", "`\(text)` is named twice.", field: field, rule: rule,
            remedy: "leave one of them out")
    }
}
