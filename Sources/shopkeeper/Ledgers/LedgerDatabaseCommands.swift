// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Commerce
import Foundation
import Ledger
import Live

struct LedgerStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Report the state of the ledger's database, served or not."
    )

    @OptionGroup var place: LedgerPlaceOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let place = try place.place()
        let status = try await place.reading { try await LedgerStatus($0, $1) }
        let answer = DatabaseAnswer(status, place: place.words, isServed: place.isServed)
        let counts = ["accounts", "purchases", "redemptions"].map {
            "\(status.rows[$0] ?? 0) \($0)"
        }
        let details = [
            "  schema \(status.migrationsTaken) of \(status.migrationsKnown), \(status.schema)",
            "  " + counts.joined(separator: ", "),
        ]
        try printing.show(answer, lines: answer.lines(details))
    }
}

struct LedgerBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Back a ledger up into one file, running or not.",
        discussion: "The file contains the keys of the ledger's doors; its mode is 0600.")

    @Argument(help: "A file that does not exist yet, or a folder.") var file: String
    @OptionGroup var place: LedgerPlaceOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let now = Live.wallClock.now
        let path = DatabaseCommand.Backup.path(file, "ledger-\(now).archive")
        let summary = try await place.place().reading(copy: BackupCopy.place(beside: path)) {
            try await LedgerBackup.write($0, $1, to: path, madeAt: now)
        }
        try printing.show(
            summary,
            lines: [
                "Wrote \(summary.file): \(summary.rows) rows, \(summary.bytes) bytes.",
                "SHA-256 \(summary.sha256)",
            ])
    }
}

struct LedgerRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a ledger from a backup into an empty place.",
        discussion: """
            The backup may come from the other engine. What was booked and spent after it is \
            not in it: send the signed transactions again, and compare what was granted.
            """)

    @Argument(help: "The file that `ledger backup` wrote.") var file: String
    @OptionGroup var checksum: ChecksumOption
    @OptionGroup var place: LedgerPlaceOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let path = URL(fileURLWithPath: file).standardizedFileURL.path
        let place = try place.place()
        let checksum = checksum.sha256?.value
        let summary = try await place.restoring { ledger in
            try await LedgerRestore.read(
                path, checksum: checksum, ledger.dialect, wall: Live.wallClock.now,
                delete: ledger.delete,
                open: ledger.open)
        }
        try printing.show(
            summary,
            "Restored \(summary.rows) rows as of \(summary.madeAt) to \(place.words).")
    }
}
