// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StoreWire

extension CustomerCommand {
    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear", abstract: "Delete everything that a sandbox customer bought.",
            discussion: "The customer stays signed in, and devices are notified at once.")

        @Argument(help: "The sign-in name.") var name: String
        @OptionGroup var confirmation: Confirmation
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let door = try store.store().operatorDoor
            let found = try await CustomerCommand.find(name, door)
            try confirmation.ask("Delete everything that the customer \(name) bought?")
            let cleared = try await door.delete(
                "/customers/\(found.customerId)/history", as: HistoryCleared.self)
            try printing.show(
                cleared,
                "Cleared \(name): \(cleared.purchases) purchases, "
                    + "\(cleared.transactions) transactions.")
        }
    }
}
