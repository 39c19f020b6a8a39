// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StoreWire

struct OperatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "operator",
        abstract: "Who has a key of their own to the operators' door.",
        discussion: """
            What is changed with such a key is told under its name by `audit list`. Verbs bring \
            it where SHOPKEEPER_OPERATOR_KEY holds it.
            """,
        subcommands: [Create.self, List.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a key for somebody; it is told this once.")

        @Argument(help: "1 to 100 letters, digits, `-`, `.`, `_`; given once.") var name: String
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let made = try await store.store().storeDoor.post(
                "/operators", CreateOperatorRequest(name: name), as: CreatedOperator.self)
            try printing.show(made, "\(made.name)  \(made.key)")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List who has, or had, a key.")

        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let operators = try await store.store().storeDoor
                .get("/operators", as: OperatorList.self).operators
            try printing.show(
                operators,
                lines: Output.table(
                    operators.map {
                        [$0.name, "\($0.createdDate)", $0.revokedDate == nil ? "" : "revoked"]
                    }))
        }
    }

    struct Revoke: AsyncParsableCommand {
        private struct Revoked: Encodable { let revoked: String }

        static let configuration = CommandConfiguration(
            abstract: "End somebody's key: it opens nothing from now on.")

        @Argument(help: "As `operator list` tells it.") var name: String
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            try await store.store().storeDoor.delete(
                "/operators/" + ProductRecord.escaped(name))
            try printing.show(Revoked(revoked: name), "Revoked \(name)'s key.")
        }
    }
}
