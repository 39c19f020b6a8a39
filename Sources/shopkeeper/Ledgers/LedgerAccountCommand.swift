// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StoreWire

struct LedgerAccountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Restore, merge, export and erase accounts.",
        subcommands: [Restore.self, Merge.self, Export.self, Erase.self])

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore",
            abstract: "Present a purchase that may belong to another account.",
            discussion: "`accounts.restore` in ledger.yaml says what happens.")

        @Argument(help: "The account that wants the purchase.") var account: String
        @Argument(help: "The signed transaction (JWS).") var signedTransaction: String
        @Flag(name: .long, help: "Show what would change, and change nothing.")
        var dryRun = false
        @OptionGroup var ledger: LedgerOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let outcome = try await ledger.door().post(
                "\(try LedgerOptions.path(account))/restores",
                RestoreRequest(signedTransaction: signedTransaction, dryRun: dryRun),
                as: RestoreOutcome.self)
            let gains =
                ["\(outcome.units) units"] + outcome.entitlements
                + outcome.credits.map { "\($0.amount) \($0.currency)" }
            try printing.show(
                outcome,
                "Transaction \(outcome.transactionId) \(dryRun ? "would be" : "is") "
                    + "\(outcome.outcome): \(gains.joined(separator: ", ")).")
        }
    }

    struct Merge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "merge",
            abstract: "Make an account part of another; a repeat changes nothing.")

        @Argument(help: "The account that ends.") var account: String
        @Argument(help: "The account that stays.") var into: String
        @OptionGroup var ledger: LedgerOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let merge = try await ledger.door().post(
                "\(try LedgerOptions.path(account))/merge", MergeAccountRequest(into: into),
                as: AccountMerge.self)
            try printing.show(merge, "\(merge.account) is part of \(merge.into).")
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Print everything that the books have about an account, as JSON.")

        @Argument(help: "The account.") var account: String
        @OptionGroup var ledger: LedgerOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let export = try await ledger.door().get(
                "\(try LedgerOptions.path(account))/export", as: AccountExport.self)
            // With `--json` or without: it is for a file.
            try Output.answer(json: export)
        }
    }

    struct Erase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "erase",
            abstract: "Erase an account; its books stay under an opaque name.",
            discussion: "It cannot be undone, except from a backup.")

        @Argument(help: "The account.") var account: String
        @OptionGroup var ledger: LedgerOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            struct Empty: Encodable {}
            let erasure = try await ledger.door().post(
                "\(try LedgerOptions.path(account))/erasure", Empty(), as: AccountErasure.self)
            try printing.show(
                erasure,
                "Erased \(erasure.accounts) accounts, and the contents of "
                    + "\(erasure.notifications) notifications.")
        }
    }
}
