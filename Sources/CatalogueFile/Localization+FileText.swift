// SPDX-License-Identifier: Apache-2.0

import Commerce
import StrictJSON

extension [Localization] {
    /// Returns the tree of these texts in place of what is written. For a
    /// locale that exists already, equal and unread parts are kept.
    func tree(over written: JSONTree?) -> JSONTree {
        var free: [JSONTree] = []
        if case .array(let present)? = written { free = present }
        let unread = free.enumerated().filter { ($1.text("locale") ?? "").isEmpty }
        var items = map { words in
            let place = free.firstIndex { $0.text("locale").isSame(as: words.locale) }
            guard let place else { return words.tree }
            return words.tree(over: free.remove(at: place))
        }
        for (place, item) in unread { items.insert(item, at: Swift.min(place, items.count)) }
        return .array(items)
    }
}

extension Localization {
    fileprivate var tree: JSONTree {
        .object([
            .init("description", .string(details)), .init("displayName", .string(displayName)),
            .init("locale", .string(locale)),
        ])
    }

    fileprivate func tree(over written: JSONTree) -> JSONTree {
        var item = written
        for (key, text) in [("description", details), ("displayName", displayName)]
        where !(item.text(key) ?? "").isSame(as: text) {
            item.put(key, .string(text))
        }
        return item
    }
}

extension JSONTree {
    /// The text for a key, or nil.
    func text(_ key: String) -> String? {
        guard case .string(let text)? = self[key] else { return nil }
        return text
    }
}
