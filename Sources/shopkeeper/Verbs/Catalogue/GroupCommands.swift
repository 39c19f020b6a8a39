// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StoreWire

struct GroupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "group",
        abstract: "Subscription groups; a customer has one subscription of each at a time.",
        discussion: "`product create --group` and `product set --level` add subscriptions.",
        subcommands: [Add.self, Rename.self, List.self, Remove.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Create a group.")

        @Argument(help: "1 to 100 letters, digits, `-`, `.`, `_`.") var group: String
        @Option(name: .long, help: "The merchant's own label; default: the id.") var name: String?
        @Option(name: .long, help: "The name that customers see: en_US=Name.")
        var words: [String] = []
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let made = try await store.operatorDoor.post(
                "/apps/\(bundleID)/groups",
                CreateGroupRequest(
                    groupId: group, name: name, localizations: try words.map(ProductOptions.words)),
                as: GroupRecord.self)
            try printing.show(made, made.words)
        }
    }

    struct Rename: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rename", abstract: "Change the names of a group.")

        @Argument(help: "The group's id.") var group: String
        @Option(name: .long, help: "The merchant's own label.") var name: String?
        @Option(name: .long, help: "The names that customers see: en_US=Name; replaces all.")
        var words: [String] = []
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let changed = try await store.operatorDoor.patch(
                "/apps/\(bundleID)/groups/" + ProductRecord.escaped(group),
                GroupChange(
                    name: name,
                    localizations: words.isEmpty ? nil : try words.map(ProductOptions.words)),
                as: GroupRecord.self)
            try printing.show(changed, changed.words)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List an app's groups and their subscriptions by level.")

        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            let groups = try await store.operatorDoor.get(
                "/apps/\(bundleID)/groups", as: GroupList.self
            ).groups
            try printing.show(
                groups, lines: Output.table(groups.map { [$0.groupId, $0.name, $0.members] }))
        }
    }

    struct Remove: AsyncParsableCommand {
        private struct Removed: Encodable { let removed: String }

        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove an empty group.")

        @Argument(help: "The group's id.") var group: String
        @OptionGroup var app: AppOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let (store, bundleID) = try app.found()
            try await store.operatorDoor.delete(
                "/apps/\(bundleID)/groups/" + ProductRecord.escaped(group))
            try printing.show(Removed(removed: group), "Removed \(group).")
        }
    }
}

extension GroupRecord {
    var members: String {
        products.map { member in
            "\(member.level.map(String.init) ?? "?"): \(member.productId)"
        }.joined(separator: ", ")
    }

    var words: String { "\(groupId)  \(name)  " + (products.isEmpty ? "empty" : members) }
}
