// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import Storage

/// Opens the writing connection, to a file in WAL mode or to memory.
func connectWriter(file: String?, options: SQLiteOptions) throws -> DatabaseQueue {
    var configuration = configuration(options)
    guard let file else {
        let database = try DatabaseQueue(configuration: configuration)
        try limit(database, options)
        return database
    }
    try PrivateFiles.makeFile(file)
    configuration.journalMode = .wal
    let database = try DatabaseQueue(
        path: address(of: file, vfs: options.vfs), configuration: configuration)
    do {
        try proveDurable(database, file)
        // Switching to WAL removed a rollback journal, and SQLite does not sync
        // the folder for that at FULL. If the journal came back, it would undo
        // the database.
        try PrivateFiles.syncFolder(PrivateFiles.folder(of: file))
        try limit(database, options)
        try database.writeWithoutTransaction { connection in
            try connection.execute(sql: "PRAGMA journal_size_limit = \(options.logBytesKept)")
        }
    } catch {
        try? database.close()
        throw error
    }
    return database
}

/// Opens a connection that only reads a file.
func connectReader(file: String, options: SQLiteOptions) throws -> DatabaseQueue {
    var configuration = configuration(options)
    configuration.readonly = true
    return try DatabaseQueue(
        path: address(of: file, vfs: options.vfs), configuration: configuration)
}

/// Opens the connection that moves a file's log into the database.
func connectMover(file: String, options: SQLiteOptions) throws -> DatabaseQueue {
    let database = try DatabaseQueue(
        path: address(of: file, vfs: options.vfs), configuration: configuration(options))
    do { try proveDurable(database, file) } catch {
        try? database.close()
        throw error
    }
    return database
}

private func configuration(_ options: SQLiteOptions) -> Configuration {
    var configuration = Configuration()
    configuration.busyMode = .timeout(options.busySeconds)
    configuration.label = "shopkeeper.sqlite"
    // GRDB is asked by SQLite about each column of each statement that is prepared, to know
    // what an observer would observe. There is none.
    configuration.prepareDatabase { sqlite3_set_authorizer($0.sqliteConnection, nil, nil) }
    return configuration
}

/// Sets synchronous=FULL after opening, and reads it back. GRDB leaves a writer
/// in WAL mode at NORMAL, which may lose the last commits in a power failure.
private func proveDurable(_ database: DatabaseQueue, _ file: String) throws {
    try database.writeWithoutTransaction { connection in
        try connection.execute(sql: "PRAGMA synchronous = FULL")
        let level = try Int.fetchOne(connection, sql: "PRAGMA synchronous")
        let journal = try String.fetchOne(connection, sql: "PRAGMA journal_mode")
        guard level == 2, journal == "wal" else {
            throw StorageFault(
                .unavailable,
                "\(file): SQLite answers synchronous=\(level ?? -1) and "
                    + "journal_mode=\(journal ?? "none"); a sale needs 2 and wal")
        }
    }
}

private func limit(_ database: DatabaseQueue, _ options: SQLiteOptions) throws {
    guard let pages = options.pagesMax else { return }
    try database.writeWithoutTransaction { connection in
        try connection.execute(sql: "PRAGMA max_page_count = \(pages)")
    }
}

/// A plain path, or a URI if a file system is named. A path is never read as a
/// URI.
private func address(of file: String, vfs: String?) -> String {
    guard let vfs else { return file.hasPrefix("file:") ? "./" + file : file }
    return "file:" + percentEncoded(file) + "?vfs=" + percentEncoded(vfs)
}

private func percentEncoded(_ text: String) -> String {
    let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/".utf8)
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in text.utf8 {
        if plain.contains(byte) {
            encoded.append(byte)
        } else {
            encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    return String(decoding: encoded, as: UTF8.self)
}
