// SPDX-License-Identifier: Apache-2.0

import Archive
import CatalogueFile
import Foundation
import Shop
import Storage
import StoreWire

/// The exit codes of the command. The only table of them.
enum ExitStatus: Int32 {
    /// The answer is negative.
    case no = 1
    /// The command line is wrong.
    case usage = 64
    /// An input file is wrong.
    case input = 65
    /// No store is running, or a package is missing.
    case unavailable = 69
    /// A bug in this program.
    case bug = 70
    /// The data directory or the port is in use, or cannot be written.
    case taken = 73
    /// What was printed could not be written, for example on a full disk.
    case output = 74
    /// A key is missing or wrong.
    case key = 77
}

/// Why a verb failed.
struct Failure: Error {
    let code: ExitStatus
    let error: WireError

    init(_ code: ExitStatus, _ error: WireError) {
        self.code = code
        self.error = error
    }

    init(
        _ code: ExitStatus, _ name: String, _ message: String, field: String? = nil,
        rule: String? = nil, remedy: String? = nil
    ) {
        self.init(
            code,
            WireError(code: name, message: message, field: field, rule: rule, remedy: remedy))
    }

    /// Converts an error of a library or of the store to its meaning for the
    /// command.
    init(unexpected error: any Error) {
        switch error {
        case let error as WireError:
            self.init(error.code == "cannotListen" ? .taken : .usage, error)
        case let refusal as Refusal: self.init(.no, refusal.error)
        case let fault as CatalogueFileFault:
            self.init(
                .input, "catalogueInvalid", fault.description, field: "FILE",
                rule: "a .storekit file that holds products",
                remedy: "mend the places named and try again")
        case let fault as StorageFault:
            self = DatabaseFailure.failure(fault, isPostgres: false)
        case let fault as ArchiveFault: self = DatabaseFailure.failure(fault)
        case let fault as KeyStoreFault:
            self.init(
                .taken, "keysUnusable", "\(fault)", field: "--data",
                remedy: "check the keys folder of the data directory, or name another one")
        default: self.init(.bug, "bug", "Something went wrong that should not: \(error)")
        }
    }

    /// Prints the message and the remedy on standard error, with `--json` as an
    /// object.
    func complain(asJSON: Bool) {
        if asJSON, let text = try? Output.text(error) {
            Output.complain(text.split(separator: "\n").map(String.init))
            return
        }
        // A catalogue's problems are lines of the message. Those after the
        // first are indented, so that they cannot be mistaken for lines of this
        // program.
        let message = error.message.split(separator: "\n", omittingEmptySubsequences: false)
        var lines = ["shopkeeper: \(message.first ?? "")"] + message.dropFirst().map { "    \($0)" }
        if let field = error.field { lines.append("  field:  \(field)") }
        if let rule = error.rule { lines.append("  rule:   \(rule)") }
        if let remedy = error.remedy { lines.append("  remedy: \(remedy)") }
        Output.complain(lines)
    }
}
