// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Commerce
import Foundation
import Live
import Shop

struct DatabaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "database", abstract: "A store's databases: status, backup, restore.",
        subcommands: [
            DatabaseStatusCommand.self, Backup.self, Restore.self, DatabaseAdvanceCommand.self,
        ])

    struct Backup: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Back a store up into one file, running or not.",
            discussion: "The file contains private keys; its mode is 0600.")

        @Argument(help: "A file that does not exist yet, or a folder.") var file: String
        @OptionGroup var place: DatabaseOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let now = Live.wallClock.now
            let path = Self.path(file, "shopkeeper-\(now).archive")
            let copy = BackupCopy.place(beside: path)
            let summary = try await place.place().reading(withKeys: true, copy: copy) {
                try await StoreBackup.write($0, to: path, madeAt: now)
            }
            try printing.show(
                summary,
                lines: [
                    "Wrote \(summary.file): \(summary.rows) rows, \(summary.bytes) bytes.",
                    "SHA-256 \(summary.sha256)",
                ])
        }

        /// Returns the path of a file in the named folder, or the named file
        /// itself.
        static func path(_ named: String, _ name: String) -> String {
            var isFolder: ObjCBool = false
            let path = URL(fileURLWithPath: named).standardizedFileURL.path
            let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            let plain = name.replacing(":", with: "").replacing(" ", with: "-")
            return isThere && isFolder.boolValue ? path + "/" + plain : path
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Restore a store from a backup into an empty place.",
            discussion: """
                The backup may come from the other engine. Devices notice the restore by \
                themselves and read everything anew. Numbers that were assigned after the backup \
                are not reused.
                """)

        @Argument(help: "The file that `database backup` wrote.") var file: String
        @OptionGroup var checksum: ChecksumOption
        @OptionGroup var place: DatabaseOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let path = URL(fileURLWithPath: file).standardizedFileURL.path
            let place = try place.place()
            let checksum = checksum.sha256?.value
            let summary = try await place.restoring { places, dialect, keys in
                try await StoreRestore.read(
                    path, checksum: checksum, into: places, dialect, keys: keys,
                    wall: Live.wallClock.now,
                    randomness: Live.randomness)
            }
            try printing.show(
                summary,
                "Restored \(summary.realms.count) realms (\(summary.rows) rows, "
                    + "\(summary.keys) keys) as of \(summary.madeAt) to \(place.words).")
        }
    }
}
