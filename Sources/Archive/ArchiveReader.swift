// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import Storage

/// Reads an archive once, and compares its last line with the others. A class,
/// because it owns an open file.
final class ArchiveReader {
    enum Line {
        case database(ArchiveLine.Database)
        case table(ArchiveLine.Table)
        case row([SQLValue])
        case key(ArchiveLine.Key)
        case number(ArchiveLine.Number)
    }

    private let path: String
    private let text: LineReader
    private var hash = SHA256()
    private var lines = 0
    /// The checksum, once the last line was read.
    private(set) var sha256 = ""
    private let decoder = JSONDecoder()

    init(path: String) throws {
        self.path = path
        text = try LineReader(path: path)
    }

    init(bytes: [UInt8], name: String) {
        path = name
        text = LineReader(bytes: bytes, name: name)
    }

    /// Returns to the beginning and reads the first line. Throws
    /// ``ArchiveFault``.
    func header() throws -> ArchiveHeader {
        text.rewind()
        (hash, lines) = (SHA256(), 0)
        guard let first = try text.next(),
            let header = try? decoder.decode(ArchiveHeader.self, from: Data(first)),
            header.format == ArchiveHeader.format
        else {
            throw ArchiveFault(
                .notAnArchive, "\(path) is not a Shopkeeper archive.",
                rule: "a file that `database backup` or `ledger backup` wrote",
                remedy: "name another file")
        }
        guard header.version <= ArchiveHeader.versionMax else {
            throw ArchiveFault(
                .tooNew, "\(path) was made by a newer program (format \(header.version)).",
                rule: "format \(ArchiveHeader.versionMax) or older",
                remedy: "restore it with the program that made it, or a newer one")
        }
        take(first)
        return header
    }

    /// Returns the next line. Nil after the last one, if all lines match it.
    func next() throws -> Line? {
        guard let bytes = try text.next() else {
            throw ArchiveFault(
                .cutShort, "\(path) ends before its last line.", rule: "the whole file",
                remedy: "copy it again from where it was made")
        }
        let data = Data(bytes)
        if bytes.first == UInt8(ascii: "[") {
            let cells = try decode([Cell].self, data)
            take(bytes)
            return .row(cells.map(\.value))
        }
        if let end = try? decoder.decode(ArchiveLine.End.self, from: data) {
            try check(end)
            return nil
        }
        let line = try object(data)
        take(bytes)
        return line
    }

    /// The fault for a line that is well-formed but makes no sense.
    var damaged: ArchiveFault {
        ArchiveFault(
            .damaged, "\(path) does not match its checksum (after line \(lines)).",
            rule: "the SHA-256 in its last line", remedy: "copy it again, or use an older backup")
    }

    private func object(_ data: Data) throws -> Line {
        if let line = try? decoder.decode(ArchiveLine.Database.self, from: data) {
            return .database(line)
        }
        if let line = try? decoder.decode(ArchiveLine.Table.self, from: data) {
            return .table(line)
        }
        if let line = try? decoder.decode(ArchiveLine.Key.self, from: data) { return .key(line) }
        return .number(try decode(ArchiveLine.Number.self, data))
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
        do { return try decoder.decode(type, from: data) } catch { throw damaged }
    }

    private func check(_ end: ArchiveLine.End) throws {
        guard end.lines == lines, end.sha256 == hexadecimal(hash.finalize()),
            try text.isAtEnd()
        else { throw damaged }
        sha256 = end.sha256
    }

    private func take(_ line: ArraySlice<UInt8>) {
        hash.update(data: line)
        hash.update(data: [0x0A])
        lines += 1
    }
}
