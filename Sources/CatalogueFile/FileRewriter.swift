// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// Changes the values in a file's text and leaves everything else as it is:
/// order, white space, escapes and unknown keys.
struct FileRewriter {
    private let old: [UInt8]
    private let style: FileStyle
    private(set) var bytes: [UInt8] = []

    init(_ text: [UInt8], as tree: JSONTree, limits: JSONLimits) throws(JSONFailure) {
        let root = try JSONPlace(text, limits: limits)
        old = text
        style = FileStyle(of: text, root)
        bytes.reserveCapacity(text.count + 1024)
        copy(0..<root.bytes.lowerBound)
        write(tree, over: root, isInline: style.isInline)
        copy(root.bytes.upperBound..<text.count)
    }

    /// A member or an element to write.
    private struct Entry {
        var key: String?
        let value: JSONTree
        /// The part of the list that represented it before. Nil for a new one.
        let part: Int?
    }

    private mutating func write(_ new: JSONTree, over place: JSONPlace, isInline: Bool) {
        guard new != place.value else { return copy(place.bytes) }
        switch (place.value, new) {
        case (.object(let before), .object(let members)) where !before.isEmpty && !members.isEmpty:
            let parts = Dictionary(before.enumerated().map { ($1.key, $0) }) { first, _ in first }
            let entries = members.map { Entry(key: $0.key, value: $0.value, part: parts[$0.key]) }
            write(entries, of: place)
        case (.array(let before), .array(let elements)) where !before.isEmpty && !elements.isEmpty:
            let parts = Pairing(before).parts(for: elements)
            write(zip(elements, parts).map { Entry(value: $0, part: $1) }, of: place)
        default:
            bytes += FileText(new, isInline ? style.inline : style, margin: lineMargin).bytes
        }
    }

    private mutating func write(_ entries: [Entry], of list: JSONPlace) {
        let gaps = Gaps(of: list, in: old, style)
        bytes.append(old[list.bytes.lowerBound])
        for (index, entry) in entries.enumerated() {
            bytes += gaps.before(entry.part, isFirst: index == 0)
            let part = entry.part.map { list.parts[$0] }
            if let key = entry.key {
                if let part, let at = entry.part {
                    copy(list.keys[at].lowerBound..<part.bytes.lowerBound)
                } else {
                    StrictJSON.write(key, to: &bytes)
                    bytes += style.colon
                }
            }
            if let part {
                write(entry.value, over: part, isInline: gaps.isInline)
            } else {
                let own = gaps.isInline ? style.inline : style
                bytes += FileText(entry.value, own, margin: lineMargin).bytes
            }
        }
        copy(gaps.last)
        bytes.append(old[list.bytes.upperBound - 1])
    }

    private mutating func copy(_ range: Range<Int>) { bytes += old[range] }

    /// The white space at the beginning of the current line.
    private var lineMargin: [UInt8] {
        let start = bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        return Array(bytes[start...].prefix { $0 == 0x20 || $0 == 0x09 })
    }
}

/// The text between the parts of a list.
private struct Gaps {
    /// The text before each part, including the comma.
    private let gaps: [[UInt8]]
    private let comma: [UInt8]
    /// The text before the closing bracket.
    let last: Range<Int>
    /// Whether the list is on one line.
    let isInline: Bool

    init(of list: JSONPlace, in text: [UInt8], _ style: FileStyle) {
        var end = list.bytes.lowerBound + 1
        var gaps: [[UInt8]] = []
        for (index, part) in list.parts.enumerated() {
            let start = list.keys.isEmpty ? part.bytes.lowerBound : list.keys[index].lowerBound
            gaps.append(Array(text[end..<start]))
            end = part.bytes.upperBound
        }
        self.gaps = gaps
        last = end..<(list.bytes.upperBound - 1)
        isInline = !gaps.contains { $0.contains(0x0A) }
        comma = isInline ? style.inline.comma : Array(",".utf8)
    }

    /// `part` is the place that the entry had before. Nil for a new one.
    func before(_ part: Int?, isFirst: Bool) -> [UInt8] {
        if isFirst { return gaps.first ?? [] }
        if let part, part > 0 { return gaps[part] }
        let usual = gaps.dropFirst().first { $0.contains(0x0A) } ?? gaps.dropFirst().first
        return usual ?? comma + (isInline ? [] : gaps.first ?? [])
    }
}

/// Finds which element of a list represented which one before: first equal
/// elements, then those with the same name.
private struct Pairing {
    private static let names = ["productID", "offerID", "internalID", "id", "locale"]
    private let before: [JSONTree]

    init(_ before: [JSONTree]) { self.before = before }

    func parts(for elements: [JSONTree]) -> [Int?] {
        var parts = [Int?](repeating: nil, count: elements.count)
        var free = Set(before.indices)
        for names in [{ [$0] }, Self.names] {
            var places = places(names)
            for index in elements.indices where parts[index] == nil {
                for name in names(elements[index]) where parts[index] == nil {
                    guard let part = Self.take(name, from: &places, free) else { continue }
                    free.remove(part)
                    parts[index] = part
                }
            }
        }
        return parts
    }

    /// Where each name occurs in the list, from last to first.
    private func places(_ names: (JSONTree) -> [JSONTree]) -> [JSONTree: [Int]] {
        var places: [JSONTree: [Int]] = [:]
        for index in before.indices.reversed() {
            for name in names(before[index]) { places[name, default: []].append(index) }
        }
        return places
    }

    private static func take(
        _ name: JSONTree, from places: inout [JSONTree: [Int]], _ free: Set<Int>
    ) -> Int? {
        while let part = places[name]?.popLast() {
            if free.contains(part) { return part }
        }
        return nil
    }

    private static func names(of element: JSONTree) -> [JSONTree] {
        names.compactMap { key in
            guard let name = element[key], case .string = name else { return nil }
            return .object([JSONTree.Member(key, name)])
        }
    }
}

extension JSONTree {
    /// Sets a member, or removes it for nil. A new one is inserted in Xcode's
    /// order. If the members are in another order, it is added at the end.
    mutating func put(_ key: String, _ value: JSONTree?) {
        guard let value, self[key] == nil, case .object(var members) = self else {
            self[key] = value
            return
        }
        let isSorted = zip(members, members.dropFirst())
            .allSatisfy { FileText.precedes($0.key, $1.key) }
        let place = members.firstIndex { FileText.precedes(key, $0.key) }
        members.insert(Member(key, value), at: isSorted ? place ?? members.count : members.count)
        self = .object(members)
    }

    /// Sets those members in which `after` differs from `before`.
    mutating func put(changesFrom before: JSONTree, to after: JSONTree, except: Set<String>) {
        guard case .object(let old) = before, case .object(let new) = after else { return }
        var done = except
        for key in (new + old).map(\.key) where done.insert(key).inserted {
            if before[key] != after[key] { put(key, after[key]) }
        }
    }
}
