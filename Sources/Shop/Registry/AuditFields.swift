// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import StoreWire

/// The audited values of a subject at one moment, in the order of display. A
/// field without a value is null. Never contains a secret.
struct AuditFields: Sendable, ExpressibleByDictionaryLiteral {
    /// The longest value in an entry. A list may be longer, and is cut.
    static let valueBytesMax = 2048

    /// The most changes in an entry. An import may change thousands of fields.
    static let changesMax = 200

    private(set) var all: [(name: String, value: String?)]

    init(_ all: [(name: String, value: String?)]) { self.all = all }

    init(dictionaryLiteral elements: (String, String?)...) {
        self.init(elements.map { (name: $0.0, value: $0.1) })
    }

    /// Returns the fields whose values differ, by their bytes. Nil for a subject
    /// that does not exist.
    static func changes(from before: AuditFields?, to after: AuditFields?) -> [AuditChange] {
        let (old, new) = (before?.values ?? [:], after?.values ?? [:])
        var names = after?.all.map(\.name) ?? []
        names += (before?.all ?? []).map(\.name).filter { new[$0] == nil }
        let changes = names.compactMap { name -> AuditChange? in
            let (was, becomes) = (old[name] ?? nil, new[name] ?? nil)
            guard !was.isSame(as: becomes) else { return nil }
            return AuditChange(field: name, before: cut(was), after: cut(becomes))
        }
        guard changes.count > changesMax else { return changes }
        return changes.prefix(changesMax) + [
            AuditChange(
                field: "further changes", before: nil, after: "\(changes.count - changesMax)")
        ]
    }

    private var values: [String: String?] {
        Dictionary(all.map { ($0.name, $0.value) }) { first, _ in first }
    }

    /// A long value ends with its length and the start of its SHA-256, so that two
    /// that begin alike differ.
    private static func cut(_ text: String?) -> String? {
        guard let text, text.utf8.count > valueBytesMax else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: valueBytesMax)
        while end.samePosition(in: text.unicodeScalars) == nil {
            end = text.utf8.index(before: end)
        }
        let digest = hexadecimal(SHA256.hash(data: Data(text.utf8))).prefix(16)
        return "\(text[..<end])… (\(text.utf8.count) bytes, SHA-256 \(digest))"
    }
}
