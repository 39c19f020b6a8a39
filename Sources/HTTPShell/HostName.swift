// SPDX-License-Identifier: Apache-2.0

/// The host of a `Host` line or of an absolute address, with its port (RFC 9112,
/// 3.2).
struct HostName: Hashable {
    /// In lower case: a name, an IPv4 address, or an IPv6 address without
    /// brackets.
    let host: String
    /// Nil if none is named.
    let port: Int?

    private static let bytesMax = 253
    private static let labelBytesMax = 63

    /// Nil for any text that is not one host and at most one port.
    init?(_ text: String) {
        let name: Substring
        let rest: Substring
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            name = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
            guard Self.isIPv6(name) else { return nil }
        } else {
            name = text.prefix { $0 != ":" }
            rest = text[name.endIndex...]
            guard Self.isName(name) else { return nil }
        }
        host = name.lowercased()
        guard !rest.isEmpty else {
            port = nil
            return
        }
        guard rest.first == ":", let port = Self.port(rest.dropFirst()) else { return nil }
        self.port = port
    }

    /// Returns the number after a colon. Nothing after it means the default
    /// port.
    private static func port(_ text: Substring) -> Int?? {
        if text.isEmpty { return .some(nil) }
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let port = Int(text),
            (1...65_535).contains(port)
        else { return nil }
        return port
    }

    /// A zone, such as `%eth0`, is not a part of an address in HTTP.
    private static func isIPv6(_ text: Substring) -> Bool {
        !text.utf8.contains(UInt8(ascii: "%"))
            && ClientAddress(String(text)) != nil && text.utf8.contains(UInt8(ascii: ":"))
    }

    /// Labels of letters, digits, `-` and `_`. The last may be empty.
    private static func isName(_ text: Substring) -> Bool {
        var labels = text.utf8.split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        return text.utf8.count <= bytesMax
            && labels.allSatisfy { label in
                (1...labelBytesMax).contains(label.count) && label.allSatisfy(isNameByte)
            }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}
