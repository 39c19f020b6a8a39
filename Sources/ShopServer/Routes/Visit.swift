// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Hummingbird
import Shop
import StoreWire

/// A call of a route, whose key was checked.
struct Visit: Sendable {
    /// What a route is about.
    enum Subject: Sendable {
        case store
        case realm(Realm)
        case merchant(Merchant)
        /// The realm that the address names, if it names one.
        case address(realm: String?)
    }

    let store: Store
    let call: Call
    /// The variable parts of the path.
    let parts: PathParts
    let subject: Subject

    /// The realm. Only for routes that are about one.
    var realm: Realm {
        guard case .realm(let realm) = subject else {
            preconditionFailure("a route that is about no realm asks for it")
        }
        return realm
    }

    /// The merchant that asks. Only for routes of merchants' servers.
    var merchant: Merchant {
        guard case .merchant(let merchant) = subject else {
            preconditionFailure("a route that no merchant asks for wants the merchant")
        }
        return merchant
    }

    /// Answers the verification of a receipt. Only for routes about receipts.
    func verifyReceipt() async throws -> Response {
        guard case .address(let realm) = subject else {
            preconditionFailure("a route about no receipt verifies one")
        }
        let bytes = try await store.verifyReceipt(
            realm: realm, at: call.approach.host.flatMap(OfficialHosts.environment),
            bytes: call.header("Content-Length").flatMap { Int($0) }, context
        ) { try await call.bodyBytes(max: Store.receiptRequestBytesMax) }
        return .bytes(bytes, type: "application/json")
    }

    var context: Shop.RequestContext { call.context }

    /// Decodes the body as JSON.
    func body<Value: Decodable>(_ type: Value.Type = Value.self) async throws -> Value {
        try await call.body(type)
    }

    /// Returns the first value of a query parameter, percent-decoded.
    func query(_ name: String) -> String? { call.query(name) }

    /// Returns all values of a query parameter, percent-decoded.
    func queries(_ name: String) -> [String] { call.queries(name) }

    /// The most entries in an answer.
    func limit() throws -> Int {
        guard let text = query("limit") else { return ListPage.max }
        guard let limit = Int(text), (1...ListPage.max).contains(limit) else {
            throw RequestMistake.queryInvalid(
                field: "limit", rule: "1 to \(ListPage.max)",
                remedy: "leave it out for the maximum")
        }
        return limit
    }
}

extension Response {
    /// 201 with what was made.
    static func created(_ value: some Encodable) throws -> Response {
        try .json(value, status: 201)
    }

    /// 204.
    static var done: Response { .empty(status: 204) }
}
