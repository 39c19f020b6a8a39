// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StoreWire

/// Saves a sandbox under a name, and returns to it.
struct SnapshotCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot", abstract: "Save a sandbox, and return to what was saved.",
        discussion: """
            A snapshot has everything in the realm and its time, but no server keys, sessions \
            and calls that were owed. After a load every device signs in again and reads \
            everything anew. No number is given out twice.
            """,
        subcommands: [Save.self, Load.self, Branch.self, List.self, Delete.self])

    struct Save: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "save", abstract: "Save the realm.")
        @Argument(help: "1 to 40 of a–z, 0–9 and `-`.") var name: String
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let saved = try await store.store().controlDoor.post(
                "/snapshots", SaveSnapshotRequest(name: name), as: SnapshotSummary.self)
            try printing.show(
                saved, "Saved \(saved.name): \(saved.rows) rows, at \(saved.now).")
        }
    }

    struct Load: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "load",
            abstract: "Make the realm what it was when it was saved, and its clock.")
        @Argument(help: "The snapshot's name, from `snapshot list`.") var name: String
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let loaded = try await store.store().controlDoor.post(
                "/snapshots/\(DoorClient.part(name))/loads", [String: String](),
                as: SnapshotLoaded.self)
            try printing.show(loaded, "Loaded \(loaded.name): it is \(loaded.now).")
        }
    }

    struct Branch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "branch", abstract: "Make a new sandbox from a snapshot.")
        @Argument(help: "The snapshot's name, from `snapshot list`.") var name: String
        @Argument(help: "The new realm's name: 1 to 40 of a–z, 0–9 and `-`.") var branch: String
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let found = try store.store()
            let made = try await found.storeDoor.post(
                "/realms/\(DoorClient.part(found.realm ?? "default"))/branches",
                BranchRealmRequest(snapshot: name, name: branch), as: RealmSummary.self)
            try printing.show(
                made, "\(made.environment) \(made.name): \(found.run.url)/realms/\(made.name)")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the realm's snapshots.")
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let list = try await store.store().controlDoor.get(
                "/snapshots", as: SnapshotList.self)
            try printing.show(
                list,
                lines: Output.table(
                    list.snapshots.map {
                        [$0.name, "\($0.now)", "\($0.rows) rows", "saved \($0.savedDate)"]
                    }))
        }
    }

    struct Delete: AsyncParsableCommand {
        private struct Deleted: Encodable { let deleted: String }

        static let configuration = CommandConfiguration(
            commandName: "delete", abstract: "Delete a snapshot.")
        @Argument(help: "The snapshot's name, from `snapshot list`.") var name: String
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            try await store.store().controlDoor.delete("/snapshots/\(DoorClient.part(name))")
            try printing.show(Deleted(deleted: name), "Deleted \(name).")
        }
    }
}
