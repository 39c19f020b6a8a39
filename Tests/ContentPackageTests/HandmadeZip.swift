// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A ZIP that is written byte by byte, so that its headers can lie.
struct HandmadeZip {
    struct Entry {
        var name: [UInt8]
        var bytes: [UInt8] = []
        /// Of Unix, as in the upper half of the external attributes.
        var mode: UInt32 = 0o100644
        /// Bit 11: the name is UTF-8.
        var flags: UInt16 = 0x0800
        var method: UInt16 = 0
        /// Nil: the true one.
        var declaredSize: UInt32?
        var localDeclaredSize: UInt32?
        var checksum: UInt32?
        /// In the list only, at the place of the first entry.
        var sharesPlace = false

        init(_ name: String, _ text: String = "") {
            self.name = Array(name.utf8)
            bytes = Array(text.utf8)
        }

        static func folder(_ name: String) -> Entry {
            var entry = Entry(name + "/")
            entry.mode = 0o40755
            return entry
        }
    }

    static let info = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict>
        <key>ContentVersion</key><string>1.2</string>
        <key>IAPProductIdentifier</key><string>level.two</string>
        </dict></plist>
        """

    var entries: [Entry]

    /// A good package, followed by more entries.
    static func package(_ more: [Entry] = []) -> HandmadeZip {
        HandmadeZip(
            entries: [Entry("ContentInfo.plist", info), Entry("Contents/map.txt", "a map")] + more)
    }

    func write(to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    var bytes: [UInt8] {
        var local: [UInt8] = []
        var central: [UInt8] = []
        for entry in entries {
            let offset = entry.sharesPlace ? 0 : UInt32(local.count)
            let sum = entry.checksum ?? Self.checksum(entry.bytes)
            let size = UInt32(entry.bytes.count)
            if !entry.sharesPlace {
                local += Self.number(0x0403_4B50) + Self.half(20)
                local += Self.common(
                    entry, sum, size, entry.localDeclaredSize ?? entry.declaredSize ?? size)
                local += entry.name + entry.bytes
            }
            central += Self.number(0x0201_4B50) + Self.half(0x0314) + Self.half(20)
            central += Self.common(entry, sum, size, entry.declaredSize ?? size)
            central += Self.half(0) + Self.half(0) + Self.half(0)
            central += Self.number(entry.mode << 16) + Self.number(offset) + entry.name
        }
        // Counts beyond 65,535 are written as that, which readers accept.
        let count = UInt16(min(entries.count, 0xFFFF))
        let end =
            Self.number(0x0605_4B50) + Self.half(0) + Self.half(0) + Self.half(count)
            + Self.half(count) + Self.number(UInt32(central.count))
            + Self.number(UInt32(local.count)) + Self.half(0)
        return local + central + end
    }

    /// From the flags to the lengths of name and extra field.
    private static func common(
        _ entry: Entry, _ sum: UInt32, _ size: UInt32, _ declared: UInt32
    ) -> [UInt8] {
        half(entry.flags) + half(entry.method) + number(0x0021_0000) + number(sum) + number(size)
            + number(declared) + half(UInt16(entry.name.count)) + half(0)
    }

    private static func half(_ value: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }

    private static func number(_ value: UInt32) -> [UInt8] {
        half(UInt16(truncatingIfNeeded: value)) + half(UInt16(truncatingIfNeeded: value >> 16))
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }
}
