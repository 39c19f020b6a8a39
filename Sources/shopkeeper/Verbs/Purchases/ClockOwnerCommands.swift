// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StoreWire

/// Clocks that customers have instead of the sandbox's.
extension ClockCommand {
    struct Attach: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "attach",
            abstract: "Give customers a clock of their own, which they share.",
            discussion: """
                The clock goes on from the time of the first customer. From then on \
                `clock --customer` moves it, and only what is due to these customers happens. \
                `--clock` lets them share one that others have.
                """)
        @Argument(help: "Numbers or sign-in names.") var customers: [String]
        @Option(name: .long, help: "The number of a clock that other customers have.")
        var clock: String?
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let attached = try await store.store().controlDoor.post(
                "/clocks", AttachClockRequest(customers: customers, clockId: clock),
                as: ClockDescription.self)
            try printing.show(attached, attached.words)
        }
    }

    struct Detach: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "detach", abstract: "Give customers the sandbox's clock again.")
        @Argument(help: "Numbers or sign-in names.") var customers: [String]
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let door = try store.store().controlDoor
            var clock: ClockDescription?
            for customer in customers {
                clock = try await door.delete(
                    ClockOptions.path(customer), as: ClockDescription.self)
            }
            if let clock { try printing.show(clock, clock.words) }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the clocks that customers have.")
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let list = try await store.store().controlDoor.get("/clocks", as: ClockList.self)
            try printing.show(
                list,
                lines: list.clocks.isEmpty
                    ? ["no clocks besides the sandbox's"] : list.clocks.map(\.words))
        }
    }
}
