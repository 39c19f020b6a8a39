// SPDX-License-Identifier: Apache-2.0

import CPostgres
import Storage

/// Values in libpq's binary format. Text would end at U+0000, and numbers
/// without a declared type would have 32 bits.
enum PostgresType {
    static let boolean: Oid = 16
    static let bytes: Oid = 17
    static let integer: Oid = 20
    static let smallInteger: Oid = 21
    static let mediumInteger: Oid = 23
    static let text: Oid = 25

    /// The column types that a result may have.
    static let known: Set<Oid> = [
        boolean, bytes, integer, smallInteger, mediumInteger, text,
    ]

    static func unknown(_ type: Oid, column: String, statement: String) -> StorageFault {
        StorageFault(
            .malformedRow,
            "\(statement): column \(column) is of PostgreSQL's type \(type); cast it to "
                + "BIGINT, TEXT, BYTEA or BOOLEAN")
    }

    static func oid(_ type: SQLType) -> Oid {
        switch type {
        case .integer: integer
        case .text: text
        case .blob: bytes
        case .boolean: boolean
        }
    }
}

extension SQLValue {
    /// The bytes to send. Nil for null.
    var bytes: [UInt8]? {
        switch self {
        case .null: nil
        case .integer(let number): withUnsafeBytes(of: number.bigEndian) { Array($0) }
        case .text(let text): Array(text.utf8)
        case .blob(let bytes): bytes
        case .boolean(let flag): [flag ? 1 : 0]
        }
    }

    /// Reads a column of a result. Throws for types that the shared dialect
    /// lacks: for example, a sum that PostgreSQL returns as `numeric` must not
    /// be converted by guessing.
    init(
        _ bytes: UnsafeRawBufferPointer, type: Oid, column: String, statement: String
    ) throws(StorageFault) {
        switch type {
        case PostgresType.integer where bytes.count == 8:
            self = .integer(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
        case PostgresType.mediumInteger where bytes.count == 4:
            self = .integer(Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self))))
        case PostgresType.smallInteger where bytes.count == 2:
            self = .integer(Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self))))
        case PostgresType.text: self = .text(String(decoding: bytes, as: UTF8.self))
        case PostgresType.bytes: self = .blob(Array(bytes))
        case PostgresType.boolean where bytes.count == 1: self = .boolean(bytes[0] != 0)
        default:
            throw PostgresType.unknown(type, column: column, statement: statement)
        }
    }
}
