// SPDX-License-Identifier: Apache-2.0

/// An entry as its header describes it, before its bytes are read.
struct EntryHead {
    enum Kind { case file, folder, link, other }

    /// Without the slash at the end that a folder's name may have.
    let path: String
    let kind: Kind
    /// Nil if the header does not declare it.
    let size: Int64?
}

/// Judges one entry after the other. What it has admitted can be written below
/// a new folder in any order.
struct EntryRules {
    private struct Known {
        let spelling: String
        let isFolder: Bool
        let isListed: Bool
    }

    static let contents = "Contents"

    let limits: ContentLimits
    /// The size of the ZIP. Nil for a folder, which has no ratio.
    let packageBytes: Int64?
    private(set) var entries = 0
    private(set) var bytes: Int64 = 0
    private var declaredBytes: Int64 = 0
    private var bytesOfEntry: Int64 = 0
    private var files = 0
    private var known: [String: Known] = [:]
    private var info: ContentInfo?

    init(_ limits: ContentLimits, packageBytes: Int64?) {
        self.limits = limits
        self.packageBytes = packageBytes
    }

    /// Throws if a package may not have this entry after those before it.
    mutating func admit(_ entry: EntryHead) throws(ContentFault) {
        entries += 1
        guard entries <= limits.entries else {
            throw ContentFault(
                .tooManyEntries,
                "The package has more than \(limits.entries) entries. Join small files, or "
                    + "divide the content between products.")
        }
        let parts = try checkedParts(of: entry.path)
        try checkKind(entry)
        try checkPlace(entry, parts)
        try checkName(entry, parts)
        try checkDeclared(entry)
        bytesOfEntry = 0
        if entry.kind == .file, parts[0] == Self.contents { files += 1 }
    }

    /// Counts bytes of the entry that was admitted last.
    mutating func count(_ count: Int, of entry: EntryHead) throws(ContentFault) {
        bytes += Int64(count)
        bytesOfEntry += Int64(count)
        if let size = entry.size, bytesOfEntry > size { throw mismatch(entry) }
        try checkTotal(bytes, of: entry)
    }

    /// Must be called when all bytes of an entry were counted.
    func checkEnd(of entry: EntryHead) throws(ContentFault) {
        if entry.kind == .file, let size = entry.size, bytesOfEntry != size {
            throw mismatch(entry)
        }
    }

    /// Reads `ContentInfo.plist`.
    mutating func setInfo(_ plist: [UInt8]) throws(ContentFault) {
        info = try ContentInfo(plist: plist)
    }

    /// The summary, once every entry was admitted.
    func summary() throws(ContentFault) -> ContentSummary {
        guard let info else {
            throw ContentFault(
                .infoMissing,
                "The package has no \(ContentInfo.fileName) at its top. Add one with "
                    + "`ContentVersion` and `IAPProductIdentifier`.")
        }
        guard files > 0 else {
            throw ContentFault(
                .contentsEmpty, entry: Self.contents,
                "The folder Contents has no file, so nothing would be delivered. "
                    + "Put the product's files into it.")
        }
        return ContentSummary(info: info, entries: entries, unpackedBytes: bytes)
    }

