// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Foundation
import Storage
public import StoreWire

/// Sessions after sign-in: verifies, lists and ends them.
extension CustomerRoom {
    /// The precision of `lastUsedDate`: a session's use is recorded again only
    /// after this time, and not with every request.
    static let sessionTouchSeconds: Int64 = 3600

    /// Returns the session of a token. Refusals: `sessionUnknown`, also if it
    /// has expired by wall time; `sessionEnded`.
    public func session(token: String) async throws -> DeviceSession {
        guard let token = SessionToken(token) else { throw Self.sessionUnknown }
        let key: [SQLValue] = [.integer(token.customer.value), .blob(token.hash)]
        let now = realm.ports.wall.now
        let found = try await realm.find(of: token.customer, Statement.Sessions.find, key)
        guard let row = found, try row.integer("expires_at") > now.milliseconds
        else { throw Self.sessionUnknown }
        guard try row.optionalInteger("ended_at") == nil else { throw Self.sessionEnded }
        let session = try DeviceSession(row, token.customer, token.hash)
        realm.recentSessions.remember(session, at: now)
        let used = Timestamp(milliseconds: try row.integer("used_at"))
        let isOld = used.adding(seconds: Self.sessionTouchSeconds) <= now
        if isOld || used > now.adding(seconds: Self.sessionTouchSeconds) {
            // This is information for operators. If it cannot be written, the
            // request continues.
            try? await realm.bookkeeping(of: token.customer) { writing in
                try writing.execute(
                    Statement.Sessions.touch, key + [.integer(now.milliseconds)])
            }
        }
        return session
    }

    /// Returns the session of a token, possibly from memory if it was verified
    /// recently. Use it only for a use case whose commit verifies the session
    /// again. Refusals: those of ``session(token:)``.
    public func recentSession(token text: String) async throws -> DeviceSession {
        if let token = SessionToken(text),
            let session = realm.recentSessions.session(token, at: realm.ports.wall.now),
            session.clock.catalogueRevision == realm.shelfRevision
        {
            return session
        }
        return try await session(token: text)
    }

    /// Returns the session as the database has it now. If it has ended, returns
    /// it unchanged.
    func asOfNow(_ session: DeviceSession) async throws -> DeviceSession {
        let key: [SQLValue] = [.integer(session.customer.value), .blob(session.tokenHash)]
        let row = try await realm.find(of: session.customer, Statement.Sessions.find, key)
        return try row.map { try DeviceSession($0, session.customer, session.tokenHash) }
            ?? session
    }

    /// Verifies a session by columns that a commit has read behind the
    /// customer's line, so that it cannot be ended at the same time.
    static func prove(_ row: Row, at wall: Timestamp) throws {
        guard let expires = try row.optionalInteger("session_expires_at"),
            expires > wall.milliseconds
        else { throw sessionUnknown }
        guard try row.optionalInteger("session_ended_at") == nil else { throw sessionEnded }
    }

    /// Whether a session is valid, read in the transaction that reads or writes
    /// for it.
    static func isValid(
        _ session: DeviceSession, at wall: Timestamp, _ reading: any Reading
    ) throws -> Bool {
        try reading.first(
            Statement.Sessions.isValid,
            [
                .integer(session.customer.value), .blob(session.tokenHash),
                .integer(wall.milliseconds),
            ]) != nil
    }

    /// Returns a page of sessions that have not expired, including ended ones,
    /// ordered by customer. Refusal: `cursorInvalid`.
    public func listSessions(
        customer: String? = nil, after: String? = nil, limit: Int = ListPage.max
    ) async throws -> SessionList {
        let start = try after.map { text in
            guard let place = SessionPlace(text) else { throw ListPage.cursorInvalid("after") }
            return place
        }
        let owner = try ListPage.cursor(customer, "customer")
        let values: [SQLValue] = [
            .integer(start?.customer ?? 0), .blob(start?.last ?? []), .optional(owner),
            .integer(ListPage.limit(limit)),
        ]
        let listed = try await realm.page(
            Int(ListPage.limit(limit)), of: owner, by: { $0.isBefore($1) }
        ) { try $0.query(Statement.Sessions.page, values).map(ListedSession.init(row:)) }
        let now = realm.ports.wall.now
        let sessions = listed.map(\.summary)
        let isFull = Int64(sessions.count) == ListPage.limit(limit)
        return SessionList(
            sessions: sessions.filter { $0.expiresDate > now },
            next: isFull ? sessions.last?.sessionId : nil)
    }

    /// Ends a session. A waiting request of it is answered at once. A repeated
    /// call has no effect. Refusal: `sessionNotFound`.
    public func endSession(
        _ sessionID: String, _ context: RequestContext
    ) async throws -> SessionsEnded {
        guard let place = SessionPlace(sessionID) else { throw Self.sessionNotFound }
        return try await endSessions(of: place.customer, place.first, place.last, context) {
            let key: [SQLValue] = [
                .integer(place.customer), .blob(place.first), .blob(place.last),
            ]
            return try $0.first(Statement.Sessions.between, key) == nil
                ? Self.sessionNotFound : nil
        }
    }

