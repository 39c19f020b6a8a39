// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage

/// The lines of an archive that are objects. Their first key distinguishes
/// them.
enum ArchiveLine {
    struct Database: Codable {
        struct Step: Codable {
            var number: Int
            var name: String
            var checksum: String
        }

        var database: String
        var migrations: [Step]
    }

    struct Table: Codable {
        var table: String
        var columns: [String]
    }

    struct Key: Codable {
        var key: String
        var bytes: Data
    }

    /// The next free number of a kind.
    struct Number: Codable {
        var number: Int64
        var next: Int64
    }

    struct End: Codable {
        var lines: Int
        var sha256: String
    }
}

/// One value of a row.
struct Cell: Codable {
    private struct Blob: Codable {
        var base64: Data
    }

    let value: SQLValue

    init(_ value: SQLValue) { self.value = value }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            value = .null
        } else if let number = try? container.decode(Int64.self) {
            value = .integer(number)
        } else if let text = try? container.decode(String.self) {
            value = .text(text)
        } else if let flag = try? container.decode(Bool.self) {
            value = .boolean(flag)
        } else {
            value = .blob([UInt8](try container.decode(Blob.self).base64))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value {
        case .null: try container.encodeNil()
        case .integer(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .boolean(let flag): try container.encode(flag)
        case .blob(let bytes): try container.encode(Blob(base64: Data(bytes)))
        }
    }
}

extension SQLValue {
    /// The value in a column of another engine, where a boolean may be an
    /// integer or the reverse. Any other mismatch is left unchanged, and the
    /// database rejects it.
    func fitted(to type: SQLType) -> SQLValue {
        switch (self, type) {
        case (.boolean(let flag), .integer): .integer(flag ? 1 : 0)
        case (.integer(0), .boolean): .boolean(false)
        case (.integer(1), .boolean): .boolean(true)
        default: self
        }
    }
}
