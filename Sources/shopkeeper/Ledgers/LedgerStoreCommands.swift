// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StoreWire

/// `ledger reconcile`: the books against the store.
struct LedgerReconcileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconcile",
        abstract: "Compare the books with the store; correct them with --fix.",
        discussion: """
            Reads each account's transactions from the store again, within its limits. Ends \
            with 1 if something differs and is not corrected.
            """)

    @Option(name: .long, help: "One account; default: all of them.") var account: String?
    @Flag(name: .long, help: "Book what the store has signed.") var fix = false
    @OptionGroup var ledger: LedgerOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        var door = try ledger.door()
        door.timeoutMilliseconds = 600_000
        var reports: [ReconcileReport] = []
        var after: String?
        repeat {
            let report = try await door.post(
                "/reconciliations",
                ReconcileRequest(account: account, after: after, fix: fix),
                as: ReconcileReport.self)
            if report.account != nil { reports.append(report) }
            after = report.next
        } while after != nil
        let open = reports.flatMap(\.differences).filter { !$0.isFixed }
        try printing.show(reports, lines: Self.lines(reports))
        if !open.isEmpty { throw ExitCode(ExitStatus.no.rawValue) }
    }

    private static func lines(_ reports: [ReconcileReport]) -> [String] {
        let rows = reports.flatMap { report in
            report.differences.map { difference in
                [
                    report.account ?? "", difference.transactionId,
                    difference.kind + (difference.field.map { " \($0)" } ?? ""),
                    difference.isFixed ? "corrected" : difference.refusal ?? "open",
                ]
            }
        }
        let checked = reports.reduce(0) { $0 + $1.checked }
        return Output.table(rows) + [
            "Compared \(checked) transactions of \(reports.count) accounts: "
                + "\(rows.count) differences."
        ]
    }
}

/// `ledger import`: purchases of a merchant's earlier system.
struct LedgerImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Book the transactions of a CSV file (user,transaction id).",
        discussion: """
            Each transaction is read from the store again. A repetition books nothing twice. \
            The lines that are booked are noted in FILE.progress, so that a command that was \
            ended goes on with the others, and a repetition tries the others again: those that \
            were refused, and those that the ledger has kept until the store answers. Ends \
            with 1 if a line is not booked. FILE.progress is deleted once all are.
            """)

    @Argument(help: "The file: a user and a transaction's number in each line.")
    var file: String
    @Option(name: .long, help: "Required if the ledger books several apps.")
    var bundleId: String?
    @Option(name: .long, help: "Production or Sandbox; default: whichever has it.")
    var environment: String?
    @OptionGroup var ledger: LedgerOptions
    @OptionGroup var printing: PrintOptions

    /// What became of a line.
    struct Outcome: Encodable {
        let line: Int
        let account: String?
        let transactionId: String?
        /// `booked`, `kept` or a refusal's code.
        let result: String
        let message: String?

        /// Whether it is not tried again. What was kept may still be refused.
        var isDone: Bool { result == "booked" }
    }

    private struct Answer: Decodable {
        let account: String?
        let transactionId: String?
        let message: String?
    }

    func run() async throws {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw Failure(
                .input, "fileUnreadable", "\(file) cannot be read.", field: "FILE",
                rule: "a CSV file with a user and a transaction's number in each line")
        }
        let lines = ImportLines(data)
        let door = try ledger.door()
        // The key that signs entitlements is a ledger's own.
        let keys = try await door.get("/keys", as: LedgerPublicKeys.self)
        var progress = ImportProgress(
            path: file + ".progress", data,
            way: keys.keys.map(\.kid) + [environment ?? "", bundleId ?? ""])
        var outcomes = lines.mistakes.map {
            Outcome(
                line: $0.line, account: nil, transactionId: nil, result: "lineInvalid",
                message: $0.rule)
        }
        let before = progress.count
        var failure: (any Error)?
        for row in lines.rows where !progress.isDone(row.line) {
            do {
                let outcome = try await book(row, door)
                outcomes.append(outcome)
                if outcome.isDone { try progress.note(row.line) }
            } catch {
                // What is known of the lines before is printed all the same.
                failure = error
                break
            }
        }
        outcomes.sort { $0.line < $1.line }
        try printing.show(outcomes, lines: Self.lines(outcomes, doneBefore: before))
        if let failure { throw failure }
        guard outcomes.allSatisfy(\.isDone) else { throw ExitCode(ExitStatus.no.rawValue) }
        progress.remove()
    }

    private func book(_ row: ImportLines.Row, _ door: DoorClient) async throws -> Outcome {
        let request = TakeTransactionRequest(
            transactionId: row.transactionID, account: row.account, bundleId: bundleId,
            environment: environment)
        do {
            let answer = try await door.post("/transactions", request, as: Answer.self)
            return Outcome(
                line: row.line, account: row.account, transactionId: row.transactionID,
                result: answer.transactionId == nil ? "kept" : "booked",
                message: answer.message)
        } catch let failure as Failure
            where failure.code == .no || failure.error.code == "proofsTooMany"
        {
            return Outcome(
                line: row.line, account: row.account, transactionId: row.transactionID,
                result: failure.error.code, message: failure.error.message)
        }
    }

    private static func lines(_ outcomes: [Outcome], doneBefore: Int) -> [String] {
        let rows = outcomes.filter { $0.result != "booked" }.map {
            ["line \($0.line)", $0.transactionId ?? "", $0.result, $0.message ?? ""]
        }
        let booked = outcomes.count { $0.result == "booked" }
        let kept = outcomes.count { $0.result == "kept" }
        var notes = ["Booked \(booked) of \(outcomes.count) lines."]
        if doneBefore > 0 { notes.append("\(doneBefore) were booked before.") }
        if kept > 0 {
            notes.append("\(kept) wait for the store: import the file again when it answers.")
        }
        return Output.table(rows) + [notes.joined(separator: " ")]
    }
}
