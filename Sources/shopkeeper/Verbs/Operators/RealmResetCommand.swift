// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StoreWire

struct RealmResetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Delete everything that was bought in a sandbox.",
        discussion: """
            Deletes purchases, transactions, sessions and the work owed because of them. Keeps \
            accounts, apps, catalogue, server keys, settings and clock. Devices sign in again \
            and read everything anew by themselves. No number is reused.
            """)

    @Argument(help: "The realm.") var name: String
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let door = try store.store().storeDoor
        try confirmation.ask("Delete everything that was bought in the realm \(name)?")
        let path = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let reset = try await door.post(
            "/realms/\(path)/resets", [String: String](), as: RealmReset.self)
        try printing.show(
            reset,
            "Reset \(reset.realm): \(reset.purchases) purchases, \(reset.transactions) "
                + "transactions and \(reset.sessions) sessions are gone.")
    }
}

/// Asks for confirmation of an irreversible command on a terminal. Without a
/// terminal, `--yes` is required.
struct Confirmation: ParsableArguments {
    @Flag(name: .long, help: "Do not ask for confirmation.")
    var yes = false

    /// Throws if the answer is no, or there is no terminal.
    func ask(_ question: String) throws {
        if yes { return }
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            throw Failure(
                .usage, "notConfirmed",
                "This cannot be undone, and there is no terminal for a confirmation.",
                field: "--yes", rule: "a yes on the terminal, or --yes", remedy: "add --yes")
        }
        Output.ask("\(question) [y/N]")
        guard ["y", "yes"].contains(readLine()?.lowercased()) else {
            throw Failure(
                .no, "notConfirmed", "Nothing was done.", field: "--yes",
                rule: "a yes on the terminal, or --yes")
        }
    }
}
