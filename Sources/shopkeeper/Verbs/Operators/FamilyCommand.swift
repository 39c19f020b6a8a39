// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import StoreWire

struct FamilyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "family",
        abstract: "Families of customers, who get what the others buy.",
        discussion: """
            A family has an organiser and up to five members. Shared are non-consumables and \
            auto-renewable subscriptions that the catalogue makes shareable. A member gets a \
            transaction of the own, which costs nothing, for each app that the member uses.
            """,
        subcommands: [
            FamilyShareCommand.self, FamilyStopCommand.self, FamilyShowCommand.self,
        ])
}

struct FamilyShareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share",
        abstract: "Add a member to an organiser's family, or let a customer share again.")

    @Argument(help: "The sign-in name or number of the organiser, or of a customer to share again.")
    var customer: String
    @Argument(help: "The new member's sign-in name or number.") var member: String?
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let door = try store.store().operatorDoor
        let customer = try await CustomerCommand.find(customer, door)
        guard let member else {
            return try printing.show(
                family: try await door.put(
                    "/customers/\(customer.customerId)/family/sharing",
                    FamilySharingRequest(isSharing: true), as: FamilyRecord.self))
        }
        let joining = try await CustomerCommand.find(member, door)
        try printing.show(
            family: try await door.put(
                "/customers/\(customer.customerId)/family/members/\(joining.customerId)",
                as: FamilyRecord.self))
    }
}

struct FamilyStopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Remove a customer from a family. An organiser dissolves it.")

    @Argument(help: "The customer's sign-in name or number.") var customer: String
    @Flag(help: "Stay in the family, and only stop sharing purchases.") var purchases = false
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let door = try store.store().operatorDoor
        let customer = try await CustomerCommand.find(customer, door)
        let path = "/customers/\(customer.customerId)/family"
        guard !purchases else {
            return try printing.show(
                family: try await door.put(
                    path + "/sharing", FamilySharingRequest(isSharing: false),
                    as: FamilyRecord.self))
        }
        let family = try await door.get(path, as: FamilyRecord.self)
        try printing.show(
            family: try await door.delete(
                "/customers/\(family.organiserId)/family/members/\(customer.customerId)",
                as: FamilyRecord.self))
    }
}

struct FamilyShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the family of a customer.")

    @Argument(help: "The customer's sign-in name or number.") var customer: String
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let door = try store.store().operatorDoor
        let customer = try await CustomerCommand.find(customer, door)
        try printing.show(
            family: try await door.get(
                "/customers/\(customer.customerId)/family", as: FamilyRecord.self))
    }
}

extension PrintOptions {
    fileprivate func show(family: FamilyRecord) throws {
        let lines = Output.table(
            family.people.map { person in
                [
                    person.customerId,
                    person.customerId == family.organiserId ? "organiser" : "member",
                    person.isSharing ? "shares purchases" : "shares nothing",
                    "since \(person.joinedDate)",
                ]
            })
        try show(family, lines: family.people.isEmpty ? ["The family is dissolved."] : lines)
    }
}
