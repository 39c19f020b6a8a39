// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StoreWire

struct LedgerKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Keys to a running ledger, for servers and apps.",
        subcommands: [Create.self, List.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Create a key, and print it for the only time.")

        @Argument(help: "What it is for.") var name: String
        @Option(
            name: .long,
            help: "server: everything; app: with an account's token, what is the account's.")
        var scope: String
        @OptionGroup var ledger: LedgerOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let created = try await ledger.door().post(
                "/api-keys", CreateLedgerKeyRequest(name: name, scope: scope),
                as: CreatedLedgerKey.self)
            try printing.show(
                created,
                lines: [
                    created.key,
                    "This is \(created.keyId). The key is not shown again.",
                ])
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the keys, without their secrets.")

        @OptionGroup var ledger: LedgerOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let keys = try await ledger.door().get("/api-keys", as: LedgerKeys.self).keys
            try printing.show(
                keys,
                lines: Output.table(
                    keys.map {
                        [
                            $0.keyId, $0.name, $0.scope, "created \($0.createdDate)",
                            $0.revokedDate.map { "revoked \($0)" } ?? "valid",
                        ]
                    }))
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke", abstract: "Revoke a key; it opens nothing any more.")

        @Argument(help: "The key's id.") var keyId: String
        @OptionGroup var ledger: LedgerOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            struct Empty: Encodable {}
            let key = try await ledger.door().post(
                "/api-keys/\(DoorClient.part(keyId))/revoke", Empty(), as: LedgerKeyRecord.self)
            try printing.show(key, "Revoked \(key.keyId) (\(key.name)).")
        }
    }
}

struct LedgerTokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make a token with which an app proves an account for a short time.")

    @Argument(help: "The account.") var account: String
    @Option(name: .long, help: "How long it is valid: 1 to 3600 seconds; default: 900.")
    var seconds: Int?
    @OptionGroup var ledger: LedgerOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let path = try LedgerOptions.path(account)
        let issued = try await ledger.door().post(
            "\(path)/tokens", AccountTokenRequest(seconds: seconds),
            as: IssuedAccountToken.self)
        try printing.show(issued, issued.token)
    }
}

struct LedgerAuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "List the changes made through server keys and commands, newest first.")

    @Option(name: .long, help: "Only those of one account.") var account: String?
    @Option(name: .long, help: "The most entries.") var limit = 100
    @OptionGroup var ledger: LedgerOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let door = try ledger.door()
        var entries: [LedgerAuditEntry] = []
        var after: String?
        repeat {
            let query = [
                ("account", account), ("after", after),
                ("limit", "\(min(100, max(1, limit - entries.count)))"),
            ].compactMap { name, value in value.map { "\(name)=\(DoorClient.part($0))" } }
            let page = try await door.get(
                "/audit?\(query.joined(separator: "&"))", as: LedgerAudit.self)
            entries += page.entries
            after = page.next
        } while after != nil && entries.count < limit
        try printing.show(
            entries,
            lines: Output.table(
                entries.map {
                    ["\($0.date)", $0.actor, $0.action, $0.account ?? "", $0.subject ?? ""]
                }))
    }
}
