// SPDX-License-Identifier: Apache-2.0

import CPostgres
import Storage

/// An open transaction, as a closure uses it: on the connection's own thread,
/// and not after the closure has returned.
///
/// A write without a result is sent without waiting. A query and the commit
/// wait for everything that was sent before.
final class PostgresTransaction: Writing {
    private static let time = Statement(
        "database.time",
        "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now")

    private let connection: PostgresConnection
    private let observer: (any StorageObserver)?
    private let maySend: Bool
    private var failure: (any Error)?

    /// `maySend`: whether statements may be sent without waiting for their
    /// answers.
    init(_ connection: PostgresConnection, _ observer: (any StorageObserver)?, maySend: Bool) {
        self.connection = connection
        self.observer = observer
        self.maySend = maySend
    }

    func query(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
        try running {
            try self.send(statement, statement.sql, values)
            return try self.connection.answers().rows
        }
    }

    func queryAll(
        _ queries: [(statement: Statement, values: [SQLValue])]
    ) throws -> [[Row]] {
        guard maySend, queries.count > 1 else {
            return try queries.map { try query($0.statement, $0.values) }
        }
        return try running {
            for (statement, values) in queries {
                try self.send(statement, statement.sql, values, isKept: true)
            }
            return try self.connection.keptAnswers().map(\.rows)
        }
    }

    /// Sends a query whose answer is read later, with ``PostgresConnection/takeKept()``.
    func ask(_ statement: Statement, _ values: [SQLValue]) throws {
        try running { try self.send(statement, statement.sql, values, isKept: true) }
    }

    func execute(_ statement: Statement, _ values: [SQLValue]) throws {
        try running {
            try self.send(statement, statement.sql, values)
            if !self.maySend { _ = try self.connection.answers() }
        }
    }

    func claim(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
        try running {
            try self.send(statement, statement.sql + "\nFOR UPDATE SKIP LOCKED", values)
            return try self.connection.answers().rows
        }
    }

    func insertMany(_ statement: Statement, _ rows: [[SQLValue]]) throws {
        for row in rows { try execute(statement, row) }
    }

    func databaseTime() throws -> Int64 {
        guard let row = try first(Self.time) else {
            throw StorageFault(.malformedRow, "the server did not return its time")
        }
        return try row.integer("now")
    }

    /// Throws the error of an earlier statement, even if the closure caught it.
    func checkSound() throws {
        if let failure { throw failure }
    }

    /// Makes all later statements fail.
    func end() {
        failure = failure ?? StorageFault(.unavailable, "this transaction has ended")
    }

    private func send(
        _ statement: Statement, _ sql: String, _ values: [SQLValue], isKept: Bool = false
    ) throws {
        try statement.check(values)
        observer?.didRun(statement)
        try connection.send(
            sql, named: statement.name, values, types: statement.parameters, isKept: isKept)
    }

    private func running<Answer>(_ work: () throws -> Answer) throws -> Answer {
        try checkSound()
        do { return try work() } catch {
            failure = error
            throw error
        }
    }
}

/// Runs transactions on one connection, and repeats them if that may help.
struct PostgresRunner {
    let connection: PostgresConnection
    let options: PostgresOptions
    let schema: String
    /// Whether a commit counts only if its tag is `COMMIT`. Tests switch this
    /// off to show that the check is needed.
    var checksCommitTag = true
    /// Nil if no caller is answered from what is read.
    var proof: PostgresProof.Turn?

    private static let beginReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    func read<Answer>(_ body: (any Reading) throws -> Answer) throws -> Answer {
        try proven {
            try repeated {
                try transaction(Self.beginReading, options.observer) {
                    try body($0)
                } ending: {
                    try endReading()
                }
            }
        }
    }

    /// Reads with one statement, for which it waits once.
    func find(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
        try proven {
            try repeated {
                try transaction(Self.beginReading, options.observer) {
                    try $0.ask(statement, values)
                } ending: {
                    try endReading()
                }
                return connection.takeKept().first?.rows ?? []
            }
        }
    }

    private func endReading() throws {
        if proof != nil { try connection.sendSight() }
        try connection.send("COMMIT")
        _ = try connection.answers()
    }

    func write<Answer>(_ body: (any Writing) throws -> Answer) throws -> Answer {
        try proven {
            try repeated {
                if options.runsWritesTwice {
                    _ = try transaction("BEGIN", nil, body) { try rollBack() }
                }
                let answer = try transaction("BEGIN", options.observer, body) { try commit() }
                options.observer?.didCommit()
                return answer
            }
        }
    }

