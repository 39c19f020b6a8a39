// SPDX-License-Identifier: Apache-2.0

/// A look at JSON from outside before a decoder sees it.
public enum JSONNesting {
    /// How deep anything of ours goes, with room to spare.
    public static let depthMax = 64

    /// Whether arrays and objects stand at most `limit` inside each other.
    ///
    /// Foundation's decoder stops the whole process on bytes that end in the
    /// 513th `[` inside each other (swift-foundation of Swift 6.3.1), so what
    /// comes over a wire or from a file is asked this first. Says nothing
    /// else about whether the bytes are JSON.
    public static func isWithin(
        _ json: some Sequence<UInt8>, limit: Int = depthMax
    ) -> Bool {
        var depth = 0
        var isText = false
        var isEscaped = false
        for byte in json {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isText = true
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
            if depth > limit { return false }
        }
        return true
    }
}
