// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Hummingbird
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
        let facts = MatchedRequest.facts(realm: realm)
        guard route.waits else {
            return MatchedRequest(pattern: route.pattern, facts: facts) {
                switch try await answer(route, call, realm) {
                case .reply(let reply): response(reply, to: route)
                case .wait: preconditionFailure("This call does not ask to wait.")
                }
            }
        }
        return MatchedRequest(
            pattern: route.pattern, facts: facts,
            waiting: {
                switch try await answer(route, call, realm) {
                case .reply(let reply): .response(response(reply, to: route))
                case .wait(let wait): .later(WaitingDevice(wait, self, route))
                }
            })
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

    private func answer(
        _ route: DeviceRoute, _ call: Call, _ realm: String?
    ) async throws -> DeviceAnswer {
        let realm = try await store.realm(named: realm ?? Store.defaultRealm)
        // The body of a call without a token is not read.
        if route.needsSession, call.bearer == nil { throw DeviceRoom.tokenMissing }
        let asked = DeviceCall(
            route: route, body: route.hasBody ? try await call.jsonBytes() : nil,
            token: call.bearer, requestID: call.requestID,
            ifNoneMatch: call.request.headers[.ifNoneMatch])
        return try await realm.devices.answer(asked, call.context, by: HTTPCarrier(call: call))
    }

    fileprivate func response(_ reply: DeviceReply, to route: DeviceRoute) -> Response {
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

    /// Cancels `body` when the client disconnects. Throws `clientGone`.
    func whileAwaited<Answer: Sendable>(
        _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        try await call.whileConnected(body)
    }
}

/// A device's call that waits for news.
private final class WaitingDevice: WaitingAnswer {
    private let wait: DeviceWait
    private let door: DeviceDoor
    private let route: DeviceRoute

    init(_ wait: DeviceWait, _ door: DeviceDoor, _ route: DeviceRoute) {
        (self.wait, self.door, self.route) = (wait, door, route)
    }

    var customer: String { wait.customer }
    var duration: Duration { wait.duration }
    func untilChanged() async throws { try await wait.untilNews() }
    func end() { wait.end() }
    func answer() async throws -> Response { door.response(try await wait.reply(), to: route) }
    func close() { wait.close() }
}
