// SPDX-License-Identifier: Apache-2.0

/// Checks foreign JSON before a decoder reads it.
public enum JSONNesting {
    /// More levels than any of our own data has.
    public static let depthMax = 64

    /// Whether arrays and objects are nested at most `limit` levels deep.
    ///
    /// Foundation's decoder ends the process on bytes that end in the 513th
    /// nested `[` (swift-foundation of Swift 6.3.1). So everything from a wire
    /// or a file is checked first. This does not check whether the bytes are
    /// JSON.
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
