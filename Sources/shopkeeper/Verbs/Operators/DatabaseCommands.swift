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
            commandName: "backup", abstract: "Back a store up into one file, running or not.",
            discussion: "The file contains private keys; its mode is 0600.")

        @Argument(help: "A file that does not exist yet, or a folder.") var file: String
        @OptionGroup var place: DatabaseOptions
        @OptionGroup var printing: PrintOptions

        func run() async throws {
            let now = Live.wallClock.now
            let path = Self.path(file, "shopkeeper-\(now).archive")
            let copy = BackupCopy.place(beside: path)
            let (summary, content) = try await place.place().reading(withKeys: true, copy: copy) {
                (
                    try await StoreBackup.write($0, to: path, madeAt: now),
                    try await StoreBackup.content($0)
                )
            }
            try printing.show(
                AnswerWithContent(summary, content),
                lines: [
                    "Wrote \(summary.file): \(summary.rows) rows, \(summary.bytes) bytes.",
                    "SHA-256 \(summary.sha256)",
                ]
                    + (content.isEmpty
                        ? []
                        : [
                            "Not in it: the files of \(content.count) packages of hosted content "
                                + "(\(content.reduce(0) { $0 + $1.length }) bytes). Copy the "
                                + "content folder too."
                        ]))
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
            commandName: "restore", abstract: "Restore a store from a backup into an empty place.",
            discussion: """
                The backup may come from the other engine. Devices notice the restore by \
                themselves and read everything anew. Numbers that were assigned after the backup \
                are not reused.
                """)

        @Argument(help: "The file that `database backup` wrote.") var file: String
        @Option(name: .long, help: "The folder of hosted content, as for `serve`.")
        var contentFolder: String?
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
            let missing = try await missing(place)
            try printing.show(
                AnswerWithContent(summary, missing),
                lines: [
                    "Restored \(summary.realms.count) realms (\(summary.rows) rows, "
                        + "\(summary.keys) keys) as of \(summary.madeAt) to \(place.words)."
                ]
                    + (missing.isEmpty
                        ? []
                        : [
                            "Missing: the files of \(missing.count) packages of hosted content. "
                                + "Copy them to the content folder, or upload them again "
                                + "(`content list` names them)."
                        ]))
        }

        /// The packages whose files are not in the content folder.
        private func missing(_ place: DatabasePlace) async throws -> [StoredContent] {
            let folder = contentFolder.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
            let files = FolderContentFiles(path: folder ?? place.path + "/content")
            let all = try await place.reading(withKeys: false) { try await StoreBackup.content($0) }
            var missing: [StoredContent] = []
            for content in all
            where try await files.length(of: content.sha256) != content.length {
                missing.append(content)
            }
            return missing
        }
    }
}

/// The answer of a backup or a restore, with the packages of hosted content whose files
/// it does not have. Files are never in a backup.
private struct AnswerWithContent<Answer: Encodable>: Encodable {
    private enum Key: String, CodingKey { case missingContent }

    let answer: Answer
    let content: [StoredContent]

    init(_ answer: Answer, _ content: [StoredContent]) {
        (self.answer, self.content) = (answer, content)
    }

    func encode(to encoder: any Encoder) throws {
        try answer.encode(to: encoder)
        guard !content.isEmpty else { return }
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(content, forKey: .missingContent)
    }
}
