// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StoreWire

struct OperatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "operator",
        abstract: "Operators with a key of their own.",
        discussion: """
            `audit list` reports changes under the name of the key. The verbs use the key in \
            SHOPKEEPER_OPERATOR_KEY.
            """,
        subcommands: [Create.self, List.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Create an operator's key; it is printed this once.")

        @Argument(help: "1 to 100 letters, digits, `-`, `.`, `_`; never used again.") var name:
            String
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let made = try await store.store().storeDoor.post(
                "/operators", CreateOperatorRequest(name: name), as: CreatedOperator.self)
            Output.ifLost(
                "The operator `\(made.name)` was created, and the key could not be written: nobody "
                    + "has it.",
                remedy: "run `operator revoke \(made.name)`, then `operator create` with another "
                    + "name")
            try printing.show(made, "\(made.name)  \(made.key)")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the operators, with revoked keys.")

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
            commandName: "revoke", abstract: "Revoke an operator's key.")

        @Argument(help: "The operator's name, from `operator list`.") var name: String
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            try await store.store().storeDoor.delete(
                "/operators/" + ProductRecord.escaped(name))
            try printing.show(Revoked(revoked: name), "Revoked \(name)'s key.")
        }
    }
}
