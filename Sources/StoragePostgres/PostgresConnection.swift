// SPDX-License-Identifier: Apache-2.0

import CPostgres
import Foundation
import Storage

/// One connection, in libpq's pipeline mode. Statements that were sent without
/// waiting are answered in order at the next wait. A connection is used only on
/// the thread that created it.
final class PostgresConnection {
    /// The most bytes that are sent before answers are read. With more, client
    /// and server could each wait for the other to read.
    private static let unreadBytesMax = 32 * 1024

    private enum Expected {
        case prepared(Prepared.Key)
        /// `isKept`: whether its answer is kept until ``keptAnswers()``.
        case statement(String, isKept: Bool = false)
        case sync
    }

    let handle: OpaquePointer
    /// The control that other threads have over this connection.
    let grip: PostgresGrip
    let notices = PostgresNotices()
    private let observer: (any StorageObserver)?
    private var prepared = Prepared()
    private var expected: [Expected] = []
    private var unreadBytes = 0
    private var kept: [Answer] = []
    /// The schema in which names are resolved, and the one that was set when
    /// the open transaction began.
    private(set) var schema: String?
    private var schemaBefore: String?
    /// What the last transaction saw, if it was asked for that.
    private(set) var sight: PostgresSight?
    /// Whether the connection can no longer be used.
    private var isGone = false

    /// Connects, and sets the session's limits. `mustBeDurable`: reject a
    /// server that may lose what it has acknowledged.
    init(_ conninfo: String, _ options: PostgresOptions, mustBeDurable: Bool = false) throws {
        observer = options.observer
        let keywords: [(String, String)] = [
            ("application_name", "shopkeeper"), ("connect_timeout", "10"),
            ("tcp_user_timeout", "\(options.unacknowledgedMilliseconds)"), ("keepalives", "1"),
            ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
            ("client_encoding", "UTF8"),
            // Later keywords take precedence, so the caller's come last.
            ("dbname", conninfo),
        ]
        handle = try Self.connect(keywords)
        grip = PostgresGrip(handle)
        notices.listen(to: handle)
        // If this throws, `deinit` closes the connection.
        try command(
            """
            SET statement_timeout = \(options.statementMilliseconds);
            SET lock_timeout = \(options.lockMilliseconds);
            SET idle_in_transaction_session_timeout = \(options.idleInTransactionMilliseconds);
            SET default_transaction_isolation = 'read committed';
            SET client_min_messages = 'warning'
            """)
        guard PQserverVersion(handle) >= 130_000 else {
            throw StorageFault(
                .unreadable,
                "the server is PostgreSQL \(PQserverVersion(handle) / 10_000); 13 or newer "
                    + "is needed")
        }
        if mustBeDurable { try proveDurable() }
    }

    deinit { PQfinish(handle) }

    private static func connect(_ keywords: [(String, String)]) throws -> OpaquePointer {
        let names = keywords.map { strdup($0.0) }
        let values = keywords.map { strdup($0.1) }
        defer { for text in names + values { free(text) } }
        var nameList = names.map { UnsafePointer($0) } + [nil]
        var valueList = values.map { UnsafePointer($0) } + [nil]
        guard let handle = PQconnectdbParams(&nameList, &valueList, 1) else {
            throw ConnectionLost(message: "no memory for a connection")
        }
        guard PQstatus(handle) == CONNECTION_OK else {
            let message = sentence(PQerrorMessage(handle))
            PQfinish(handle)
            throw ConnectionLost(message: message)
        }
        return handle
    }

    /// libpq's own message, as one line.
    static func sentence(_ text: UnsafePointer<CChar>?) -> String {
        guard let text else { return "no reason given" }
        return String(cString: text).split(whereSeparator: \.isNewline).joined(separator: "; ")
    }

    /// Marks the connection as unusable, because answers that it owes were not
    /// read.
    func giveUp() { isGone = true }

    var isLost: Bool { isGone || PQstatus(handle) != CONNECTION_OK }

    var lost: ConnectionLost { ConnectionLost(message: Self.sentence(PQerrorMessage(handle))) }

    // MARK: Outside pipelines

