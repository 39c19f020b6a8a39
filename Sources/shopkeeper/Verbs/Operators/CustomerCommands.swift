// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StoreWire

struct CustomerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "customer", abstract: "Accounts at the store.",
        subcommands: [Create.self, Change.self, Clear.self, List.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Create a customer.")

        @Argument(help: "The sign-in name.") var name: String
        @Option(name: .long, help: "An e-mail address, for people; it is no sign-in name.")
        var email: String?
        @Option(
            name: .long, help: "Required in production; other users may see it in a process list.")
        var password: String?
        @OptionGroup var secret: PasswordFileOption
        @Option(name: .long, help: "Alpha-3 country code.") var storefront: String?
        @Flag(name: .long, help: "Forbid purchases.") var restricted = false
        @Flag(name: .long, help: "Let payments wait for `approve` (Ask to Buy).")
        var asksToBuy = false
        @Flag(help: "Interrupt purchases until `approve`; sandboxes only.")
        var interruptsPurchases = false
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let made = try await store.store().operatorDoor.post(
                "/customers",
                CreateCustomerRequest(
                    name: name, email: email, password: try secret.password(or: password),
                    storefront: storefront,
                    canMakePayments: restricted ? false : nil,
                    asksToBuy: asksToBuy ? true : nil,
                    interruptsPurchases: interruptsPurchases ? true : nil),
                as: CustomerSummary.self)
            try printing.show(made, CustomerCommand.row(made).joined(separator: "  "))
        }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "change", abstract: "Change a customer; other fields keep their values.")

        @Argument(help: "The sign-in name.") var name: String
        @Flag(inversion: .prefixedNo, help: "Whether payments wait for `approve`.")
        var asksToBuy: Bool?
        @Flag(
            inversion: .prefixedNo,
            help: "Whether purchases are interrupted until `approve`; sandboxes only.")
        var interruptsPurchases: Bool?
        @Flag(inversion: .prefixedNo, help: "Whether purchases are forbidden.")
        var restricted: Bool?
        @Option(name: .long, help: "An e-mail address, for people; '' removes it.")
        var email: String?
        @Option(name: .long, help: "A new password; it ends the customer's sessions.")
        var password: String?
        @OptionGroup var secret: PasswordFileOption
        @Option(name: .long, help: "The customer's new country, an alpha-3 code.")
        var storefront: String?
        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let password = try secret.password(or: password)
            let door = try store.store().operatorDoor
            let found = try await CustomerCommand.find(name, door)
            let changed = try await door.patch(
                "/customers/\(found.customerId)",
                ChangeCustomerRequest(
                    email: email, canMakePayments: restricted.map { !$0 }, asksToBuy: asksToBuy,
                    interruptsPurchases: interruptsPurchases, password: password,
                    storefront: storefront),
                as: CustomerSummary.self)
            try printing.show(changed, CustomerCommand.row(changed).joined(separator: "  "))
        }
    }

    private static func rights(_ customer: CustomerSummary) -> String {
        guard customer.canMakePayments else { return "may not buy" }
        return (customer.asksToBuy ? "asks to buy" : "may buy")
            + (customer.interruptsPurchases ? ", interrupted" : "")
    }

    /// Number, name, storefront, rights and address. `-` for a missing value.
    private static func row(_ customer: CustomerSummary) -> [String] {
        [
            customer.customerId, customer.name, customer.storefront, rights(customer),
            customer.email ?? "-",
        ]
    }

    /// Returns the customer with a sign-in name. Throws a failure with status 1
    /// if there is none.
    static func find(_ name: String, _ door: DoorClient) async throws -> CustomerSummary {
        let all = try await all(door)
        let named = all.first { $0.name == name } ?? all.first { $0.customerId == name }
        guard let found = named else {
            throw Failure(
                .no, "customerNotFound", "There is no customer \(name).", field: "name",
                remedy: "list the customers with `customer list`")
        }
        return found
    }

    /// Returns all customers, page by page.
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
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the customers.")

        @OptionGroup var store: StoreOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let customers = try await CustomerCommand.all(try store.store().operatorDoor)
            try printing.show(customers, lines: Output.table(customers.map(CustomerCommand.row)))
        }
    }
}

/// A password that is not on the command line.
struct PasswordFileOption: ParsableArguments {
    @Option(
        name: .long, help: "A file of mode 0600 with only the password; - for standard input.")
    var passwordFile: String?

    func password(or typed: String?) throws -> String? {
        guard let passwordFile else { return typed }
        guard typed == nil else {
            throw Failure(
                .usage, "passwordTwice", "There are two passwords.", field: "--password-file",
                rule: "one of --password and --password-file", remedy: "leave one of them out")
        }
        return try SecretFile.readLine(passwordFile, field: "--password-file")
    }
}
