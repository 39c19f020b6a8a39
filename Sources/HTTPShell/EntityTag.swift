// SPDX-License-Identifier: Apache-2.0

/// The tags of answers (RFC 9110, 8.8.3).
package enum EntityTag {
    /// Whether the header `If-None-Match`, a list or `*`, has a tag. A tag may be marked as
    /// weak, for example by a proxy that compresses.
    package static func matches(_ header: String, _ tag: String) -> Bool {
        header.split(separator: ",").contains { part in
            var part = part.drop { $0 == " " || $0 == "\t" }
            while part.last == " " || part.last == "\t" { part.removeLast() }
            if part.hasPrefix("W/") { part = part.dropFirst(2) }
            return part == "*" || part == tag
        }
    }
}
