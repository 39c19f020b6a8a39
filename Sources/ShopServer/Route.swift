// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import StoreWire

/// What a request asks for, from its method and path alone.
enum Route: Hashable, Sendable {
    case health, ready, metrics, rootCertificate
    case askStatus, status(base64: String)
    case listCertificates, rotateCertificates, revokeCertificate
    case device(DeviceRoute)
    case transactionInfo(id: String)
    case requestTestNotification, testNotification(token: String), notificationHistory
    case listApps, setNotificationURL(bundleID: String), sendNotification
    case notificationStatus(token: String)
    case listRealms, createRealm
    case deleteRealm(name: String), resetRealm(name: String)
    case listOperators, createOperator, revokeOperator(name: String), listStoreAudit
    case listTransactions
    case listCustomers, createCustomer, changeCustomer(id: String)
    case clearHistory(customer: String)
    case listSessions, endSession(id: String), endSessions(customer: String)
    case listPurchases, answerApproval(purchaseID: String)
    case listServerKeys, createServerKey
    case readClock, moveClock, readSettings(bundleID: String)
    case catalogue(CatalogueRoute)
}

/// A route in the realm that its address names.
struct Destination: Hashable, Sendable {
    /// Nil for the default realm.
    var realm: String?
    let route: Route
    /// The address without its variable parts, for logs.
    let pattern: String

    /// Finds the route of a request. Throws `unknownPath`, `wrongMethod` and
    /// `queryInvalid`.
    init(method: String, path: String, query: String?) throws {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        // ["", "realms", NAME, "device", …]
        if parts.count > 3, parts[1] == "realms" {
            let inner = "/" + parts[3...].joined(separator: "/")
            self = try Destination(inRealm: true, method, inner, query)
            realm = parts[2]
        } else {
            self = try Destination(inRealm: false, method, path, query)
        }
    }

    private init(
        inRealm: Bool, _ method: String, _ path: String, _ query: String?
    ) throws {
        if path.hasPrefix(DeviceRoute.prefix) {
            let device = try Self.device(method, path, query)
            route = .device(device)
            pattern = device.pattern
            return
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        var allowed: [String] = []
        for entry in Entry.all where !(inRealm && entry.isStoreWide) {
            guard let found = entry.match(parts) else { continue }
            guard entry.method == method else {
                allowed.append(entry.method)
                continue
            }
            (route, pattern) = (found, entry.pattern)
            return
        }
        throw allowed.isEmpty
            ? RequestMistake.unknownPath : RequestMistake.wrongMethod(allowed: allowed)
    }

    private static func device(
        _ method: String, _ path: String, _ query: String?
    ) throws -> DeviceRoute {
        do {
            return try DeviceRoute(method: method, path: path, query: query)
        } catch {
            switch error {
            case .unknownPath: throw RequestMistake.unknownPath
            case .wrongMethod(let allowed): throw RequestMistake.wrongMethod(allowed: [allowed])
            case .badQuery(let field, let rule):
                throw RequestMistake.queryInvalid(
                    field: field, rule: rule, remedy: "send one, or leave it out for 0")
            }
        }
    }
}

/// One row of the table of addresses outside the device protocol.
struct Entry: Sendable {
    let method: String
    /// `{}` stands for any part that is not empty.
    let pattern: String
    /// Whether it concerns the whole store, so that it has no realm's prefix.
    let isStoreWide: Bool
    private let make: @Sendable (_ parts: [String]) -> Route

    init(
        _ method: String, _ pattern: String, isStoreWide: Bool = false,
        _ make: @escaping @Sendable ([String]) -> Route
    ) {
        self.method = method
        self.pattern = pattern
        self.isStoreWide = isStoreWide
        self.make = make
    }

    static let all = common + catalogue

