// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Storage

/// Translates a database's error to the port's. Any other error is returned
/// unchanged.
func fault(_ error: any Error, in place: String, isCommitting: Bool = false) -> any Error {
    guard error is DatabaseError else { return error }
    return StorageFault(error, in: place, isCommitting: isCommitting)
}

extension StorageFault {
    /// Keeps SQLite's message, which names tables and columns, and drops its
    /// SQL and values.
    init(_ error: any Error, in place: String, isCommitting: Bool = false) {
        if let fault = error as? StorageFault {
            self = fault
        } else if let error = error as? DatabaseError {
            let sentence = error.message ?? "no message"
            self.init(
                Self.code(of: error.resultCode, isCommitting),
                "\(place): \(sentence) (SQLite \(error.extendedResultCode.rawValue))")
        } else {
            self.init(.engine, "\(place): \(type(of: error))")
        }
    }

    /// The fault for the engine's last result code.
    init(
        sqlite database: OpaquePointer, _ code: Int32, in place: String, isCommitting: Bool = false
    ) {
        let sentence = sqlite3_errmsg(database).map { String(cString: $0) } ?? "no message"
        let extended = sqlite3_extended_errcode(database)
        self.init(
            Self.code(of: ResultCode(rawValue: code & 0xff), isCommitting),
            "\(place): \(sentence) (SQLite \(extended))")
    }

    private static func code(of result: ResultCode, _ isCommitting: Bool) -> Code {
        switch result {
        case .SQLITE_FULL: .full
        case .SQLITE_READONLY: .readOnly
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_INTERRUPT: .busy
        case .SQLITE_CONSTRAINT: .constraint
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT: .unreadable
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH: .unavailable
        // A commit record may be on the disk although the sync failed.
        case .SQLITE_IOERR: isCommitting ? .outcomeUnknown : .unavailable
        default: .engine
        }
    }
}
