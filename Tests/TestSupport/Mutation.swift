// SPDX-License-Identifier: Apache-2.0

/// Random changes to bytes.
public enum Mutation {
    /// Returns the bytes after one to four small changes, which may cancel each
    /// other out.
    public static func of(
        _ bytes: [UInt8], using generator: inout some RandomNumberGenerator
    ) -> [UInt8] {
        var bytes = bytes
        for _ in 0...Int.random(in: 0..<4, using: &generator) {
            guard !bytes.isEmpty else { break }
            let at = Int.random(in: bytes.indices, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes[at] = UInt8.random(in: .min ... .max, using: &generator)
            case 1: bytes.removeSubrange(at...)
            case 2: bytes.insert(UInt8.random(in: .min ... .max, using: &generator), at: at)
            case 3: bytes.remove(at: at)
            default:
                let end = Int.random(in: at..<bytes.count, using: &generator)
                bytes.append(contentsOf: bytes[at...end])
            }
        }
        return bytes
    }
}
