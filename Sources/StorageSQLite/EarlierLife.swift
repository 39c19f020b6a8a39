// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Storage

/// Makes durable what an earlier process left in a file's log.
///
/// That process may have been killed after it wrote a commit and before it
/// synced it, or its sync may have failed. Every reader finds such a commit in
/// the log, but a power failure can still remove it. So nothing is answered
/// from the log before this has succeeded.
enum EarlierLife {
    /// Moves the log into the database, syncs both, and empties the log. All of
    /// the log is written again. This also covers pages that the kernel failed
    /// to write and has considered clean since then.
    ///
    /// Throws ``StorageFault`` if that fails. The file must then not be used.
    static func settle(_ database: Database, _ file: String) throws {
        guard let handle = database.sqliteConnection else {
            throw StorageFault(.unavailable, "this connection was closed")
        }
        let code = sqlite3_wal_checkpoint_v2(
            handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        switch code {
        case SQLITE_OK: return
        case SQLITE_BUSY, SQLITE_LOCKED: try commit(database, file)
        default:
            throw refusal(file, StorageFault(sqlite: handle, code, in: "moving the log"))
        }
    }

    /// For the case that another process reads the file, so that the log cannot
    /// be emptied: makes a commit at its end, which syncs the whole log.
    private static func commit(_ database: Database, _ file: String) throws {
        do {
            try database.inTransaction(.immediate) {
                try database.execute(sql: "UPDATE schema_migrations SET name = name")
                return .commit
            }
        } catch {
            throw refusal(file, StorageFault(error, in: "syncing the log"))
        }
    }

    private static func refusal(_ file: String, _ cause: StorageFault) -> StorageFault {
        StorageFault(
            cause.code == .full ? .full : .unavailable,
            "\(file): what an earlier process left in the log cannot be made durable "
                + "(\(cause.reason)); check the disk, then start again")
    }
}
