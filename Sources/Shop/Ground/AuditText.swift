// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire

/// The changes of an audit entry as its row has them: JSON, so that a new field
/// needs no column.
enum AuditText {
    /// Equal values have the same text.
    static func of<Part: Encodable>(_ changes: Part) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(changes), as: UTF8.self)
    }

    /// Returns nil if a store did not write the text.
    static func changes(_ text: String) -> [AuditChange]? {
        try? JSONDecoder().decode([AuditChange].self, from: Data(text.utf8))
    }
}
