// SPDX-License-Identifier: Apache-2.0

/// A fingerprint of sixteen digits (FNV-1a, 64 bits), for names of files and for words
/// between processes. It does not protect against deliberate collisions.
package enum Fingerprint {
    package static func of(_ bytes: some Sequence<UInt8>) -> String {
        // Callers in other modules would run a generic loop, which takes a hundred times as long.
        let hash =
            bytes.withContiguousStorageIfAvailable(fnv)
            ?? Array(bytes).withUnsafeBufferPointer(fnv)
        return hexadecimal((0..<8).map { UInt8(truncatingIfNeeded: hash >> (56 - 8 * $0)) })
    }

    private static func fnv(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        return hash
    }
}
