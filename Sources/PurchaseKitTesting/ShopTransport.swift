// SPDX-License-Identifier: Apache-2.0

import Foundation
public import PurchaseKit
public import Shop
import SignedData
import Storage
import StoreWire
import StrictJSON

/// Connects a device to a realm in the same process. Each call is a call of the
/// use case that the server would call, with the answers that a server would
/// give.
public struct ShopTransport: StoreTransport {
    private let realm: @Sendable () async throws(TransportFailure) -> Realm
    private let sleep: @Sendable (Duration) async throws -> Void

    /// `realm` is called for each call. `sleep` limits how long a request for
    /// transactions waits.
    public init(
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        realm: @escaping @Sendable () async throws(TransportFailure) -> Realm
    ) {
        self.realm = realm
        self.sleep = sleep
    }

    public func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply {
        let realm = try await realm()
        do {
            return try await answer(call, realm)
        } catch is CancellationError {
            throw .unknown(URLError(.cancelled))
        } catch {
            return Self.reply(to: error)
        }
    }

    private func answer(_ call: DeviceCall, _ realm: Realm) async throws -> DeviceReply {
        let context = RequestContext(requestID: call.requestID)
        if case .signIn = call.route {
            return try Self.ok(try await realm.customers.signIn(try Self.body(call), context))
        }
        guard let token = call.token else { throw Self.tokenMissing }
        let session = try await realm.customers.session(token: token)
        switch call.route {
        case .signIn, .products:
            return try Self.ok(
                try await realm.catalogue.products(try Self.body(call), session, context))
        case .purchase(let id):
            return try Self.ok(
                try await realm.purchases.purchase(id, try Self.body(call), session, context))
        case .transactions(let since, let after, let waitSeconds):
            return try Self.ok(
                try await transactions(since, after, waitSeconds, realm, token, context))
        case .finish(let id):
            return try Self.ok(try await realm.purchases.finish(id, session, context))
        case .receipt:
            switch try await realm.purchases.receipt(
                ifNoneMatch: call.ifNoneMatch, session, context)
            {
            case .unchanged(let etag): return DeviceReply(status: 304, etag: etag)
            case .receipt(let bytes, let etag):
                return DeviceReply(status: 200, body: bytes, etag: etag)
            }
        }
    }

    private func transactions(
        _ since: Int64, _ after: Int64?, _ waitSeconds: Int, _ realm: Realm, _ token: String,
        _ context: RequestContext
    ) async throws -> TransactionsResponse {
        let session = try await realm.customers.session(token: token)
        let page = try await realm.purchases.transactions(
            since: since, after: after, session, context)
        guard waitSeconds > 0, !page.hasNews else { return page }
        let sleep = sleep
        try await realm.purchases.changes(since: since, session) {
            try await sleep(.seconds(waitSeconds))
        }
        let later = try await realm.customers.session(token: token)
        return try await realm.purchases.transactions(since: since, after: after, later, context)
    }

    private static func body<Body: Decodable>(_ call: DeviceCall) throws -> Body {
        try StrictJSON.decode(Body.self, from: call.body ?? [])
    }

    private static func ok(_ answer: some Encodable) throws -> DeviceReply {
        DeviceReply(status: 200, body: try StrictJSON.encode(answer))
    }

    // MARK: Unsuccessful answers

    private static let tokenMissing = Refusal(
        .unauthorised, code: "tokenMissing", "A session is wanted here.",
        field: "Authorization", rule: "`Bearer` and the token that signing in gave",
        remedy: "sign in first")

    private static func reply(to error: any Error) -> DeviceReply {
        switch error {
        case let refusal as Refusal: reply(status(refusal.kind), refusal.error)
        case let fault as StorageFault:
            reply(503, WireError(code: "storageUnavailable", message: fault.description))
        case let failure as JSONFailure:
            reply(400, WireError(code: "notJSON", message: failure.description, field: "body"))
        case is DecodingError:
            reply(400, WireError(code: "fieldInvalid", message: "\(error)", field: "body"))
        default: reply(500, WireError(code: "internal", message: "\(error)"))
        }
    }

    private static func reply(_ status: Int, _ error: WireError) -> DeviceReply {
        DeviceReply(status: status, body: (try? StrictJSON.encode(error)) ?? [])
    }

    private static func status(_ kind: Refusal.Kind) -> Int {
        switch kind {
        case .badRequest: 400
        case .unauthorised: 401
        case .forbidden: 403
        case .notFound: 404
        case .conflict: 409
        case .tooLarge: 413
        case .tooMany: 429
        case .notImplemented: 501
        }
    }
}
