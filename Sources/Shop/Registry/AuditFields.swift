// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire

/// The audited values of a subject at one moment, in the order of display. A
/// field without a value is null. Never contains a secret.
struct AuditFields: Sendable, ExpressibleByDictionaryLiteral {
    /// The longest value in an entry. A list may be longer, and is cut.
    static let valueBytesMax = 2048

    private(set) var all: [(name: String, value: String?)]

    init(_ all: [(name: String, value: String?)]) { self.all = all }

    init(dictionaryLiteral elements: (String, String?)...) {
        self.init(elements.map { (name: $0.0, value: $0.1) })
    }

    /// Returns the fields whose values differ, by their bytes. Nil for a subject
    /// that does not exist.
    static func changes(from before: AuditFields?, to after: AuditFields?) -> [AuditChange] {
        let (old, new) = (before?.values ?? [:], after?.values ?? [:])
        var names = (after ?? before)?.all.map(\.name) ?? []
        names += (before?.all ?? []).map(\.name).filter { name in !names.contains(name) }
        return names.compactMap { name in
            let (was, becomes) = (old[name] ?? nil, new[name] ?? nil)
            guard !was.isSame(as: becomes) else { return nil }
            return AuditChange(field: name, before: cut(was), after: cut(becomes))
        }
    }

    private var values: [String: String?] {
        Dictionary(all.map { ($0.name, $0.value) }) { first, _ in first }
    }

    private static func cut(_ text: String?) -> String? {
        guard let text, text.utf8.count > valueBytesMax else { return text }
        return String(decoding: text.utf8.prefix(valueBytesMax), as: UTF8.self) + "…"
    }
}
