// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import StoreWire

/// Options of the verbs that read an account of a running ledger.
struct LedgerAccountOptions: ParsableArguments {
    @Argument(help: "The account.") var account: String
    @Option(name: .long, help: "Required if the ledger books several environments.")
    var environment: String?
    @OptionGroup var ledger: LedgerOptions
    @OptionGroup var printing: PrintOptions

    func get<Answer: Decodable>(
        _ path: String, _ query: [(String, String?)] = [], as type: Answer.Type
    ) async throws -> Answer {
        let words = (query + [("environment", environment)]).compactMap { name, value in
            value.map { "\(name)=\(DoorClient.part($0))" }
        }
        let address = "\(try LedgerOptions.path(account))/\(path)"
        return try await ledger.door().get(
            words.isEmpty ? address : "\(address)?\(words.joined(separator: "&"))", as: type)
    }
}

struct LedgerShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what an account may use, and its credits.")

    @OptionGroup var options: LedgerAccountOptions

    func run() async throws {
        struct Answer: Encodable {
            let entitlements: [LedgerEntitlement]
            let balances: [LedgerBalance]
        }
        let entitlements = try await options.get("entitlements", as: AccountEntitlements.self)
        let balances = try await options.get("balances", as: AccountBalances.self)
        let answer = Answer(
            entitlements: entitlements.entitlements, balances: balances.balances)
        try options.printing.show(
            answer,
            lines: Output.table(
                answer.entitlements.map {
                    [$0.name, $0.isActive ? "active" : "not active", $0.why]
                }
                    + answer.balances.map { [$0.currency, "\($0.balance)", "credits"] }))
    }
}

struct LedgerWhyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Name the transaction that grants an entitlement, or what is missing.",
        discussion: "The exit status is 1 if the account does not have it.")

    @OptionGroup var options: LedgerAccountOptions
    @Argument(help: "The entitlement.") var entitlement: String

    func run() async throws {
        let reason = try await options.get(
            "entitlements/\(DoorClient.part(entitlement))", as: EntitlementReason.self)
        try options.printing.show(
            reason,
            lines: [reason.why]
                + Output.table(
                    reason.purchases.map { span in
                        [
                            "  \(span.transactionId)", span.productId,
                            "\(span.startDate)",
                            span.endDate.map { "to \($0)" } ?? "for ever", span.end,
                        ]
                    }))
        if !reason.isActive { throw ExitCode(ExitStatus.no.rawValue) }
    }
}

struct LedgerHistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show what has happened in an account, newest first.")

    @OptionGroup var options: LedgerAccountOptions
    @Option(name: .long, help: "The most events.") var limit = 100

    func run() async throws {
        var events: [LedgerEvent] = []
        var after: String?
        repeat {
            let page = try await options.get(
                "history", [("after", after), ("limit", "\(min(100, limit - events.count))")],
                as: AccountHistory.self)
            events += page.events
            after = page.next
        } while after != nil && events.count < limit
        try options.printing.show(
            events, lines: Output.table(events.map { ["\($0.date)", $0.text] }))
    }
}

struct LedgerBalanceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "balance", abstract: "Show the credits of an account.")

    @OptionGroup var options: LedgerAccountOptions

    func run() async throws {
        let balances = try await options.get("balances", as: AccountBalances.self).balances
        try options.printing.show(
            balances,
            lines: Output.table(
                balances.map {
                    [
                        $0.currency, "\($0.balance)", "granted \($0.granted)",
                        "spent \($0.spent)", "written off \($0.writtenOff)",
                    ]
                }))
    }
}

struct LedgerSpendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "spend",
        abstract: "Spend credits of an account; a repeated key spends nothing more.")

    @Argument(help: "The account.") var account: String
    @Argument(help: "How many.") var amount: Int64
    @Argument(help: "The currency.") var currency: String
    @Option(name: .long, help: "What they are spent for.") var purpose: String
    @Option(name: .long, help: "The idempotency key: your own id of this spending.")
    var key: String
    @Option(name: .long, help: "Required if the ledger books several environments.")
    var environment: String?
    @OptionGroup var ledger: LedgerOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let spending = try await ledger.door().post(
            "\(try LedgerOptions.path(account))/spendings",
            SpendRequest(
                idempotencyKey: key, currency: currency, amount: amount, purpose: purpose,
                environment: environment), as: LedgerSpending.self)
        try printing.show(
            spending,
            "Spent \(spending.amount) \(spending.currency) for \(spending.purpose); "
                + "\(spending.balance) are left.")
    }
}

struct LedgerApplyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Grant what was booked before its product was configured.",
        discussion: """
            `ledger serve` does the same when it starts. Then it lists the products in the books. \
            A repeat grants nothing twice.
            """)

    @OptionGroup var ledger: LedgerOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        struct Answer: Encodable {
            let granted: Int
            let left: Int
            let products: [LedgerProduct]
        }
        struct Empty: Encodable {}
        let door = try ledger.door()
        let applied = try await door.post("/apply", Empty(), as: GrantsApplied.self)
        let products = try await door.get("/products", as: LedgerProducts.self).products
        try printing.show(
            Answer(granted: applied.granted, left: applied.left, products: products),
            lines: [
                "Granted \(applied.granted); left \(applied.left) whose units are redeemed or "
                    + "reserved."
            ]
                + Output.table(
                    products.map {
                        [
                            "  \($0.productId)", $0.environment, "\($0.purchases) purchases",
                            "\($0.granted) granted",
                            $0.isConfigured ? "configured" : "not configured",
                        ]
                    }))
    }
}
