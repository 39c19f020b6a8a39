// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A value prints as `json` (keys sorted, nothing null), and is read from
/// it, also when a newer store or device has put more keys everywhere.
func expectGolden<Value: Codable & Equatable>(
    _ value: Value, _ json: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let printed = String(decoding: try encoder.encode(value), as: UTF8.self)
    #expect(printed == json, sourceLocation: sourceLocation)
    let decoder = JSONDecoder()
    let read = try decoder.decode(Value.self, from: Data(json.utf8))
    #expect(read == value, sourceLocation: sourceLocation)
    let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
    let newer = try JSONSerialization.data(withJSONObject: withMoreKeys(object))
    #expect(try decoder.decode(Value.self, from: newer) == value, sourceLocation: sourceLocation)
}

private func withMoreKeys(_ value: Any) -> Any {
    if let array = value as? [Any] { return array.map(withMoreKeys) }
    guard let object = value as? [String: Any] else { return value }
    var more = object.mapValues(withMoreKeys)
    more["aKeyOfTomorrow"] = ["deep": [1, NSNull()]] as [String: Any]
    return more
}

/// Reading `json` as a `Value` fails, at `key` where one is given.
func expectRefused<Value: Decodable>(
    _ type: Value.Type, _ json: String, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(throws: DecodingError.self, sourceLocation: sourceLocation) {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }
}