    /// Runs a transaction again if it could not be serialised, because it has
    /// changed nothing. The pool replaces a lost connection.
    private func repeated<Answer>(_ work: () throws -> Answer) throws -> Answer {
        for _ in 1..<PostgresOptions.attemptsMax {
            do { return try work() } catch let failed as StatementFailed
                where failed.error.isRepeatable
            { continue } catch let error as ServerError where error.isRepeatable { continue }
        }
        return try work()
    }

    /// Returns the answer, or throws the closure's error, once everything that
    /// it is based on is durable. A commit of its own is enough, because it
    /// makes everything before it durable too.
    private func proven<Answer>(_ work: () throws -> Answer) throws -> Answer {
        connection.forgetSight()
        let outcome = Result { try work() }
        if case .failure(let error) = outcome, connection.isLost || error is ConnectionLost {
            throw error
        }
        if let proof, let snapshot = connection.sight?.snapshot {
            try proof.wait(
                for: snapshot, until: .after(milliseconds: options.callMilliseconds),
                check: connection.grip.check, commit: makeMark)
        }
        return try outcome.get()
    }

    /// Makes a commit after which everything committed before is durable. If
    /// the connection is lost, the pool runs the whole call again.
    private func makeMark() throws {
        do {
            try transaction("BEGIN", nil) {
                try $0.execute(PostgresSight.mark, [])
            } ending: {
                try commit()
            }
        } catch let lost as ConnectionLost {
            throw ConnectionLost(message: lost.message, moment: .confirming)
        }
    }

    private func transaction<Answer>(
        _ begin: String, _ observer: (any StorageObserver)?,
        _ body: (PostgresTransaction) throws -> Answer, ending: () throws -> Void
    ) throws -> Answer {
        try connection.grip.beginTransaction()
        do {
            try connection.begin(begin, in: schema)
            let transaction = PostgresTransaction(connection, observer, maySend: true)
            defer { transaction.end() }
            let answer = try body(transaction)
            try transaction.checkSound()
            try ending()
            connection.end()
            return answer
        } catch {
            guard !connection.isLost, !(error is ConnectionLost) else {
                connection.giveUp()
                throw error
            }
            let cause = abandon(after: error)
            throw cause
        }
    }

    /// Reads the outstanding answers and rolls back. Returns the first error.
    private func abandon(after error: any Error) -> any Error {
        var cause = error
        do { _ = try connection.answers() } catch {
            if cause is PipelineAborted || error is ConnectionLost { cause = error }
        }
        connection.forgetUnconfirmed()
        connection.wasRolledBack()
        do { try rollBack() } catch { cause = error is ConnectionLost ? error : cause }
        connection.end()
        return cause
    }

    /// Rolls back, and asks what the transaction saw. After a failure this can
    /// be asked only after the rollback.
    private func rollBack() throws {
        let isSound = PQtransactionStatus(connection.handle) == PQTRANS_INTRANS
        if proof != nil, isSound { try connection.sendSight() }
        try connection.send("ROLLBACK")
        if proof != nil, !isSound { try connection.sendSight() }
        _ = try connection.answers()
        connection.wasRolledBack()
    }

    /// Commits. The commit counts only if the server's tag is COMMIT: if an
    /// error was swallowed before, the server answers COMMIT with ROLLBACK and
    /// reports success.
    ///
    /// Once COMMIT is sent, only a rejection by the server means that nothing
    /// was written. A lost connection may have been lost after the commit.
    ///
    /// A warning beside COMMIT means that the server stopped waiting for its
    /// standby. The commit exists here, and is lost if the standby takes over.
    private func commit() throws {
        try connection.grip.beginCommit()
        connection.notices.forget()
        // A failed transaction accepts no statement except the one that ends
        // it.
        if proof != nil, PQtransactionStatus(connection.handle) != PQTRANS_INERROR {
            try connection.sendSight()
        }
        try connection.send("COMMIT")
        let tag: String
        do { tag = try connection.answers().tag } catch let failed as StatementFailed
            where failed.error.isOfTheStatement
        {
            throw failed
        } catch {
            throw ConnectionLost(
                message: (error as? ConnectionLost)?.message ?? "\(error)",
                moment: .committing)
        }
        guard tag == "COMMIT" || !checksCommitTag else {
            throw StorageFault(.engine, "the server rolled a transaction back: \(tag)")
        }
        if let warning = connection.notices.warnings.first {
            throw ConnectionLost(message: warning, moment: .committing)
        }
        guard let sight = connection.sight, sight.own != nil else { return }
        // What was seen before a durable commit is durable too.
        proof?.add(sight)
        connection.forgetSight()
    }
}
