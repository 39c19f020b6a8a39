// SPDX-License-Identifier: Apache-2.0

/// What a request for a file asks for: RFC 9110, 13 and 14.
package enum ByteRange: Hashable, Sendable {
    /// All of it.
    case whole
    /// Some of it. Never empty.
    case part(Range<Int64>)
    /// Only bytes that it does not have: 416.
    case unsatisfiable

    /// The answer to the header `Range`. A header that asks for several parts, or that
    /// cannot be read, is ignored, as the RFC allows.
    package init(_ header: String?, length: Int64) {
        guard let header, let equals = header.firstIndex(of: "="),
            header[..<equals].lowercased() == "bytes"
        else {
            self = .whole
            return
        }
        let spec = header[header.index(after: equals)...].trimmed
        let sides = spec.split(separator: "-", omittingEmptySubsequences: false)
        guard sides.count == 2 else {
            self = .whole
            return
        }
        switch (Self.number(sides[0]), Self.number(sides[1])) {
        case (.number(let first), .number(let last)) where first <= last:
            self = Self.part(from: first, to: last, of: length)
        case (.number(let first), .none): self = Self.part(from: first, to: .max, of: length)
        case (.none, .number(let count)):
            self = count == 0 ? .unsatisfiable : .part(max(0, length - count)..<length)
        default: self = .whole
        }
    }

    private static func part(from first: Int64, to last: Int64, of length: Int64) -> ByteRange {
        first < length ? .part(first..<(min(last, length - 1) + 1)) : .unsatisfiable
    }

    private enum Side {
        case none, wrong
        case number(Int64)
    }

    /// A number that is too large counts as the largest.
    private static func number(_ text: Substring) -> Side {
        if text.isEmpty { return .none }
        guard text.utf8.allSatisfy({ (48...57).contains($0) }) else { return .wrong }
        return .number(Int64(text) ?? .max)
    }
}

extension Substring {
    /// Without spaces at both ends.
    fileprivate var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
