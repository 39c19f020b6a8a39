// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPShell
import Hummingbird
import Shop

/// One route: its method, its pattern, who may use it, and what answers it.
struct Route: Sendable {
    /// The holders of which key may use a route, and what its answer is about.
    enum Access: Hashable, Sendable {
        /// Everyone, also load balancers without the proxy in between.
        case probe
        /// Everyone. About the whole store.
        case everyone
        /// Holders of a door's key. About the whole store, so that it has no realm's
        /// prefix.
        case store(Door)
        /// Holders of a door's key. About one realm.
        case realm(Door)
        /// Merchants' servers, with a token that a server key has signed.
        case merchant
    }

    let method: String
    /// `{}` stands for any part that is not empty.
    let pattern: String
    let access: Access
    let answer: @Sendable (Visit) async throws -> Response
    private let wanted: [Substring]

    init(
        _ method: String, _ pattern: String, _ access: Access,
        _ answer: @escaping @Sendable (Visit) async throws -> Response
    ) {
        self.method = method
        self.pattern = pattern
        self.access = access
        self.answer = answer
        wanted = pattern.split(separator: "/", omittingEmptySubsequences: false)
    }

    /// Whether it has no realm's prefix.
    var isStoreWide: Bool {
        switch access {
        case .probe, .everyone, .store: true
        case .realm, .merchant: false
        }
    }

    /// Every route but those of the device protocol, which devices and the store
    /// share (``StoreWire/DeviceRoute``).
    static let all =
        open + certificates + merchants + store + customers + apps + products + control

    /// The routes that a path of so many parts can match.
    static func all(ofParts count: Int) -> [Route] { byCount[count] ?? [] }

    private static let byCount = Dictionary(grouping: all) { $0.wanted.count }

    /// The variable parts if the path matches the pattern; else nil.
    func match(_ parts: [Substring]) -> [String]? {
        guard wanted.count == parts.count else { return nil }
        var open: [String] = []
        for (want, part) in zip(wanted, parts) {
            if want == "{}" {
                guard !part.isEmpty else { return nil }
                open.append(String(part))
            } else if want != part {
                return nil
            }
        }
        return open
    }
}

/// A call of a route, whose key was checked.
struct Visit: Sendable {
    let store: Store
    let call: Call
    /// The variable parts of the path, as they came.
    let parts: [String]
    /// What the route is about, where it is about one realm.
    private let known: Realm?

    init(store: Store, call: Call, parts: [String], realm: Realm?) {
        self.store = store
        self.call = call
        self.parts = parts
        known = realm
    }

    /// The realm. Only for routes that are about one.
    var realm: Realm {
        guard let known else { preconditionFailure("a route that is about no realm asks for it") }
        return known
    }

    var context: Shop.RequestContext { call.context }

    /// A variable part of the path. It may contain `%xx` for characters that an
    /// address cannot contain.
    subscript(part: Int) -> String { parts[part].removingPercentEncoding ?? parts[part] }

    /// Decodes the body as JSON.
    func body<Value: Decodable>(_ type: Value.Type = Value.self) async throws -> Value {
        try await call.body(type)
    }

    /// Returns the first value of a query parameter, percent-decoded.
    func query(_ name: String) -> String? { call.query(name) }

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
