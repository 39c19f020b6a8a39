// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import SignedData
import StorageSQLite
import StoreWire

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Keys of merchants' servers for Apple's door.",
        subcommands: [Create.self, Token.self, List.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        /// What `--json` prints: the answer, and where the private half is.
        private struct Answer: Encodable {
            let keyId: String
            let issuerId: String
            let bundleId: String
            let privateKey: String
            let file: String
        }

        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Create a server key; the store keeps its public half only.")

        @Option(name: .long, help: "The app; default: the served one.") var bundleId: String?
        @Option(
            name: .shortAndLong,
            help: "The file for its private half, .p8; default: in the data directory.")
        var output: String?
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let found = try store.store()
            if let output, FileManager.default.fileExists(atPath: output) {
                throw Failure(
                    .taken, "fileExists", "\(output) exists already.", field: "--output",
                    rule: "a new file", remedy: "name another one, or remove it")
            }
            let made = try await found.operatorDoor.post(
                "/server-keys",
                CreateServerKeyRequest(bundleId: bundleId ?? found.run.bundleId),
                as: CreatedServerKey.self)
            let file = try write(made, found.run)
            Output.ifLost(
                "The server key `\(made.keyId)` was created, and its private half is in \(file).",
                remedy: "`key list` shows its issuer; or run `key revoke \(made.keyId)`, then "
                    + "`key create` again")
            try printing.show(
                Answer(
                    keyId: made.keyId, issuerId: made.issuerId, bundleId: made.bundleId,
                    privateKey: made.privateKey, file: file),
                lines: [
                    "Key id:      \(made.keyId)", "Issuer id:   \(made.issuerId)",
                    "Private key: \(file)", "",
                    "For a client: \(OwnCommand.words()) connect python --key \(made.keyId)"
                        + (output == nil ? "" : " --key-file \(ShellWord.quoted(file))")
                        + (store.data.map { " --data \(ShellWord.quoted($0))" } ?? "")
                        + (found.realm.map { " --realm \($0)" } ?? ""),
                ])
        }

        /// Stores the private half, and returns its path.
        private func write(_ made: CreatedServerKey, _ run: RunFile) throws -> String {
            let path =
                output.map { URL(fileURLWithPath: $0).path }
                ?? LocalServerKey.path(of: made.keyId, inData: run.data)
            do {
                if output == nil {
                    try PrivateFiles.makeFolder(run.data + "/keys/server")
                }
                try PrivateFiles.store(Array(made.privateKey.utf8), as: path, replaces: false)
            } catch {
                throw Failure(
                    .taken, "fileUnwritable",
                    "The key \(made.keyId) was created, and its private half could not be written: "
                        + "\(error)",
                    field: output == nil ? "--data" : "--output",
                    rule: "a new file in a folder "
                        + "that you may write in",
                    remedy: "run `key revoke \(made.keyId)`, then `key create` with another "
                        + "--output")
            }
            return path
        }
    }

    struct Token: AsyncParsableCommand {
        private struct Answer: Encodable {
            let token: String
            let keyId: String
            let bundleId: String
        }

        static let configuration = CommandConfiguration(
            commandName: "token",
            abstract: "Print a bearer token for Apple's door, as a merchant's server signs it.")

        @OptionGroup var key: LocalKeyOptions
        @Option(name: .long, help: "For how many seconds it is valid, at most 3600.")
        var seconds: Int64 = 300
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            guard (1...BearerToken.lifetimeSecondsMax).contains(seconds) else {
                throw Failure(
                    .usage, "lifetimeInvalid", "No token is valid for \(seconds) seconds.",
                    field: "--seconds", rule: "1 to \(BearerToken.lifetimeSecondsMax)")
            }
            let known = try await key.find(try store.store())
            let token = try known.token(lifetimeSeconds: seconds)
            try printing.show(
                Answer(token: token, keyId: known.keyID, bundleId: known.bundleID), token)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the server keys.")

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
            commandName: "revoke", abstract: "Revoke a server key; its tokens become invalid.")

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
