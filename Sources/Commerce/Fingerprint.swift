// SPDX-License-Identifier: Apache-2.0

/// A fingerprint of sixteen digits (FNV-1a, 64 bits), for names of files and for words
/// between processes. It does not protect against deliberate collisions.
package enum Fingerprint {
    package static func of(_ bytes: some Sequence<UInt8>) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        return hexadecimal((0..<8).map { UInt8(truncatingIfNeeded: hash >> (56 - 8 * $0)) })
    }
}
