// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The list of entries at a ZIP's end, as it stands there. libarchive leaves out entries
/// that share their place with another, and ends a name at U+0000, without a word.
struct ZipList {
    /// The end record, without the comment, and the longest comment.
    private static let endBytes = 22
    private static let commentBytesMax = 65_535
    private static let endMark: [UInt8] = [0x50, 0x4B, 0x05, 0x06]
    private static let entryMark: [UInt8] = [0x50, 0x4B, 0x01, 0x02]
    private static let entryBytes = 46
    /// The longest list that is read: more than the entries of a package need.
    private static let listBytesMax = 128 << 20

    let entries: Int

    /// Nil if there is no list, which libarchive says better, or if it is that of ZIP64,
    /// whose records are elsewhere.
    init?(_ file: Int32, bytes: Int64) throws(ContentFault) {
        let tailBytes = min(bytes, Int64(Self.endBytes + Self.commentBytesMax))
        let tail = Self.read(file, at: bytes - tailBytes, count: Int(tailBytes))
        guard let end = Self.end(in: tail) else { return nil }
        let size = Self.number(in: tail, at: end + 12, bytes: 4)
        let start = Self.number(in: tail, at: end + 16, bytes: 4)
        let place = bytes - tailBytes + Int64(end) - Int64(size)
        guard Self.number(in: tail, at: end + 10, bytes: 2) != 0xFFFF, start != 0xFFFF_FFFF,
            size <= Self.listBytesMax, place >= 0
        else { return nil }
        let list = Self.read(file, at: place, count: size)
        guard list.isEmpty || list.starts(with: Self.entryMark) else { return nil }
        entries = try Self.count(in: list)
    }

    /// The last end record that has room for its fields.
    private static func end(in tail: [UInt8]) -> Int? {
        guard tail.count >= endBytes else { return nil }
        return (0...(tail.count - endBytes)).last { tail[$0...].starts(with: endMark) }
    }

    /// Counts the entries, and refuses a name that ends early.
    private static func count(in list: [UInt8]) throws(ContentFault) -> Int {
        var (offset, entries) = (0, 0)
        while offset <= list.count - entryBytes, list[offset...].starts(with: entryMark) {
            let length = number(in: list, at: offset + 28, bytes: 2)
            let name = list[(offset + entryBytes)...].prefix(length)
            guard !name.contains(0) else {
                throw ContentFault(
                    .pathInvalid, entry: String(decoding: name, as: UTF8.self),
                    "The name has the character U+0000, which no system allows. Rename the file.")
            }
            let extra = number(in: list, at: offset + 30, bytes: 2)
            offset += entryBytes + length + extra + number(in: list, at: offset + 32, bytes: 2)
            entries += 1
        }
        return entries
    }

    /// A number that begins with its lowest byte.
    private static func number(in bytes: [UInt8], at offset: Int, bytes count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }

    /// As many of the bytes as can be read.
    private static func read(_ file: Int32, at offset: Int64, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let read = pread(
                    file, buffer.baseAddress.map { $0 + filled }, count - filled,
                    off_t(offset) + off_t(filled))
                if read < 0, errno == EINTR { continue }
                guard read > 0 else { return }
                filled += read
            }
        }
    }
}
