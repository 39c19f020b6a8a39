// SPDX-License-Identifier: Apache-2.0

/// Why a package is refused, or could not be read or written.
public struct ContentFault: Error, Sendable, CustomStringConvertible {
    /// An open set, so that codes can be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String
        public init(_ description: String) { self.description = description }

        /// The file is not a ZIP, or its end is missing.
        public static let notAPackage = Code("notAPackage")
        /// An entry's bytes cannot be decompressed, or do not have its checksum.
        public static let damaged = Code("damaged")
        /// An entry is encrypted.
        public static let encrypted = Code("encrypted")
        /// An entry is compressed by another method than deflate.
        public static let methodUnsupported = Code("methodUnsupported")
        /// There is no `ContentInfo.plist` at the top of the package.
        public static let infoMissing = Code("infoMissing")
        /// `ContentInfo.plist` is not a property list with the two keys.
        public static let infoInvalid = Code("infoInvalid")
        /// `Contents` has no file.
        public static let contentsEmpty = Code("contentsEmpty")
        /// An entry is neither `ContentInfo.plist` nor below `Contents`.
        public static let entryUnexpected = Code("entryUnexpected")
        /// The name of an entry leads out of the package, or no system has it.
        public static let pathInvalid = Code("pathInvalid")
        /// The name of an entry, or a part of it, is too long.
        public static let pathTooLong = Code("pathTooLong")
        /// An entry is a link.
        public static let link = Code("link")
        /// An entry is neither a file nor a folder.
        public static let notAFile = Code("notAFile")
        /// Two entries have one name, for some file systems at least.
        public static let duplicate = Code("duplicate")
        /// There are more entries than the limits allow.
        public static let tooManyEntries = Code("tooManyEntries")
        /// The unpacked files are larger than the limits allow.
        public static let tooLarge = Code("tooLarge")
        /// The package unpacks to very much more than its own size.
        public static let bomb = Code("bomb")
        /// An entry has not as many bytes as its header declares.
        public static let sizeMismatch = Code("sizeMismatch")
        /// The target of unpacking exists.
        public static let targetExists = Code("targetExists")
        /// The disk is full, or a quota is used up.
        public static let diskFull = Code("diskFull")
        /// A file could not be opened, read or written.
        public static let file = Code("file")
        /// The caller's `progress` ended the work.
        public static let cancelled = Code("cancelled")
    }

    public let code: Code
    /// The entry that breaks the rule, as it is spelled in the package. Nil if
    /// the fault concerns the package as a whole.
    public let entry: String?
    /// What is wrong, the rule, and the remedy.
    public let sentence: String

    init(_ code: Code, entry: String? = nil, _ sentence: String) {
        self.code = code
        self.entry = entry.map(Self.printable)
        self.sentence = sentence
    }

    public var description: String { entry.map { "\($0): \(sentence)" } ?? sentence }

    /// At most 200 characters, and nothing that a terminal would obey.
    private static func printable(_ name: String) -> String {
        let kept = name.unicodeScalars.prefix(200).map { (scalar) -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: "\u{FFFD}"
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(kept))
    }
}