    private func checkedParts(of path: String) throws(ContentFault) -> [Substring] {
        guard path.utf8.count <= limits.pathBytes else {
            throw ContentFault(
                .pathTooLong, entry: path,
                "The name has more than \(limits.pathBytes) bytes. Shorten it.")
        }
        let isPlain = path.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        guard isPlain, !path.contains("\\") else {
            throw ContentFault(
                .pathInvalid, entry: path,
                "The name has a backslash or a control character, which not every system "
                    + "allows. Rename the file, and separate folders by `/`.")
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else {
            throw ContentFault(
                .pathInvalid, entry: path,
                "The name is absolute, or has an empty part, `.` or `..`, and might lead out "
                    + "of the package. Names start at the top of the package.")
        }
        guard parts.count <= limits.depth, parts.allSatisfy({ $0.utf8.count <= limits.partBytes })
        else {
            throw ContentFault(
                .pathTooLong, entry: path,
                "The name has more than \(limits.depth) parts, or one of more than "
                    + "\(limits.partBytes) bytes. Shorten it.")
        }
        return parts
    }

    private func checkKind(_ entry: EntryHead) throws(ContentFault) {
        switch entry.kind {
        case .file, .folder: return
        case .link:
            throw ContentFault(
                .link, entry: entry.path,
                "The entry is a link. A package has files and folders only; put a copy there.")
        case .other:
            throw ContentFault(
                .notAFile, entry: entry.path,
                "The entry is neither a file nor a folder. Remove it.")
        }
    }

    private func checkPlace(
        _ entry: EntryHead, _ parts: [Substring]
    ) throws(ContentFault) {
        if parts[0] == Self.contents, parts.count > 1 || entry.kind == .folder { return }
        if parts.count == 1, parts[0] == ContentInfo.fileName, entry.kind == .file { return }
        if parts.last.map(String.init) == ContentInfo.fileName {
            throw ContentFault(
                .infoMissing, entry: entry.path,
                "\(ContentInfo.fileName) is not a file at the top of the package. Pack the "
                    + "contents of the folder, not the folder itself.")
        }
        throw ContentFault(
            .entryUnexpected, entry: entry.path,
            "A package has \(ContentInfo.fileName) and the folder Contents, and nothing beside "
                + "them. Remove the entry, or move it into Contents.")
    }

    /// Compares names as the least distinguishing file system does: without
    /// case, and by Unicode's canonical equivalence, which is Swift's `==`.
    private mutating func checkName(
        _ entry: EntryHead, _ parts: [Substring]
    ) throws(ContentFault) {
        var path = ""
        for (index, part) in parts.enumerated() {
            path += path.isEmpty ? String(part) : "/" + part
            let isLast = index == parts.count - 1
            let isFolder = !isLast || entry.kind == .folder
            let key = path.uppercased().lowercased()
            if let other = known[key] {
                let isSame = other.spelling.utf8.elementsEqual(path.utf8)
                guard isSame, other.isFolder == isFolder, !(isLast && other.isListed) else {
                    throw duplicate(entry, other.spelling)
                }
            }
            let isListed = isLast || known[key]?.isListed == true
            known[key] = Known(spelling: path, isFolder: isFolder, isListed: isListed)
        }
    }

    private func duplicate(_ entry: EntryHead, _ other: String) -> ContentFault {
        ContentFault(
            .duplicate, entry: entry.path,
            "The package already has “\(other)”, and some file systems take both names for one: "
                + "they are equal, differ in case or in Unicode's form only, or are a file and "
                + "a folder. Rename one of them.")
    }

    private mutating func checkDeclared(_ entry: EntryHead) throws(ContentFault) {
        guard entry.kind == .file, let size = entry.size else { return }
        guard size >= 0, size <= limits.totalBytes else { throw tooLarge(entry) }
        guard entry.path != ContentInfo.fileName || size <= limits.infoBytes else {
            throw ContentFault(
                .infoInvalid, entry: entry.path,
                "The file has more than \(limits.infoBytes) bytes. It needs two short values only.")
        }
        declaredBytes += size
        try checkTotal(declaredBytes, of: entry)
    }

    private func checkTotal(_ total: Int64, of entry: EntryHead) throws(ContentFault) {
        guard total <= limits.totalBytes else { throw tooLarge(entry) }
        guard let packageBytes, total > limits.freeBytes else { return }
        guard total / limits.ratio <= packageBytes else {
            throw ContentFault(
                .bomb, entry: entry.path,
                "The package would unpack to more than \(limits.ratio) times its size. Leave out "
                    + "files that hold nothing but repetition.")
        }
    }

    private func tooLarge(_ entry: EntryHead) -> ContentFault {
        ContentFault(
            .tooLarge, entry: entry.path,
            "With this entry the package unpacks to more than \(limits.totalBytes) bytes. Divide "
                + "the content between products.")
    }

    private func mismatch(_ entry: EntryHead) -> ContentFault {
        ContentFault(
            .sizeMismatch, entry: entry.path,
            "The entry does not have as many bytes as the package declares. Pack it again.")
    }
}
