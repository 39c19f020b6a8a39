// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StoreWire

extension CustomerCommand {
    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Clear a sandbox customer's history: all that was bought is gone.",
            discussion: "The customer stays signed in; devices hear of it at once.")

        @Argument(help: "The sign-in name.") var name: String
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let door = try store.store().operatorDoor
            let found = try await CustomerCommand.find(name, door)
            let cleared = try await door.delete(
                "/customers/\(found.customerId)/history", as: HistoryCleared.self)
            try printing.show(
                cleared,
                "Cleared \(name): \(cleared.purchases) purchases, "
                    + "\(cleared.transactions) transactions.")
        }
    }
}