    private static let common: [Entry] = [
        Entry("GET", "/health", isStoreWide: true) { _ in .health },
        Entry("GET", "/ready", isStoreWide: true) { _ in .ready },
        Entry("GET", "/metrics", isStoreWide: true) { _ in .metrics },
        Entry("GET", "/certificates/root", isStoreWide: true) { _ in .rootCertificate },
        Entry("POST", "/certificates/status", isStoreWide: true) { _ in .askStatus },
        Entry("GET", "/certificates/status/{}", isStoreWide: true) { .status(base64: $0[0]) },
        Entry("GET", "/operator/v1/certificates", isStoreWide: true) { _ in .listCertificates },
        Entry("POST", "/operator/v1/certificates/rotations", isStoreWide: true) { _ in
            .rotateCertificates
        },
        Entry("POST", "/operator/v1/certificates/revocations", isStoreWide: true) { _ in
            .revokeCertificate
        },
        Entry("GET", "/inApps/v1/transactions/{}") { .transactionInfo(id: $0[0]) },
        Entry("POST", "/inApps/v1/notifications/test") { _ in .requestTestNotification },
        Entry("GET", "/inApps/v1/notifications/test/{}") { .testNotification(token: $0[0]) },
        Entry("POST", "/inApps/v1/notifications/history") { _ in .notificationHistory },
        Entry("GET", "/operator/v1/realms", isStoreWide: true) { _ in .listRealms },
        Entry("POST", "/operator/v1/realms", isStoreWide: true) { _ in .createRealm },
        Entry("DELETE", "/operator/v1/realms/{}", isStoreWide: true) {
            .deleteRealm(name: $0[0])
        },
        Entry("POST", "/operator/v1/realms/{}/resets", isStoreWide: true) {
            .resetRealm(name: $0[0])
        },
        Entry("GET", "/operator/v1/operators", isStoreWide: true) { _ in .listOperators },
        Entry("POST", "/operator/v1/operators", isStoreWide: true) { _ in .createOperator },
        Entry("DELETE", "/operator/v1/operators/{}", isStoreWide: true) {
            .revokeOperator(name: $0[0])
        },
        Entry("GET", "/operator/v1/store-audit", isStoreWide: true) { _ in .listStoreAudit },
        Entry("GET", "/operator/v1/transactions") { _ in .listTransactions },
        Entry("GET", "/operator/v1/customers") { _ in .listCustomers },
        Entry("POST", "/operator/v1/customers") { _ in .createCustomer },
        Entry("PATCH", "/operator/v1/customers/{}") { .changeCustomer(id: $0[0]) },
        Entry("DELETE", "/operator/v1/customers/{}/history") { .clearHistory(customer: $0[0]) },
        Entry("GET", "/operator/v1/sessions") { _ in .listSessions },
        Entry("DELETE", "/operator/v1/sessions/{}") { .endSession(id: $0[0]) },
        Entry("DELETE", "/operator/v1/customers/{}/sessions") { .endSessions(customer: $0[0]) },
        Entry("GET", "/operator/v1/purchases") { _ in .listPurchases },
        Entry("PUT", "/operator/v1/purchases/{}/approval") { .answerApproval(purchaseID: $0[0]) },
        Entry("GET", "/operator/v1/server-keys") { _ in .listServerKeys },
        Entry("POST", "/operator/v1/server-keys") { _ in .createServerKey },
        Entry("GET", "/operator/v1/apps") { _ in .listApps },
        Entry("PUT", "/operator/v1/apps/{}/notification-url") {
            .setNotificationURL(bundleID: $0[0])
        },
        Entry("POST", "/operator/v1/notifications") { _ in .sendNotification },
        Entry("GET", "/operator/v1/notifications/{}") { .notificationStatus(token: $0[0]) },
        Entry("GET", "/control/v1/clock") { _ in .readClock },
        Entry("POST", "/control/v1/clock") { _ in .moveClock },
        Entry("GET", "/control/v1/apps/{}/settings") { .readSettings(bundleID: $0[0]) },
    ]

    /// Returns the route if the path matches this pattern.
    func match(_ parts: [String]) -> Route? {
        let wanted = pattern.split(separator: "/", omittingEmptySubsequences: false)
        guard wanted.count == parts.count else { return nil }
        var open: [String] = []
        for (want, part) in zip(wanted, parts) {
            if want == "{}" {
                guard !part.isEmpty else { return nil }
                open.append(part)
            } else if want != part {
                return nil
            }
        }
        return make(open)
    }
}

extension DeviceRoute {
    /// The address without its variable parts.
    var pattern: String {
        switch self {
        case .purchase: "\(Self.prefix)/purchases/{}"
        case .finish: "\(Self.prefix)/transactions/{}/finish"
        case .transactions: "\(Self.prefix)/transactions"
        case .signIn, .products, .receipt: path
        }
    }
}
