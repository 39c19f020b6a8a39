// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Storage

/// Customers on the store's own pages: they sign in with a browser, see what they bought,
/// and change what is theirs.
public struct VisitorRoom: Sendable {
    let realm: Realm
}

extension Realm {
    /// Customers on the store's own pages.
    public var visitors: VisitorRoom { VisitorRoom(realm: self) }
}

/// A customer who is signed in with a browser.
public struct Visitor: Sendable {
    public let name: String
    /// The customer's own storefront. Nil for one who has that of the app.
    public let storefront: Storefront?
    let id: CustomerID

    /// How many seconds of wall time a browser's session lasts.
    public static let sessionSeconds = 7 * 24 * 3600

    /// The number of the customer.
    public var customerID: String { id.description }
}

extension VisitorRoom {
    /// The most sessions of one customer. Beyond that, the oldest are removed.
    static let sessionsMax: Int64 = 50

    /// Signs a customer in. Returns the token for the browser, which is not stored.
    /// Refusals, in order: `textInvalid`, `textTooLong`, `customerMissing`,
    /// `tooManyAttempts`, `signInRefused` (after the same time for an unknown name and a
    /// wrong password).
    public func signIn(
        name: String, password: String, _ context: RequestContext
    ) async throws -> String {
        try Edge.text(name, "name")
        try Edge.text(password, "password", bytesMax: Passwords.bytesMax)
        // No browser has attempts of its own: its cookie ends with the session.
        let customer = try await realm.customers.identify(
            name, password.isEmpty ? nil : password, from: "", context)
        let token = SessionToken(customer: customer.id, randomness: realm.ports.randomness)
        let now = realm.ports.wall.now
        let key = SQLValue.integer(customer.id.value)
        let session = RealmSchema.webSessions.row([
            "customer_id": key, "token_hash": .blob(token.hash),
            "made_at": .integer(now.milliseconds),
            "expires_at": .integer(now.adding(seconds: Int64(Visitor.sessionSeconds)).milliseconds),
        ])
        try await realm.bookkeeping(of: customer.id) { writing in
            try writing.execute(
                Statement.WebSessions.deleteOld,
                [key, .integer(now.milliseconds), .integer(Self.sessionsMax - 1)])
            try writing.execute(Statement.WebSessions.insert, session)
        }
        realm.ports.log(
            .info, "signed in with a browser", context, ["customer": customer.id.description])
        return token.text
    }

    /// Returns who has a token. Nil if the session is over, or the text is no token.
    public func visitor(token text: String) async throws -> Visitor? {
        guard let token = SessionToken(text) else { return nil }
        let now = realm.ports.wall.now
        let row = try await realm.read(of: token.customer) { reading in
            try reading.first(
                Statement.WebSessions.find,
                [
                    .integer(token.customer.value), .blob(token.hash),
                    .integer(now.milliseconds),
                ])
        }
        guard let row else { return nil }
        return Visitor(
            name: try row.text("name"),
            storefront: try row.optionalText("storefront").flatMap(Storefront.named),
            id: token.customer)
    }

    /// Ends a browser's session. A repeated call has no effect.
    public func signOut(token text: String, _ context: RequestContext) async throws {
        guard let token = SessionToken(text) else { return }
        try await realm.bookkeeping(of: token.customer) { writing in
            try writing.execute(
                Statement.WebSessions.delete, [.integer(token.customer.value), .blob(token.hash)])
        }
    }
}
