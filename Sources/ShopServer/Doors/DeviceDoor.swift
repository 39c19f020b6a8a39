// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Hummingbird
import ServiceLifecycle
import Shop
import StoreWire

/// Carries the device protocol over HTTP: `Shop` answers its calls
/// (``Shop/DeviceRoom``).
struct DeviceDoor: RequestHandler {
    let store: Store
    let realms: RealmRoute

    func match(_ call: Call) throws -> MatchedRequest? {
        let address = RealmPath(call.request.uri.path)
        guard address.path.hasPrefix(DeviceRoute.prefix),
            let route = try route(call, address.path)
        else { return nil }
        let realm = realms.realm(of: call, address)
        return MatchedRequest(
            pattern: route.pattern, facts: MatchedRequest.facts(realm: realm),
            waitsByItself: route.waits
        ) {
            let known = try await store.realm(named: realm ?? Store.defaultRealm)
            return try await answer(route, call, known)
        }
    }

    func explain(_ error: any Error) -> ErrorAnswer? { ErrorResponse.answer(error) }

    /// Nil for paths that are not in the protocol.
    private func route(_ call: Call, _ path: String) throws -> DeviceRoute? {
        do {
            return try DeviceRoute(
                method: call.request.method.rawValue, path: path, query: call.request.uri.query)
        } catch {
            switch error {
            case .unknownPath: return nil
            case .wrongMethod(let allowed): throw RequestMistake.wrongMethod(allowed: [allowed])
            case .badQuery(let field, let rule):
                throw RequestMistake.queryInvalid(
                    field: field, rule: rule, remedy: "send one, or leave it out for 0")
            }
        }
    }

    private func answer(_ route: DeviceRoute, _ call: Call, _ realm: Realm) async throws -> Response
    {
        // The body of a call without a token is not read.
        if route.needsSession, call.bearer == nil { throw DeviceRoom.tokenMissing }
        let asked = DeviceCall(
            route: route, body: route.hasBody ? try await call.jsonBytes() : nil,
            token: call.bearer, requestID: call.requestID,
            ifNoneMatch: call.request.headers[.ifNoneMatch])
        let reply = try await realm.devices.answer(
            asked, call.context, by: HTTPCarrier(call: call))
        return response(reply, to: route)
    }

    private func response(_ reply: DeviceReply, to route: DeviceRoute) -> Response {
        var response: Response
        if reply.status == 304 {
            response = .empty(status: reply.status)
        } else {
            response = .bytes(
                reply.body,
                type: route == .receipt ? "application/octet-stream" : "application/json",
                status: reply.status)
        }
        if let etag = reply.etag {
            response.headers[.eTag] = etag
            response.headers[.cacheControl] = "private, no-cache"
        }
        return response
    }
}

extension DeviceRoute {
    /// Whether the answer comes when there is news, or the asked time is over.
    fileprivate var waits: Bool {
        if case .transactions(_, _, let seconds) = self { seconds > 0 } else { false }
    }
}

/// One HTTP request as the carrier of a device's call.
private struct HTTPCarrier: DeviceCarrier {
    let call: Call

    func sleep(_ duration: Duration) async throws {
        let pause = call.ports.sleep
        try await cancelWhenGracefulShutdown { try await pause(duration) }
    }

    /// Cancels `body` when the client disconnects. Throws `clientGone`.
    func whileAwaited<Answer: Sendable>(
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

    func inWaitingPlace<Answer: Sendable>(
        of customer: String, _ body: () async throws -> Answer
    ) async throws -> Answer {
        try await call.waiting(ofCustomer: customer, body)
    }
}