    /// Runs statements in one request and returns the first column of the last
    /// one, as text.
    @discardableResult
    func command(_ sql: String) throws -> [String?] {
        guard let result = PQexec(handle, sql) else { throw lost }
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK: return [String(cString: PQcmdStatus(result))]
        case PGRES_TUPLES_OK:
            return (0..<PQntuples(result)).map { row in
                PQgetisnull(result, row, 0) == 1
                    ? nil : String(cString: PQgetvalue(result, row, 0))
            }
        default:
            if isLost { throw lost }
            let error = ServerError(result)
            isGone = error.isFatal
            if isGone { throw ConnectionLost(message: error.message) }
            throw error
        }
    }

    /// Throws a fault if the server may lose what it has acknowledged.
    func proveDurable() throws {
        let off = try command(
            """
            SELECT name FROM pg_settings
            WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off'
            UNION ALL SELECT 'waiting for the standby' WHERE
                current_setting('synchronous_commit') = 'local'
                AND current_setting('synchronous_standby_names') <> ''
            """
        ).compactMap(\.self)
        guard off.isEmpty else {
            throw StorageFault(
                .unavailable,
                "the server has \(off.joined(separator: " and ")) switched off, so that a power "
                    + "failure loses sales; switch it on to sell for money")
        }
    }

    // MARK: Pipelines

    /// Begins a transaction whose names are resolved in `schema`. This does not
    /// wait: BEGIN and the search path are sent with the first statement.
    ///
    /// Statements are prepared separately for each schema, so that switching
    /// schemas does not cause new plans.
    func begin(_ sql: String, in schema: String) throws {
        guard PQenterPipelineMode(handle) == 1 else { throw lost }
        kept = []
        schemaBefore = self.schema
        try send(sql)
        if self.schema != schema {
            try send("SET search_path = \"\(schema)\"")
            self.schema = schema
        }
    }

    /// Restores the search path of before, as the server does when a
    /// transaction is rolled back.
    func wasRolledBack() { schema = schemaBefore }

    /// Sends a statement. Its answer is read later. `isKept`: see ``keptAnswers()``.
    func send(
        _ sql: String, named name: String, _ values: [SQLValue], types: [SQLType],
        isKept: Bool = false
    ) throws {
        let key = Prepared.Key(schema: schema ?? "", sql: sql)
        let server = try prepared.name(key) { server in
            var oids = types.map(PostgresType.oid)
            guard PQsendPrepare(handle, server, sql, Int32(types.count), &oids) == 1 else {
                throw lost
            }
            expected.append(.prepared(key))
        }
        try sendPrepared(server, values)
        expected.append(.statement(name, isKept: isKept))
        if unreadBytes > Self.unreadBytesMax { try drain() }
    }

    /// Sends a statement that controls the transaction: BEGIN, COMMIT,
    /// ROLLBACK.
    func send(_ sql: String) throws {
        guard PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1) == 1 else { throw lost }
        expected.append(.statement(sql))
    }

    /// Asks what the transaction sees, without waiting for the answer.
    func sendSight() throws {
        sight = nil
        let question = PostgresSight.question
        try send(question.sql, named: question.name, [], types: [])
    }

    func forgetSight() { sight = nil }

    /// Waits for all outstanding answers and returns that of the last
    /// statement.
    func answers() throws -> Answer {
        guard PQpipelineSync(handle) == 1 else { throw lost }
        expected.append(.sync)
        observer?.didRoundTrip()
        return try read()
    }

    private func drain() throws { _ = try answers() }

    /// Waits for all outstanding answers and returns those of the statements that were
    /// sent to be kept, in order.
    func keptAnswers() throws -> [Answer] {
        try drain()
        return takeKept()
    }

    /// Returns the answers to be kept that were read since the last time.
    func takeKept() -> [Answer] {
        defer { kept = [] }
        return kept
    }

    /// The result of a statement.
    struct Answer {
        var rows: [Row] = []
        /// The command's tag: `COMMIT`, `UPDATE 1`.
        var tag = ""
    }

    private func read() throws -> Answer {
        defer { unreadBytes = 0 }
        var answer = Answer()
        var failure: (any Error)?
        var ends = 0
        while !expected.isEmpty {
            guard let result = PQgetResult(handle) else {
                // This ends the results of one statement. If no result follows
                // it, none will ever come.
                ends += 1
                guard !isLost, ends < 4 else {
                    isGone = true
                    throw (failure as? ConnectionLost) ?? lost
                }
                continue
            }
            ends = 0
            defer { PQclear(result) }
            let status = PQresultStatus(result)
            if case .sync? = expected.first, status == PGRES_PIPELINE_SYNC {
                expected.removeFirst()
                continue
            }
            do {
                answer = try take(result, status)
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return answer
    }

    private func take(_ result: OpaquePointer, _ status: ExecStatusType) throws -> Answer {
        guard let next = expected.first else { return Answer() }
        expected.removeFirst()
        switch (status, next) {
        case (PGRES_COMMAND_OK, .prepared(let key)):
            prepared.confirm(key)
            return Answer()
        case (PGRES_COMMAND_OK, _): return Answer(tag: String(cString: PQcmdStatus(result)))
        case (PGRES_TUPLES_OK, .statement(let name, let isKept)):
            let rows = try rows(result, name)
            if name == PostgresSight.question.name {
                sight = try rows.first.map(PostgresSight.init)
            }
            let answer = Answer(rows: rows, tag: String(cString: PQcmdStatus(result)))
            if isKept { kept.append(answer) }
            return answer
        case (PGRES_PIPELINE_ABORTED, _): throw PipelineAborted()
        default:
            if isLost {
                expected = []
                throw lost
            }
            let error = ServerError(result)
            if error.isFatal {
                isGone = true
                throw ConnectionLost(message: error.message)
            }
            if case .sync = next { throw ConnectionLost(message: error.message) }
            guard case .statement(let name, _) = next else { throw error.fault(in: "preparing") }
            throw StatementFailed(error: error, name: name)
        }
    }

    private func rows(_ result: OpaquePointer, _ statement: String) throws -> [Row] {
        let count = Int(PQnfields(result))
        let names = (0..<count).map { String(cString: PQfname(result, Int32($0))) }
        let types = (0..<count).map { PQftype(result, Int32($0)) }
        for (name, type) in zip(names, types) where !PostgresType.known.contains(type) {
            throw PostgresType.unknown(type, column: name, statement: statement)
        }
        let columns = Dictionary(
            zip(names, names.indices), uniquingKeysWith: { first, _ in first })
        return try (0..<PQntuples(result)).map { row in
            let values = try (0..<count).map { index -> SQLValue in
                let column = Int32(index)
                if PQgetisnull(result, row, column) == 1 { return .null }
                let bytes = UnsafeRawBufferPointer(
                    start: PQgetvalue(result, row, column),
                    count: Int(PQgetlength(result, row, column)))
                return try SQLValue(
                    bytes, type: types[index], column: names[index], statement: statement)
            }
            return Row(columns: columns, values: values)
        }
    }

    private func sendPrepared(_ server: String, _ values: [SQLValue]) throws {
        let encoded = values.map(\.bytes)
        unreadBytes += encoded.reduce(64) { $0 + ($1?.count ?? 0) }
        let storage = Array(encoded.compactMap(\.self).joined()) + [0]
        let result = storage.withUnsafeBytes { buffer -> Int32 in
            let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            var offset = 0
            let pointers: [UnsafePointer<CChar>?] = encoded.map { bytes in
                guard let bytes, let base else { return nil }
                defer { offset += bytes.count }
                return base + offset
            }
            let lengths = encoded.map { Int32($0?.count ?? 0) }
            let formats = [Int32](repeating: 1, count: encoded.count)
            return PQsendQueryPrepared(
                handle, server, Int32(encoded.count), pointers, lengths, formats, 1)
        }
        guard result == 1 else { throw lost }
    }

    /// Leaves pipeline mode. All answers must have been read before.
    func end() {
        PQexitPipelineMode(handle)
    }
}

/// The server rejected a statement.
struct StatementFailed: Error {
    let error: ServerError
    let name: String
}

/// A statement was not run because an earlier one in the pipeline failed.
struct PipelineAborted: Error {}

/// The statements that are prepared on a connection, with their names.
private struct Prepared {
    struct Key: Hashable {
        let schema: String
        let sql: String
    }

    private var names: [Key: String] = [:]
    private var confirmed: Set<Key> = []
    private var count = 0

    /// Returns the statement's name, after calling `prepare` if it is not
    /// prepared yet.
    mutating func name(_ key: Key, _ prepare: (String) throws -> Void) rethrows -> String {
        if let name = names[key] { return name }
        count += 1
        let name = "s\(count)"
        try prepare(name)
        names[key] = name
        return name
    }

    var number: Int { names.count }

    mutating func confirm(_ key: Key) { confirmed.insert(key) }

    /// Forgets the statements that the server did not prepare after all.
    mutating func forgetUnconfirmed() { names = names.filter { confirmed.contains($0.key) } }
}

extension PostgresConnection {
    /// To be called after an error: statements that were sent after the failed
    /// one were neither run nor prepared.
    func forgetUnconfirmed() { prepared.forgetUnconfirmed() }

    /// Whether the connection should be replaced: it has too many prepared
    /// statements, or an open transaction that belongs to no caller.
    var isWornOut: Bool {
        prepared.number > PostgresOptions.preparedMax
            || PQtransactionStatus(handle) != PQTRANS_IDLE
    }
}
