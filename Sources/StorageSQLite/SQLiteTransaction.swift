// SPDX-License-Identifier: Apache-2.0

import Storage

/// An open transaction, as a closure uses it: on the connection's own thread,
/// and not after the closure has returned.
///
/// After a fault, every further statement fails with the same fault, and the
/// transaction cannot commit. PostgreSQL behaves the same way. SQLite alone
/// would be more forgiving, and no code may depend on that.
final class SQLiteTransaction: Writing {
    private let connection: SQLiteConnection
    private let observer: (any StorageObserver)?
    private let isReading: Bool
    private var failure: StorageFault?

    init(
        _ connection: SQLiteConnection, _ observer: (any StorageObserver)?, isReading: Bool = false
    ) {
        self.connection = connection
        self.observer = observer
        self.isReading = isReading
    }

    func query(_ statement: PortStatement, _ values: [SQLValue]) throws -> [PortRow] {
        try running(statement, values) { try $0.rows(values) }
    }

    func execute(_ statement: PortStatement, _ values: [SQLValue]) throws {
        try running(statement, values) { try $0.run(values) }
    }

    /// Throws the error of an earlier statement, even if the closure caught it.
    func checkSound() throws {
        if let failure { throw failure }
    }

    /// Makes all later statements fail.
    func end() {
        failure = failure ?? StorageFault(.unavailable, "this transaction has ended")
    }

    private func running<Answer>(
        _ statement: PortStatement, _ values: [SQLValue],
        _ work: (PreparedStatement) throws -> Answer
    ) throws -> Answer {
        try checkSound()
        do {
            try statement.check(values)
            try connection.checkTime()
            observer?.didRun(statement)
            let prepared = try connection.prepare(statement)
            guard prepared.isReading || !isReading else {
                throw StorageFault(
                    .readOnly, "\(statement.name) writes, and this closure may only read")
            }
            return try work(prepared)
        } catch {
            let fault = StorageFault(error, in: statement.name)
            failure = fault
            throw fault
        }
    }
}
