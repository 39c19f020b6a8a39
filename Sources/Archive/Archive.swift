// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Foundation

/// The databases and keys of one store or ledger in one file that does not
/// depend on an engine: JSON lines in UTF-8, each ended by a line feed.
///
/// ```
/// {"format":"shopkeeper archive","version":1,"holds":"store","madeAt":…,"engine":"SQLite"}
/// {"database":"registry","migrations":[{"number":1,"name":"…","checksum":"…"}]}
/// {"table":"realms","columns":["id","name"]}
/// ["0f…","default"]
/// {"key":"sandbox/authority.json","bytes":"…Base64…"}
/// {"number":2,"next":5000}
/// {"lines":5,"sha256":"…"}
/// ```
///
/// A row's values are numbers, texts, true and false, null, and
/// `{"base64":"…"}` for bytes. The last line contains the number of lines
/// before it and the SHA-256 of all their bytes. It detects truncation and
/// accidental changes. It is not a signature: anyone with write access to the
/// file can forge it. The file contains private keys.
public struct ArchiveHeader: Hashable, Sendable, Codable {
    /// The first value of every archive.
    public static let format = "shopkeeper archive"
    /// Raised when an older program could misread what a newer one writes.
    public static let versionMax = 1

    public var format = ArchiveHeader.format
    public var version = ArchiveHeader.versionMax
    /// `store` or `ledger`.
    public var holds: String
    /// Wall time.
    public var madeAt: Timestamp
    /// The engine of the original databases, for information.
    public var engine: String

    public init(holds: String, madeAt: Timestamp, engine: String) {
        self.holds = holds
        self.madeAt = madeAt
        self.engine = engine
    }
}

/// Why an archive cannot be written or read.
public struct ArchiveFault: Error, Equatable, CustomStringConvertible {
    /// An open set: callers may add codes.
    public struct Code: Hashable, Sendable {
        public let rawValue: String
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// The file does not exist or cannot be read.
        public static let unreadable = Code("archiveUnreadable")
        /// The file is not an archive of this kind.
        public static let notAnArchive = Code("notAnArchive")
        /// The last line is missing.
        public static let cutShort = Code("archiveCutShort")
        /// The bytes are not the ones that were written.
        public static let damaged = Code("archiveDamaged")
        /// A value is one that a backup cannot contain.
        public static let invalid = Code("archiveInvalid")
        /// A newer program made the archive.
        public static let tooNew = Code("archiveTooNew")
        /// The file cannot be written, or exists already.
        public static let unwritable = Code("archiveUnwritable")
        /// The target of the restore is not empty.
        public static let targetNotEmpty = Code("targetNotEmpty")
        /// The databases cannot be copied at present.
        public static let source = Code("sourceUnusable")
    }

    public let code: Code
    public let message: String
    public let rule: String?
    public let remedy: String?

    public init(_ code: Code, _ message: String, rule: String? = nil, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.rule = rule
        self.remedy = remedy
    }

    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public var description: String { "\(code.rawValue): \(message)" }
}
