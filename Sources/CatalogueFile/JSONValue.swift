// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Any JSON. Numbers are decimals, so that none passes through binary.
enum JSONValue: Hashable, Sendable, Decodable {
    case null
    case boolean(Bool)
    case number(Decimal)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        if let members = try? decoder.container(keyedBy: AnyKey.self) {
            var object: [String: JSONValue] = [:]
            for key in members.allKeys {
                object[key.stringValue] = try members.decode(JSONValue.self, forKey: key)
            }
            self = .object(object)
        } else if var elements = try? decoder.unkeyedContainer() {
            var array: [JSONValue] = []
            while !elements.isAtEnd { array.append(try elements.decode(JSONValue.self)) }
            self = .array(array)
        } else {
            let scalar = try decoder.singleValueContainer()
            if scalar.decodeNil() {
                self = .null
            } else if let flag = try? scalar.decode(Bool.self) {
                self = .boolean(flag)
            } else if let text = try? scalar.decode(String.self) {
                self = .string(text)
            } else {
                self = .number(try scalar.decode(Decimal.self))
            }
        }
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

/// A value and the way to it from the file's top.
struct Node {
    let value: JSONValue
    let path: String

    init(_ value: JSONValue, _ path: String) {
        self.value = value
        self.path = path
    }

    /// The value under a key; nil where it is missing or null.
    subscript(key: String) -> Node? {
        guard case .object(let members) = value, let member = members[key], member != .null
        else { return nil }
        return Node(member, path(to: key))
    }

    /// The way to a key of this object, there or not.
    func path(to key: String) -> String { path.isEmpty ? key : path + "." + key }

    var isObject: Bool {
        if case .object = value { return true } else { return false }
    }
}
