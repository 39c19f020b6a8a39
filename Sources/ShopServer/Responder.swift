// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import Hummingbird
import Shop
import StoreWire

/// Routes a request to its door, and checks its key.
struct Responder: RequestHandler {
    let store: Store
    let route: RealmRoute

    func match(_ call: Call) throws -> MatchedRequest {
        var destination = try Destination(
            method: call.request.method.rawValue, path: call.request.uri.path,
            query: call.request.uri.query)
        destination.realm = route.realm(
            prefix: destination.realm, host: call.approach.host, listener: call.approach.listener)
        let found = destination
        return MatchedRequest(
            pattern: destination.pattern, facts: ["realm": destination.shownRealm],
            waitsByItself: destination.waitsByItself, isOpen: destination.isOpen
        ) { try await answer(found, call) }
    }

    func explain(_ error: any Error) -> ErrorAnswer { ErrorResponse.answer(error) }

    private func answer(_ destination: Destination, _ call: Call) async throws -> Response {
        switch destination.target {
        case .device(let route):
            return try await DeviceDoor(realm: try await realm(destination), call: call)
                .answer(route)
        case .route(let route, let parts):
            let (known, realm) = try await admit(call, to: route, destination)
            return try await route.answer(
                Visit(store: store, call: known, parts: parts, realm: realm))
        }
    }

    /// Checks the key that a route needs. Returns the call under the key's name, and the
    /// realm that the route is about.
    private func admit(
        _ call: Call, to route: Route, _ destination: Destination
    ) async throws -> (Call, Realm?) {
        switch route.access {
        case .probe, .everyone: return (call, nil)
        case .store(let door): return (try await admit(call, to: door), nil)
        case .realm(let door):
            let known = try await admit(call, to: door)
            let realm = try await realm(destination)
            guard door != .control || realm.description.environment == Realm.sandbox else {
                throw RequestMistake.sandboxOnly
            }
            return (known, realm)
        case .merchant: return (call, try await realmOfKey(destination, call))
        }
    }

    private func realm(_ destination: Destination) async throws -> Realm {
        try await store.realm(named: destination.realm ?? Store.defaultRealm)
    }

    /// Returns the realm that owns the server key in the request, if the
    /// address names none.
    private func realmOfKey(_ destination: Destination, _ call: Call) async throws -> Realm {
        guard destination.realm == nil,
            let owner = try await store.realmName(ofBearer: call.bearer)
        else { return try await realm(destination) }
        return try await store.realm(named: owner)
    }

    /// Checks the key for the door. The call continues under the key's name.
    private func admit(_ call: Call, to door: Door) async throws -> Call {
        guard let key = call.bearer else { throw RequestMistake.keyMissing(door) }
        switch try await store.knock(key, at: door, call.context) {
        case .admitted(let name):
            var call = call
            call.actor = name
            return call
        case .otherDoor: throw RequestMistake.keyOfAnotherDoor(door)
        case .refused: throw RequestMistake.keyWrong(door)
        }
    }
}

extension Call {
    /// The facts about the call that the store receives.
    var context: Shop.RequestContext {
        Shop.RequestContext(
            requestID: requestID, actor: actor ?? Store.unnamedOperator,
            client: approach.client?.description)
    }
}

extension Destination {
    /// Whether load balancers use the address, without a proxy in between.
    fileprivate var isOpen: Bool {
        if case .route(let route, _) = target { return route.access == .probe }
        return false
    }

    /// Whether the answer comes when there is news, or the asked time is over.
    fileprivate var waitsByItself: Bool {
        if case .device(.transactions(_, _, let seconds)) = target { return seconds > 0 }
        return false
    }

    /// The realm's name, if the text in its place can be one. Any other text
    /// may be a secret that got into an address by mistake.
    fileprivate var shownRealm: String {
        guard let realm else { return Store.defaultRealm }
        let isName =
            realm.utf8.count <= 40
            && realm.utf8.allSatisfy {
                (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-")
            }
        return isName ? realm : "unknown"
    }
}
