// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The lines of a file, or of bytes in memory, in order. A class, because it
/// owns an open file.
final class LineReader {
    /// The most bytes in one line. The largest stored values are images.
    static let lineBytesMax = 64 * 1024 * 1024
    private static let chunkBytes = 256 * 1024

    /// Negative if there is no file, and all bytes are in ``given``.
    private let descriptor: Int32
    private let given: [UInt8]
    private let path: String
    private var buffer: [UInt8] = []
    private var start = 0
    private var offset: Int64 = 0

    /// Throws ``ArchiveFault`` `unreadable`.
    init(path: String) throws {
        self.path = path
        given = []
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.fault(path) }
    }

    init(bytes: [UInt8], name: String) {
        (path, given, buffer, descriptor) = (name, bytes, bytes, -1)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns to the first line of the file.
    func rewind() { (buffer, start, offset) = (given, 0, 0) }

    /// Whether every byte was returned.
    func isAtEnd() throws -> Bool { try start == buffer.count && !fill() }

    /// Returns the next line without its line feed. Nil if no complete line
    /// follows.
    func next() throws -> ArraySlice<UInt8>? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0A) {
                defer { start = end + 1 }
                return buffer[start..<end]
            }
            guard buffer.count - start <= Self.lineBytesMax else { return nil }
            searched = buffer.count - start
            buffer.removeFirst(start)
            start = 0
            guard try fill() else { return nil }
        }
    }

    private func fill() throws -> Bool {
        guard descriptor >= 0 else { return false }
        let chunk = try [UInt8](unsafeUninitializedCapacity: Self.chunkBytes) { space, count in
            count = 0
            repeat {
                let read = pread(descriptor, space.baseAddress, space.count, off_t(offset))
                if read < 0, errno == EINTR { continue }
                guard read >= 0 else { throw Self.fault(path) }
                count = read
                return
            } while true
        }
        offset += Int64(chunk.count)
        buffer += chunk
        return !chunk.isEmpty
    }

    private static func fault(_ path: String) -> ArchiveFault {
        ArchiveFault(
            .unreadable, "\(path) cannot be read: \(String(cString: strerror(errno))).",
            remedy: "name the file that `database backup` or `ledger backup` wrote")
    }
}