    /// Parses a customer's number. Refusal: `customerNotFound`.
    public static func customerID(_ text: String) throws -> CustomerID {
        guard let number = Edge.number(text) else { throw customerNotFound }
        return CustomerID(number)
    }

    /// Ends every session of a customer. Refusal: `customerNotFound`.
    public func endSessions(
        ofCustomer customerID: String, _ context: RequestContext
    ) async throws -> SessionsEnded {
        guard let number = Edge.number(customerID) else { throw Self.customerNotFound }
        return try await endSessions(
            of: number, SessionPlace.lowest, SessionPlace.highest, context
        ) { _ in nil }
    }

    private func endSessions(
        of customer: Int64, _ first: [UInt8], _ last: [UInt8], _ context: RequestContext,
        refusing: @escaping @Sendable (any Reading) throws -> Refusal?
    ) async throws -> SessionsEnded {
        let who = context.actor
        let ended = try await realm.line(of: CustomerID(customer), else: Self.customerNotFound) {
            line in
            if let refusal = try refusing(line.writing) { throw refusal }
            let ended = try Self.endSessions(
                of: customer, first, last, at: line.wall, line.writing)
            try AuditEntry(
                who: who, wall: line.wall, deed: "session.end", subject: "\(customer)",
                before: ["sessions": "\(ended)"], after: ["sessions": "0"]
            ).write(line.writing)
            return ended
        }
        realm.wake(CustomerID(customer))
        realm.ports.log(
            .info, "sessions ended", context, ["customer": "\(customer)", "count": "\(ended)"])
        return SessionsEnded(ended: ended)
    }

    /// Ends sessions behind the customer's line. Returns how many. If all of
    /// them end, those of browsers end too, which are not counted.
    static func endSessions(
        of customer: Int64, _ first: [UInt8] = SessionPlace.lowest,
        _ last: [UInt8] = SessionPlace.highest, at wall: Timestamp, _ writing: any Writing
    ) throws -> Int {
        if first == SessionPlace.lowest {
            try writing.execute(Statement.WebSessions.deleteAll, [.integer(customer)])
        }
        return try writing.query(
            Statement.Sessions.end,
            [.integer(customer), .blob(first), .blob(last), .integer(wall.milliseconds)]
        ).count
    }

    static var sessionUnknown: Refusal {
        Refusal(
            .unauthorised, code: "sessionUnknown", "The session is not known or has expired.",
            field: "Authorization", rule: "`Bearer` and the token that signing in gave",
            remedy: "sign in again")
    }

    static var sessionEnded: Refusal {
        Refusal(
            .unauthorised, code: "sessionEnded", "The session was ended.",
            field: "Authorization",
            rule: "a session lasts until an operator ends it or the password is changed",
            remedy: "sign in again, with the password as it is now")
    }

    private static var sessionNotFound: Refusal {
        Refusal(
            .notFound, code: "sessionNotFound", "There is no such session.", field: "sessionId",
            rule: "an id from the list of sessions", remedy: "list the sessions")
    }
}

/// The place of a session in the list: its customer's number and the first
/// bytes of its token's hash, which are of no use for signing in. `CUSTOMER-16
/// digits`.
private struct SessionPlace {
    static let shownBytes = 8
    static let lowest = [UInt8](repeating: 0, count: SessionToken.hashBytes)
    static let highest = [UInt8](repeating: 0xFF, count: SessionToken.hashBytes)

    let customer: Int64
    private let shown: [UInt8]

    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let customer = Edge.number(String(parts[0])),
            let shown = bytes(hexadecimal: parts[1]), shown.count == Self.shownBytes
        else { return nil }
        self.customer = customer
        self.shown = shown
    }

    /// The range of the hashes that begin with these bytes.
    var first: [UInt8] { shown + Self.lowest.dropFirst(shown.count) }
    var last: [UInt8] { shown + Self.highest.dropFirst(shown.count) }

    static func text(customer: Int64, hash: [UInt8]) -> String {
        "\(customer)-\(hexadecimal(Array(hash.prefix(shownBytes))))"
    }
}

/// A session with its place in the list.
private struct ListedSession: Sendable {
    let customer: Int64
    let hash: [UInt8]
    let summary: SessionSummary

    init(row: Row) throws {
        customer = try row.integer("customer_id")
        hash = try row.blob("token_hash")
        summary = try SessionSummary(row: row)
    }

    func isBefore(_ other: ListedSession) -> Bool {
        customer == other.customer
            ? hash.lexicographicallyPrecedes(other.hash) : customer < other.customer
    }
}

extension SessionSummary {
    fileprivate init(row: Row) throws {
        let customer = try row.integer("customer_id")
        let instant = { Timestamp(milliseconds: $0) }
        self.init(
            sessionId: SessionPlace.text(
                customer: customer, hash: try row.blob("token_hash")),
            customerId: String(customer), bundleId: try row.text("bundle_id"),
            deviceUUID: try row.text("device_uuid"), deviceName: try row.optionalText("name"),
            appVersion: try row.text("app_version"),
            createdDate: instant(try row.integer("made_at")),
            lastUsedDate: instant(try row.integer("used_at")),
            expiresDate: instant(try row.integer("expires_at")),
            endedDate: try row.optionalInteger("ended_at").map(instant))
    }
}
