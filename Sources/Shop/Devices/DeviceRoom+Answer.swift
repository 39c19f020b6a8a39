// SPDX-License-Identifier: Apache-2.0

import Commerce
public import StoreWire
import StrictJSON
import WireErrors

extension DeviceRoom {
    /// Answers a call of the device protocol, or returns the wait before the
    /// answer. Throws ``Refusal``, `StorageFault`, the errors of JSON that
    /// breaks its rules, and what the carrier throws.
    public func answer(
        _ call: DeviceCall, _ context: RequestContext, by carrier: some DeviceCarrier
    ) async throws -> DeviceAnswer {
        if case .transactions(let since, let after, let seconds) = call.route {
            let page = Page(since: since, after: after, waitSeconds: seconds)
            return try await transactions(page, call, context)
        }
        return .reply(try await answerAtOnce(call, context, carrier))
    }

    private func answerAtOnce(
        _ call: DeviceCall, _ context: RequestContext, _ carrier: some DeviceCarrier
    ) async throws -> DeviceReply {
        if let reply = try await simulatedFault(call.route) { return reply }
        switch call.route {
        case .signIn: return try await signIn(try Self.body(call), context, carrier)
        case .products:
            let session = try await session(call)
            return try Self.ok(
                try await realm.catalogue.products(try Self.body(call), session, context))
        case .offer:
            let session = try await session(call)
            return try Self.ok(try await realm.purchases.quote(try Self.body(call), session))
        case .purchase(let id):
            // The commit verifies the session, so that a recently read one is
            // sufficient here.
            let session = try await realm.customers.recentSession(token: try Self.token(call))
            return try Self.ok(
                try await realm.purchases.purchase(id, try Self.body(call), session, context))
        case .transactions: preconditionFailure("This call may wait.")
        case .finish(let id):
            let session = try await session(call)
            return try Self.ok(try await realm.purchases.finish(id, session, context))
        case .requestRefund(let id):
            let session = try await session(call)
            return try Self.ok(
                try await realm.refunds.request(id, try Self.body(call), session, context))
        case .content(let id):
            let session = try await session(call)
            return try Self.ok(try await realm.content.link(id, try Self.body(call), session))
        case .priceIncreases:
            return try Self.ok(
                try await realm.subscriptions.priceIncreases(try await session(call)))
        case .consent(let id):
            let session = try await session(call)
            return try Self.ok(
                try await realm.subscriptions.consent(
                    to: try Self.body(call), for: id, session, context))
        case .promotionOverrides:
            return try Self.ok(try await realm.promotions.overrides(try await session(call)))
        case .orderPromotions:
            let session = try await session(call)
            return try Self.ok(try await realm.promotions.order(try Self.body(call), session))
        case .claimIntents:
            return try Self.ok(try await realm.promotions.claim(try await session(call)))
        case .decideIntent(let id):
            let session = try await session(call)
            return try Self.ok(
                try await realm.promotions.decide(id, try Self.body(call), session))
        case .showPromotion:
            let session = try await session(call)
            return try Self.ok(try await realm.promotions.show(try Self.body(call), session))
        case .reviewRequest:
            let session = try await session(call)
            return try Self.ok(
                try await realm.reviews.ask(try Self.body(call), session, context))
        case .review:
            let session = try await session(call)
            return try Self.ok(
                try await realm.reviews.write(try Self.body(call), session, context))
        case .receipt:
            let session = try await session(call)
            switch try await realm.purchases.receipt(
                ifNoneMatch: call.ifNoneMatch, session, context)
            {
            case .unchanged(let etag): return DeviceReply(status: 304, etag: etag)
            case .receipt(let bytes, let etag):
                return DeviceReply(status: 200, body: bytes, etag: etag)
            }
        }
    }

    /// What a sandbox that fails on purpose answers before a payment is made. Payments
    /// themselves are refused, so that their outcome is known.
    private func simulatedFault(_ route: DeviceRoute) async throws -> DeviceReply? {
        switch route {
        case .signIn, .products, .offer: break
        default: return nil
        }
        guard case .devices(status: let status)? = try await realm.faults.current(.devices) else {
            return nil
        }
        return DeviceReply(status: status)
    }

    /// Converts what ``answer(_:_:by:)`` throws to the reply that a device receives.
    public static func reply(to error: any Error) -> DeviceReply {
        let reply =
            (error as? Refusal).map(ErrorReply.init) ?? ErrorReply(error, words: .store)
        return DeviceReply(
            status: reply.status, body: (try? StrictJSON.encode(reply.error)) ?? [])
    }

    /// The refusal of a call without a token that needs one.
    public static let tokenMissing = Refusal(
        .unauthorised, code: "tokenMissing", "A session is wanted here.",
        field: "Authorization", rule: "`Bearer` and the token that signing in gave",
        remedy: "sign in first")

    /// Hashes a password only while the client still waits for the answer.
    private func signIn(
        _ request: SignInRequest, _ context: RequestContext, _ carrier: some DeviceCarrier
    ) async throws -> DeviceReply {
        var response = try await signedIn(request, context, carrier)
        if try await realm.promotions.hasIntents(response, deviceUUID: request.deviceUUID) {
            response.hasPurchaseIntents = true
        }
        return try Self.ok(response)
    }

    private func signedIn(
        _ request: SignInRequest, _ context: RequestContext, _ carrier: some DeviceCarrier
    ) async throws -> SignInResponse {
        guard request.password != nil else {
            return try await realm.customers.signIn(request, context)
        }
        let realm = realm
        return try await carrier.whileAwaited {
            try await realm.customers.signIn(request, context)
        }
    }

    private struct Page: Sendable {
        let since: Int64
        let after: Int64?
        let waitSeconds: Int
    }

    /// Replies if there is news. Otherwise the reply waits until there is some,
    /// if the call asks for it.
    private func transactions(
        _ page: Page, _ call: DeviceCall, _ context: RequestContext
    ) async throws -> DeviceAnswer {
        let session = try await session(call)
        let news = page.waitSeconds > 0 ? realm.purchases.news(since: page.since, session) : nil
        do {
            let first = try await realm.purchases.transactions(
                since: page.since, after: page.after, session, context)
            guard let news, !first.hasNews else {
                news?.close()
                return .reply(try Self.ok(first))
            }
            return .wait(
                DeviceWait(
                    customer: "\(realm.description.id)/\(session.customer)",
                    duration: .seconds(page.waitSeconds), news: news
                ) {
                    try await reply(page, call, context)
                })
        } catch {
            news?.close()
            throw error
        }
    }

    /// Reads the session again, because it may have ended and the clock may have
    /// moved.
    private func reply(
        _ page: Page, _ call: DeviceCall, _ context: RequestContext
    ) async throws -> DeviceReply {
        let session = try await session(call)
        return try Self.ok(
            try await realm.purchases.transactions(
                since: page.since, after: page.after, session, context))
    }

    private func session(_ call: DeviceCall) async throws -> DeviceSession {
        try await realm.customers.session(token: try Self.token(call))
    }

    private static func token(_ call: DeviceCall) throws -> String {
        guard let token = call.token else { throw tokenMissing }
        return token
    }

    private static func body<Body: Decodable>(_ call: DeviceCall) throws -> Body {
        try StrictJSON.decode(Body.self, from: call.body ?? [])
    }

    private static func ok(_ answer: some Encodable) throws -> DeviceReply {
        DeviceReply(status: 200, body: try StrictJSON.encode(answer))
    }
}
