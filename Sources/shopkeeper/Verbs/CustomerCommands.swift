// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StoreWire

struct CustomerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "customer", abstract: "Accounts at the store.",
        subcommands: [Create.self, Change.self, Clear.self, List.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make a customer.")

        @Argument(help: "The sign-in name.") var name: String
        @Option(name: .long, help: "Needed in production.") var password: String?
        @Option(name: .long, help: "Alpha-3 country code.") var storefront: String?
        @Flag(name: .long, help: "A customer who may not buy.") var restricted = false
        @Flag(name: .long, help: "A customer whose payments wait for `approve`.")
        var asksToBuy = false
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let made = try await store.store().operatorDoor.post(
                "/customers",
                CreateCustomerRequest(
                    name: name, password: password, storefront: storefront,
                    canMakePayments: restricted ? false : nil,
                    asksToBuy: asksToBuy ? true : nil),
                as: CustomerSummary.self)
            try printing.show(made, "\(made.customerId)  \(made.name)  \(made.storefront)")
        }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change what a customer may do.")

        @Argument(help: "The sign-in name.") var name: String
        @Flag(inversion: .prefixedNo, help: "Whether payments wait for `approve`.")
        var asksToBuy: Bool?
        @Flag(inversion: .prefixedNo, help: "Whether the customer may not buy.")
        var restricted: Bool?
        @Option(name: .long, help: "A new password; ends the customer's sessions.")
        var password: String?
        @Option(name: .long, help: "Alpha-3 country code: the customer has moved.")
        var storefront: String?
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let door = try store.store().operatorDoor
            let found = try await CustomerCommand.find(name, door)
            let changed = try await door.patch(
                "/customers/\(found.customerId)",
                ChangeCustomerRequest(
                    canMakePayments: restricted.map { !$0 }, asksToBuy: asksToBuy,
                    password: password, storefront: storefront),
                as: CustomerSummary.self)
            try printing.show(
                changed,
                "\(changed.customerId)  \(changed.name)  \(CustomerCommand.rights(changed))")
        }
    }

    static func rights(_ customer: CustomerSummary) -> String {
        guard customer.canMakePayments else { return "may not buy" }
        return customer.asksToBuy ? "asks to buy" : "may buy"
    }

    /// The customer of a sign-in name; without one the answer is no.
    static func find(_ name: String, _ door: DoorClient) async throws -> CustomerSummary {
        guard let found = try await all(door).first(where: { $0.name == name }) else {
            throw Failure(
                .no, "customerNotFound", "There is no customer \(name).", field: "name",
                remedy: "list the customers with `customer list`")
        }
        return found
    }

    /// Every customer, page by page.
    static func all(_ door: DoorClient) async throws -> [CustomerSummary] {
        var customers: [CustomerSummary] = []
        while true {
            let after = customers.last.map { "?after=\($0.customerId)" } ?? ""
            let page = try await door.get("/customers" + after, as: CustomerList.self).customers
            if page.isEmpty { return customers }
            customers += page
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the customers.")

        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let customers = try await CustomerCommand.all(try store.store().operatorDoor)
            try printing.show(
                customers,
                Output.table(
                    customers.map {
                        [$0.customerId, $0.name, $0.storefront, CustomerCommand.rights($0)]
                    }))
        }
    }
}
