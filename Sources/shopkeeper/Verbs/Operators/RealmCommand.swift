// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import StoreWire

struct RealmCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "realm", abstract: "The isolated worlds inside a store.",
        subcommands: [Create.self, List.self, Delete.self, RealmResetCommand.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Create a realm.")

        @Argument(help: "The realm's name: 1 to 40 of a–z, 0–9 and `-`.") var name: String
        @Flag(name: .long, help: "Create a production realm; default: a sandbox.")
        var production = false
        @Option(
            name: .long,
            help: "The environment in what it signs: Production, Sandbox, LocalTesting, Xcode.")
        var environment: String?
        @Option(name: .long, help: "The same seed and commands give the same ids. Sandboxes only.")
        var seed: Int64?
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let asked = try NamedEnvironment.parse(environment)
            guard asked == nil || !production else {
                throw Failure(
                    .usage, "environmentUnclear", "The environment is given twice.",
                    field: "--environment", rule: "one of --production and --environment",
                    remedy: "leave one of them out")
            }
            let found = try store.store()
            let made = try await found.storeDoor.post(
                "/realms",
                CreateRealmRequest(
                    name: name, environment: production ? .production : asked, seed: seed),
                as: RealmSummary.self)
            try printing.show(
                made, "\(made.environment) \(made.name): \(found.run.url)/realms/\(made.name)")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the realms.")

        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let realms = try await store.store().storeDoor.get("/realms", as: RealmList.self).realms
            try printing.show(
                realms,
                lines: Output.table(
                    realms.map { [$0.name, $0.environment.rawValue, $0.id, "\($0.createdDate)"] }))
        }
    }

    struct Delete: AsyncParsableCommand {
        private struct Deleted: Encodable { let deleted: String }

        static let configuration = CommandConfiguration(
            commandName: "delete", abstract: "Delete a realm and everything in it.")

        @Argument(help: "The realm's name, from `realm list`.") var name: String
        @OptionGroup var confirmation: Confirmation
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let door = try store.store().storeDoor
            try confirmation.ask("Delete the realm \(name) and everything in it?")
            try await door.delete("/realms/\(DoorClient.part(name))")
            try printing.show(Deleted(deleted: name), "Deleted \(name).")
        }
    }
}
