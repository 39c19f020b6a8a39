// SPDX-License-Identifier: Apache-2.0

import StrictJSON

/// A value and its path from the top of the file.
struct Node {
    let value: JSONTree
    let path: String

    init(_ value: JSONTree, _ path: String) {
        self.value = value
        self.path = path
    }

    /// The value for a key. Nil if it is missing or null.
    subscript(key: String) -> Node? {
        guard let member = value[key], member != .null else { return nil }
        return Node(member, path(to: key))
    }

    /// The path to a key of this object, whether the key exists or not.
    func path(to key: String) -> String { path.isEmpty ? key : path + "." + key }

    var isObject: Bool {
        if case .object = value { return true } else { return false }
    }

    var keys: [String] {
        guard case .object(let members) = value else { return [] }
        return members.map(\.key)
    }
}
