// SPDX-License-Identifier: Apache-2.0

/// An IP address, by its bytes.
struct IPAddress: Hashable, Sendable {
    /// Four or sixteen bytes.
    let bytes: [UInt8]

    init(v4 bytes: [UInt8]) {
        precondition(bytes.count == 4, "an address of version 4 has four bytes")
        self.bytes = bytes
    }

    /// An IPv4 address that is embedded in an IPv6 address is treated as the
    /// IPv4 address.
    init(v6 bytes: [UInt8]) {
        precondition(bytes.count == 16, "an address of version 6 has sixteen bytes")
        let isMapped =
            bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        self.bytes = isMapped ? Array(bytes[12...]) : bytes
    }

    /// Whether the address is public: in none of the ranges that are reserved
    /// for special purposes (RFC 6890).
    var isPublic: Bool {
        let special = bytes.count == 4 ? Self.specialV4 : Self.specialV6
        guard !special.contains(where: { $0.holds(bytes) }) else { return false }
        // Of IPv6, only 2000::/3 is assigned.
        return bytes.count == 4 || bytes[0] & 0xE0 == 0x20
    }

    private struct Range: Sendable {
        let prefix: [UInt8]
        let bits: Int

        init(_ prefix: [UInt8], _ bits: Int) {
            self.prefix = prefix
            self.bits = bits
        }

        func holds(_ bytes: [UInt8]) -> Bool {
            for (index, byte) in prefix.enumerated() {
                let left = bits - index * 8
                guard left > 0 else { break }
                let mask: UInt8 = left >= 8 ? 0xFF : 0xFF << UInt8(8 - left)
                guard bytes[index] & mask == byte & mask else { return false }
            }
            return true
        }
    }

    private static let specialV4 = [
        Range([0], 8),  // this network
        Range([10], 8),  // private
        Range([100, 64], 10),  // shared by a provider's customers
        Range([127], 8),  // loopback
        Range([169, 254], 16),  // link-local, and clouds' metadata
        Range([172, 16], 12),  // private
        Range([192, 0, 0], 24),  // protocols
        Range([192, 0, 2], 24),  // documentation
        Range([192, 88, 99], 24),  // relays of version 6
        Range([192, 168], 16),  // private
        Range([198, 18], 15),  // benchmarks
        Range([198, 51, 100], 24),  // documentation
        Range([203, 0, 113], 24),  // documentation
        Range([224], 4),  // multicast
        Range([240], 4),  // reserved, broadcast
    ]

    private static let specialV6 = [
        Range([0x20, 0x01, 0x00], 23),  // protocols, Teredo among them
        Range([0x20, 0x01, 0x0D, 0xB8], 32),  // documentation
        Range([0x20, 0x02], 16),  // carries an address of version 4
        Range([0x3F, 0xFF, 0x00], 20),  // documentation
    ]
}
