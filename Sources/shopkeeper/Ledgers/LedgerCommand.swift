// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StoreWire

struct LedgerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger",
        abstract: "The merchant's books: what was bought, granted and spent.",
        subcommands: [
            LedgerServeCommand.self, LedgerInitCommand.self, LedgerCheckCommand.self,
            LedgerApplyCommand.self, Take.self, List.self, Redeem.self, LedgerShowCommand.self,
            LedgerWhyCommand.self, LedgerHistoryCommand.self, LedgerBalanceCommand.self,
            LedgerSpendCommand.self, LedgerStatusCommand.self, LedgerBackupCommand.self,
            LedgerRestoreCommand.self, LedgerReconcileCommand.self, LedgerImportCommand.self,
            LedgerKeyCommand.self, LedgerTokenCommand.self, LedgerAuditCommand.self,
            LedgerAccountCommand.self, LedgerWebhookCommand.self,
        ])

    struct Take: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "take", abstract: "Book a signed transaction; a repeat changes nothing.")

        @Argument(help: "The signed transaction (JWS).") var signedTransaction: String
        @Option(name: .long, help: "The account, if the transaction has no app account token.")
        var account: String?
        @OptionGroup var ledger: LedgerOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let taken = try await ledger.door().post(
                "/purchases",
                TakePurchaseRequest(signedTransaction: signedTransaction, account: account),
                as: LedgerPurchase.self)
            try printing.show(taken, lines: Output.table([LedgerCommand.row(taken)]))
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the unspent purchases of an account.")

        @Argument(help: "The account.") var account: String
        @Option(name: .long, help: "Required if the ledger books several environments.")
        var environment: String?
        @OptionGroup var ledger: LedgerOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let door = try ledger.door()
            let path = try LedgerOptions.path(account)
            var purchases: [LedgerPurchase] = []
            var after: String?
            repeat {
                let words = [
                    environment.map { "environment=\($0)" }, after.map { "after=\($0)" },
                ].compactMap(\.self).joined(separator: "&")
                let page = try await door.get(
                    "\(path)/unspent?\(words)", as: UnspentPurchases.self)
                purchases += page.purchases
                after = page.next
            } while after != nil
            try printing.show(purchases, lines: Output.table(purchases.map(LedgerCommand.row)))
        }
    }

    struct Redeem: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "redeem",
            abstract: "Spend one unit of a purchase; a repeated key spends nothing more.")

        @Argument(help: "The account.") var account: String
        @Option(name: .long, help: "The transaction to spend.") var transaction: String?
        @Option(name: .long, help: "The product; its oldest unspent purchase is spent.")
        var product: String?
        @Option(name: .long, help: "What the unit is spent for.") var purpose: String
        @Option(name: .long, help: "The idempotency key: your own id of this redemption.")
        var key: String
        @Option(name: .long, help: "Required if the ledger books several environments.")
        var environment: String?
        @Option(name: .long, help: "Required if the ledger books several apps.")
        var bundleId: String?
        @OptionGroup var ledger: LedgerOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let path = try LedgerOptions.path(account)
            let spent = try await ledger.door().post(
                "\(path)/redemptions",
                RedeemRequest(
                    idempotencyKey: key, transactionId: transaction, productId: product,
                    purpose: purpose, environment: environment, bundleId: bundleId),
                as: LedgerRedemption.self)
            try printing.show(
                spent,
                "Spent unit \(spent.unit) of \(spent.productId), transaction "
                    + "\(spent.transactionId), for \(spent.purpose).")
        }
    }

    private static func row(_ purchase: LedgerPurchase) -> [String] {
        [
            purchase.transactionId, purchase.productId,
            "\(purchase.unspent) of \(purchase.quantity) left", purchase.environment,
            purchase.account ?? "unclaimed",
        ]
    }
}
