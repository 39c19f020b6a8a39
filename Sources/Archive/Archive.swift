// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Foundation

/// Databases and keys of one store or ledger in one file that no engine has
/// made its own: JSON lines, UTF-8, each ended by a line feed.
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
/// `{"base64":"…"}` for bytes. The last line counts those before it and tells
/// the SHA-256 of all their bytes: what was cut short or changed by accident
/// is found out. It is no signature: whoever may write the file may forge it.
/// The file holds private keys.
public struct ArchiveHeader: Hashable, Sendable, Codable {
    /// What every archive begins with.
    public static let format = "shopkeeper archive"
    /// Raised when an older program could misread what a newer one writes.
    public static let versionMax = 1

    public var format = ArchiveHeader.format
    public var version = ArchiveHeader.versionMax
    /// `store` or `ledger`.
    public var holds: String
    /// Wall time.
    public var madeAt: Timestamp
    /// The engine it was read from, for people.
    public var engine: String

    public init(holds: String, madeAt: Timestamp, engine: String) {
        self.holds = holds
        self.madeAt = madeAt
        self.engine = engine
    }
}

/// Why an archive cannot be made or taken.
public struct ArchiveFault: Error, Equatable, CustomStringConvertible {
    /// Open: whoever fills an archive may add codes.
    public struct Code: Hashable, Sendable {
        public let rawValue: String
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// The file is not there or cannot be read.
        public static let unreadable = Code("archiveUnreadable")
        /// The file is no archive of this kind.
        public static let notAnArchive = Code("notAnArchive")
        /// The last line is missing.
        public static let cutShort = Code("archiveCutShort")
        /// The bytes are not those that were written.
        public static let damaged = Code("archiveDamaged")
        /// A value is none that a backup has.
        public static let invalid = Code("archiveInvalid")
        /// Made by a newer program.
        public static let tooNew = Code("archiveTooNew")
        /// The file cannot be written, or is there already.
        public static let unwritable = Code("archiveUnwritable")
        /// The place to be restored to holds something.
        public static let targetNotEmpty = Code("targetNotEmpty")
        /// The databases are not ones that can be copied now.
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
