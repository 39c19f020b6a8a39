// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Hummingbird
import ServiceLifecycle
import Shop
import StoreWire

/// The door for devices, authenticated by the tokens from signing in.
struct DeviceDoor: Sendable {
    let realm: Realm
    let call: Call

    func answer(_ route: DeviceRoute) async throws -> Response {
        if route == .signIn {
            return try await signIn()
        }
        if case .purchase(let id) = route { return try await purchase(id) }
        let session = try await session()
        switch route {
        case .signIn, .purchase, .products:
            let request = try await call.body(ProductsRequest.self)
            return try .json(try await realm.catalogue.products(request, session, call.context))
        case .transactions(let since, let after, let waitSeconds):
            return try await transactions(since, after, waitSeconds: waitSeconds, session)
        case .finish(let id):
            return try .json(try await realm.purchases.finish(id, session, call.context))
        case .receipt:
            return try await receipt(session)
        }
    }

    /// Hashes the password only while the client still waits for the answer.
    private func signIn() async throws -> Response {
        let request = try await call.body(SignInRequest.self)
        guard request.password != nil else {
            return try .json(try await realm.customers.signIn(request, call.context))
        }
        let (realm, context) = (realm, call.context)
        let answer = try await untilClientGoes {
            try await realm.customers.signIn(request, context)
        }
        return try .json(answer)
    }

    private func token() throws -> String {
        guard let token = call.bearer else { throw RequestMistake.tokenMissing }
        return token
    }

    private func session() async throws -> DeviceSession {
        try await realm.customers.session(token: try token())
    }

    /// The commit verifies the session, so that a recently read one is
    /// sufficient here.
    private func purchase(_ id: String) async throws -> Response {
        let session = try await realm.customers.recentSession(token: try token())
        let request = try await call.body(PurchaseRequest.self)
        return try .json(try await realm.purchases.purchase(id, request, session, call.context))
    }

    /// Answers at once if there is news. Otherwise it waits until there is
    /// some, the time is over, or the server stops.
    private func transactions(
        _ since: Int64, _ after: Int64?, waitSeconds: Int, _ session: DeviceSession
    ) async throws -> Response {
        let page = try await realm.purchases.transactions(
            since: since, after: after, session, call.context)
        guard waitSeconds > 0, !page.hasNews else {
            return try .json(page)
        }
        return try await call.waiting(ofCustomer: "\(realm.description.id)/\(session.customer)") {
            try await wait(.seconds(waitSeconds), since: since, session)
            // The session is read again, because it may have ended and the
            // clock may have moved.
            let later = try await self.session()
            let news = try await realm.purchases.transactions(
                since: since, after: after, later, call.context)
            return try .json(news)
        }
    }

    private func wait(
        _ time: Duration, since: Int64, _ session: DeviceSession
    ) async throws {
        let (realm, sleep) = (realm, call.ports.sleep)
        try await untilClientGoes {
            try await realm.purchases.changes(since: since, session) {
                try await cancelWhenGracefulShutdown { try await sleep(time) }
            }
        }
    }

    /// Cancels `body` when the client disconnects. Throws `clientGone`.
    private func untilClientGoes<Answer: Sendable>(
        _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        call.end.note()
        do {
            return try await call.request.body.consumeWithCancellationOnInboundClose { _ in
                try await body()
            }
        } catch is CancellationError {
            throw RequestMistake.clientGone
        }
    }

    private func receipt(_ session: DeviceSession) async throws -> Response {
        let known = call.request.headers[.ifNoneMatch]
        var response: Response
        let etag: String
        switch try await realm.purchases.receipt(ifNoneMatch: known, session, call.context) {
        case .unchanged(let unchanged):
            (response, etag) = (.empty(status: 304), unchanged)
        case .receipt(let bytes, let fresh):
            (response, etag) = (.bytes(bytes, type: "application/octet-stream"), fresh)
        }
        response.headers[.eTag] = etag
        response.headers[.cacheControl] = "private, no-cache"
        return response
    }
}
