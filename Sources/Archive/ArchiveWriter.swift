// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
public import Storage
import Synchronization

/// Writes one archive: first to a file beside its place (``ArchivePart``), which is
/// synced and gets its final name only when it is complete. Call ``finish()``,
/// or ``discard()`` after a failure. A class, because it owns an open file.
public final class ArchiveWriter: Sendable {
    private struct State {
        var descriptor: Int32
        var hash = SHA256()
        var lines = 0
        var rows = 0
        var bytes: Int64 = 0
    }

    /// A position to which writing can return.
    ///
    /// `@unchecked`: the digest is a separate copy. swift-crypto 4 declares it
    /// Sendable, version 3 does not.
    private struct Mark: @unchecked Sendable {
        let hash: SHA256
        let lines: Int
        let rows: Int
        let bytes: Int64
    }

    private let path: String
    private let part: String
    private let state: Mutex<State>

    /// Throws ``ArchiveFault`` `unwritable`, also if the file exists already.
    public init(path: String, header: ArchiveHeader) throws {
        self.path = path
        part = ArchivePart.name(of: path)
        guard access(path, F_OK) != 0 else {
            throw ArchiveFault(
                .unwritable, "\(path) exists already.", rule: "an archive never replaces a file",
                remedy: "name another file, or a folder")
        }
        ArchivePart.removeLeft(in: URL(fileURLWithPath: path).deletingLastPathComponent().path)
        let descriptor = ArchivePart.create(part)
        guard descriptor >= 0 else { throw Self.fault(part) }
        state = Mutex(State(descriptor: descriptor))
        try write(header)
    }

    deinit { discard() }

    /// What was written.
    public struct Summary: Hashable, Sendable, Codable {
        public let file: String
        public let rows: Int
        public let bytes: Int64
        /// The checksum of everything except the last line.
        public let sha256: String
    }

    /// Copies a database as it is at one moment: those of its tables that are in a backup.
    public func add(
        _ storage: any Storage, as name: String, _ dialect: Dialect, _ known: [Table]
    ) async throws {
        let left = Set(known.filter { !$0.isInBackup }.map(\.name))
        let mark = mark()
        try await storage.read { reading in
            // The closure may run again. What it wrote before is removed.
            try self.goBack(to: mark)
            let steps = try MigrationHistory.steps(reading)
            try self.write(
                ArchiveLine.Database(
                    database: name,
                    migrations: steps.map {
                        .init(number: $0.number, name: $0.name, checksum: $0.checksum)
                    }))
            for table in try TableShape.all(reading, dialect) where !left.contains(table.name) {
                try self.write(
                    ArchiveLine.Table(table: table.name, columns: table.columns.map(\.name)))
                try table.forEachPage(reading) { try self.write(rows: $0) }
            }
        }
    }

    /// Adds a key.
    public func add(key: String, _ bytes: [UInt8]) throws {
        try write(ArchiveLine.Key(key: key, bytes: Data(bytes)))
    }

    /// Adds the next free number of a kind.
    public func add(number kind: Int64, next: Int64) throws {
        try write(ArchiveLine.Number(number: kind, next: next))
    }

    /// Completes the archive and gives it its name.
    public func finish() throws -> Summary {
        let (sha256, lines) = state.withLock { state in
            (hexadecimal(state.hash.finalize()), state.lines)
        }
        try write(ArchiveLine.End(lines: lines, sha256: sha256))
        return try state.withLock { state in
            guard fsync(state.descriptor) == 0 else { throw Self.fault(path) }
            // Closed last: the lock keeps other processes from removing the file.
            defer {
                close(state.descriptor)
                state.descriptor = -1
            }
            // Linking fails where a file has come to be meanwhile.
            guard link(part, path) == 0 else {
                let fault = Self.fault(path)
                unlink(part)
                throw fault
            }
            unlink(part)
            try Self.syncFolder(of: path)
            return Summary(file: path, rows: state.rows, bytes: state.bytes, sha256: sha256)
        }
    }

    /// Removes an incomplete archive.
    public func discard() {
        state.withLock { state in
            guard state.descriptor >= 0 else { return }
            unlink(part)
            close(state.descriptor)
            state.descriptor = -1
        }
    }

    private func mark() -> Mark {
        state.withLock { Mark(hash: $0.hash, lines: $0.lines, rows: $0.rows, bytes: $0.bytes) }
    }

    private func goBack(to mark: Mark) throws {
        try state.withLock { state in
            guard ftruncate(state.descriptor, off_t(mark.bytes)) == 0,
                lseek(state.descriptor, off_t(mark.bytes), SEEK_SET) >= 0
            else { throw Self.fault(path) }
            (state.hash, state.lines) = (mark.hash, mark.lines)
            (state.rows, state.bytes) = (mark.rows, mark.bytes)
        }
    }

    private func write(rows: [[SQLValue]]) throws {
        let encoder = Self.encoder()
        var bytes = Data()
        for row in rows {
            bytes += try encoder.encode(row.map(Cell.init))
            bytes.append(0x0A)
        }
        try append(bytes, lines: rows.count, rows: rows.count)
    }

    private func write(_ line: some Encodable) throws {
        try append(try Self.encoder().encode(line) + [0x0A], lines: 1, rows: 0)
    }

    private func append(_ bytes: Data, lines: Int, rows: Int) throws {
        try state.withLock { state in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Foundation.write(state.descriptor, $0.baseAddress, $0.count)
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw Self.fault(path) }
                rest = rest.dropFirst(count)
            }
            state.hash.update(data: bytes)
            state.lines += lines
            state.rows += rows
            state.bytes += Int64(bytes.count)
        }
    }

    private static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return encoder
    }

    private static func syncFolder(of path: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw fault(folder) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw fault(folder) }
    }

    private static func fault(_ path: String) -> ArchiveFault {
        ArchiveFault(
            .unwritable, "\(path) cannot be written: \(String(cString: strerror(errno))).",
            remedy: "name a file in a folder that you may write in, with room for it")
    }
}
