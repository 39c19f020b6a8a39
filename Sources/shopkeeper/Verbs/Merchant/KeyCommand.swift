// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import StoreWire

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Keys of merchants' servers for Apple's door.",
        subcommands: [Create.self, List.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a server key; its private half is printed this once.")

        @Option(name: .long, help: "The app; default: the served one.") var bundleId: String?
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let found = try store.store()
            let made = try await found.operatorDoor.post(
                "/server-keys",
                CreateServerKeyRequest(bundleId: bundleId ?? found.run.bundleId),
                as: CreatedServerKey.self)
            Output.ifLost(
                "The server key `\(made.keyId)` was created, and could not be written: nobody has "
                    + "its private half.",
                remedy: "run `key revoke \(made.keyId)`, then `key create` again")
            try printing.show(
                made,
                lines: ["key \(made.keyId), issuer \(made.issuerId)"]
                    + made.privateKey.split(separator: "\n").map(String.init))
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the server keys.")

        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let keys = try await store.store().operatorDoor
                .get("/server-keys", as: ServerKeyList.self).serverKeys
            try printing.show(
                keys,
                lines: Output.table(
                    keys.map {
                        [
                            $0.keyId, $0.issuerId, $0.bundleId,
                            $0.revokedDate == nil ? "" : "revoked",
                        ]
                    }))
        }
    }
}

extension KeyCommand {
    struct Revoke: AsyncParsableCommand {
        private struct Revoked: Encodable { let revoked: String }

        static let configuration = CommandConfiguration(
            abstract: "Revoke a server key; its tokens become invalid.")

        @Argument(help: "The key's id, from `key list`.") var key: String
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            try await store.store().operatorDoor.delete(
                "/server-keys/" + ProductRecord.escaped(key))
            try printing.show(Revoked(revoked: key), "Revoked \(key).")
        }
    }
}
