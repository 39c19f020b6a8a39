// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import StoreWire

/// Failures that a sandbox simulates toward merchants' servers and devices.
struct FaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault", abstract: "Simulate failures toward merchants' servers and devices.",
        discussion: Fault.Name.allCases.map { name in
            "\(name.rawValue): \(name.rule)."
        }.joined(separator: "\n") + """


            `fault set notifications lose` sends none, `duplicate` sends each twice, `reorder` \
            lets later ones overtake, and `delay=SECONDS` keeps each back, by the realm's clock. \
            `fault set devices 500` fails sign-ins, products and payments without a reason, \
            and `fault set payments "product=pro attempt=1"` declines what it names. \
            Each stays until `fault clear`. Sandboxes only.
            """,
        subcommands: [Set.self, Clear.self, List.self], defaultSubcommand: List.self)

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Switch a failure on.")
        @Argument(help: "The failure's name.") var name: String
        @Argument(help: "Its value.") var value: String
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let set = try await store.store().controlDoor.put(
                "/faults/\(DoorClient.part(name))", SetFaultRequest(value: value),
                as: FaultRecord.self)
            try printing.show(set, "\(set.name): \(set.value)")
        }
    }

    struct Clear: AsyncParsableCommand {
        private struct Cleared: Encodable { let cleared: String }

        static let configuration = CommandConfiguration(
            commandName: "clear", abstract: "Switch a failure off.")
        @Argument(help: "The failure's name.") var name: String
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            try await store.store().controlDoor.delete("/faults/\(DoorClient.part(name))")
            try printing.show(Cleared(cleared: name), "\(name): off")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List what is simulated (default).")
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let list = try await store.store().controlDoor.get("/faults", as: FaultList.self)
            try printing.show(
                list, lines: Output.table(list.faults.map { [$0.name, $0.value] }))
        }
    }
}
