// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Storage

/// Rows of a table as bytes, written as in an archive: one JSON array for each
/// row, whatever the engine.
public enum RowPage {
    public static func bytes(of rows: [[SQLValue]]) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return [UInt8](try encoder.encode(rows.map { $0.map(Cell.init) }))
    }

    /// Throws a fault if the bytes are no page.
    public static func rows(in bytes: [UInt8]) throws -> [[SQLValue]] {
        do {
            return try JSONDecoder().decode([[Cell]].self, from: Data(bytes))
                .map { $0.map(\.value) }
        } catch { throw StorageFault(.malformedRow, "a page of rows that cannot be read") }
    }
}
