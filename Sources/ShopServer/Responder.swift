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
        var waitsByItself = false
        if case .device(.transactions(_, _, let seconds)) = destination.route {
            waitsByItself = seconds > 0
        }
        return MatchedRequest(
            pattern: destination.pattern, facts: ["realm": destination.shownRealm],
            waitsByItself: waitsByItself, isOpen: destination.route.isOpen
        ) { try await dispatch(found, call) }
    }

    func explain(_ error: any Error) -> ErrorAnswer { ErrorResponse.answer(error) }

    private func dispatch(_ destination: Destination, _ call: Call) async throws -> Response {
        switch destination.route {
        case .health: return try PublicDoor(store: store, call: call).health()
        case .ready: return try await PublicDoor(store: store, call: call).ready()
        case .metrics:
            _ = try await admit(call, to: .metrics)
            return try await MetricsDoor(store: store, call: call).text()
        case .rootCertificate:
            return try await PublicDoor(store: store, call: call).rootCertificate()
        case .askStatus:
            return try await CertificateDoor(store: store, call: call).askStatus()
        case .status(let base64):
            return try await CertificateDoor(store: store, call: call).status(base64)
        case .device(let route):
            return try await DeviceDoor(realm: try await realm(destination), call: call)
                .answer(route)
        case .transactionInfo, .requestTestNotification, .testNotification, .notificationHistory:
            return try await AppleDoor(realm: try await realmOfKey(destination, call), call: call)
                .answer(destination.route)
        case .readClock, .moveClock, .readSettings:
            let known = try await admit(call, to: .control)
            return try await ControlDoor(realm: try await realm(destination), call: known)
                .answer(destination.route)
        case .catalogue(let route):
            let known = try await admit(call, to: .operator)
            return try await CatalogueDoor(realm: try await realm(destination), call: known)
                .answer(route)
        default:
            let known = try await admit(call, to: .operator)
            return try await operate(destination, OperatorDoor(store: store, call: known))
        }
    }

    private func operate(
        _ destination: Destination, _ door: OperatorDoor
    ) async throws -> Response {
        switch destination.route {
        case .listCertificates, .rotateCertificates, .revokeCertificate:
            return try await CertificateDoor(store: store, call: door.call)
                .operate(destination.route)
        case .listRealms: return try await door.realms()
        case .createRealm: return try await door.createRealm()
        case .deleteRealm(let name): return try await door.deleteRealm(name)
        case .resetRealm(let name): return try await door.resetRealm(name)
        case .listOperators: return try await door.operators()
        case .createOperator: return try await door.createOperator()
        case .revokeOperator(let name): return try await door.revokeOperator(name)
        case .listStoreAudit: return try await door.storeAudit()
        default: break
        }
        let realm = try await realm(destination)
        switch destination.route {
        case .listTransactions: return try await door.transactions(realm)
        case .listCustomers: return try await door.customers(realm)
        case .createCustomer: return try await door.createCustomer(realm)
        case .changeCustomer(let id): return try await door.changeCustomer(id, realm)
        case .clearHistory(let id): return try await door.clearHistory(id, realm)
        case .listSessions: return try await door.sessions(realm)
        case .endSession(let id): return try await door.endSession(id, realm)
        case .endSessions(let customer):
            return try await door.endSessions(ofCustomer: customer, realm)
        case .listPurchases: return try await door.purchases(realm)
        case .answerApproval(let id): return try await door.answerApproval(id, realm)
        case .listServerKeys: return try await door.serverKeys(realm)
        case .createServerKey: return try await door.createServerKey(realm)
        case .listApps: return try await door.apps(realm)
        case .setNotificationURL(let bundleID):
            return try await door.setNotificationURL(bundleID, realm)
        case .sendNotification: return try await door.sendNotification(realm)
        case .notificationStatus(let token):
            return try await door.notificationStatus(token, realm)
        default: throw RequestMistake.unknownPath
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

extension Route {
    /// Whether load balancers use the address, without a proxy in between.
    fileprivate var isOpen: Bool { [.health, .ready].contains(self) }
}

extension Destination {
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
