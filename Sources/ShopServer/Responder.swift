// SPDX-License-Identifier: Apache-2.0

import Commerce
import Hummingbird
import Logging
import Shop
import StoreWire

/// Turns one request into one answer and one log line.
struct Responder: HTTPResponder {
    typealias Context = BasicRequestContext

    static let requestIDName = "X-Request-Id"
    private static let requestIDBytesMax = 128

    let store: Store
    let configuration: ShopServerConfiguration
    let ports: ShopServerPorts
    let logger: Logger

    func respond(to request: Request, context: Context) async throws -> Response {
        let started = ports.monotonic()
        let id = requestID(request)
        let call = Call(
            request: request, context: Shop.RequestContext(requestID: id),
            configuration: configuration, ports: ports)
        var line = RequestLine(method: request.method.rawValue, requestID: id)
        var response: Response
        do {
            let destination = try Destination(
                method: request.method.rawValue, path: request.uri.path,
                query: request.uri.query)
            line.pattern = destination.pattern
            line.realm = destination.realm
            response = try await answer(destination, call)
        } catch {
            let answer = ErrorResponse(error)
            line.fault = answer.fault
            line.code = answer.code
            response = answer.response
        }
        if let name = HTTPFields.Element.Name(Self.requestIDName) { response.headers[name] = id }
        line.status = response.status.code
        line.duration = ports.monotonic() - started
        line.write(to: logger)
        return response
    }

    private func answer(_ destination: Destination, _ call: Call) async throws -> Response {
        if case .device(.transactions) = destination.route {
            // Waits by itself, as long as it was asked to.
            return try await dispatch(destination, call)
        }
        return try await ports.deadline(configuration.requestTimeout, or: .timedOut) {
            try await dispatch(destination, call)
        }
    }

    private func dispatch(_ destination: Destination, _ call: Call) async throws -> Response {
        switch destination.route {
        case .health: return try PublicDoor(store: store, call: call).health()
        case .ready: return try await PublicDoor(store: store, call: call).ready()
        case .rootCertificate:
            return try await PublicDoor(store: store, call: call).rootCertificate()
        case .device(let route):
            return try await DeviceDoor(realm: try await realm(destination), call: call)
                .answer(route)
        case .transactionInfo, .requestTestNotification, .testNotification, .notificationHistory:
            return try await AppleDoor(realm: try await realm(destination), call: call)
                .answer(destination.route)
        case .readClock, .moveClock:
            try await admit(call, to: .control)
            let door = try ControlDoor(realm: try await realm(destination), call: call)
            return destination.route == .readClock
                ? try await door.clock() : try await door.moveClock()
        default:
            try await admit(call, to: .operator)
            return try await operate(destination, OperatorDoor(store: store, call: call))
        }
    }

    private func operate(
        _ destination: Destination, _ door: OperatorDoor
    ) async throws -> Response {
        switch destination.route {
        case .listRealms: return try await door.realms()
        case .createRealm: return try await door.createRealm()
        case .deleteRealm(let name): return try await door.deleteRealm(name)
        default: break
        }
        let realm = try await realm(destination)
        switch destination.route {
        case .listTransactions: return try await door.transactions(realm)
        case .listCustomers: return try await door.customers(realm)
        case .createCustomer: return try await door.createCustomer(realm)
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

    /// Lets in whoever has the door's own key, compared in constant time.
    private func admit(_ call: Call, to door: Door) async throws {
        guard let key = call.bearer else { throw RequestMistake.keyMissing(door) }
        if try await store.admits(key, to: door) { return }
        for other in Door.allCases where other != door {
            if try await store.admits(key, to: other) {
                throw RequestMistake.keyOfAnotherDoor(door)
            }
        }
        throw RequestMistake.keyWrong(door)
    }

    /// The id that came, where it is one; else a new one.
    private func requestID(_ request: Request) -> String {
        if let name = HTTPFields.Element.Name(Self.requestIDName),
            let id = request.headers[name], Self.isRequestID(id)
        {
            return id
        }
        return ports.randomness.uuid()
    }

    static func isRequestID(_ text: String) -> Bool {
        (1...requestIDBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
                    || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
                    || $0 == UInt8(ascii: ".")
            }
    }
}

/// What one request leaves in the log: never a token, a password, a name or
/// a raw address.
struct RequestLine {
    let method: String
    let requestID: String
    /// Missing where the address is none of ours.
    var pattern: String?
    var realm: String?
    var status = 0
    var duration = Duration.zero
    /// The code of a refusal.
    var code: String?
    /// What went wrong on our side.
    var fault: String?

    init(method: String, requestID: String) {
        self.method = method
        self.requestID = requestID
    }

    func write(to logger: Logger) {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        var metadata: Logger.Metadata = [
            "method": .string(Self.knownMethods.contains(method) ? method : "other"),
            "route": .string(pattern ?? "unknown"), "status": .stringConvertible(status),
            "milliseconds": .stringConvertible(milliseconds), "requestId": .string(requestID),
        ]
        if pattern != nil { metadata["realm"] = .string(shownRealm) }
        if let code { metadata["code"] = .string(code) }
        if let fault { metadata["fault"] = .string(fault) }
        logger.log(level: fault == nil ? .info : .error, "request", metadata: metadata)
    }

    /// The realm's name, where what stands in its place can be one: anything
    /// else may be a secret that slipped into an address.
    private var shownRealm: String {
        guard let realm else { return Store.defaultRealm }
        let isName =
            realm.utf8.count <= 40
            && realm.utf8.allSatisfy {
                (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-")
            }
        return isName ? realm : "unknown"
    }

    private static let knownMethods: Set = [
        "GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS",
    ]
}
