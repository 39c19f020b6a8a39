// SPDX-License-Identifier: Apache-2.0

import HTTPShell
import StoreWire

/// Where a request goes, from its method and address alone.
struct Destination: Sendable {
    enum Target: Sendable {
        case device(DeviceRoute)
        case route(Route, parts: [String])
    }

    /// Nil for the default realm.
    var realm: String?
    let target: Target
    /// The address without its variable parts, for logs.
    let pattern: String

    /// Finds the route of a request. Throws `unknownPath`, `wrongMethod` and
    /// `queryInvalid`.
    init(method: String, path: String, query: String?) throws {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        // ["", "realms", NAME, "device", …]
        if parts.count > 3, parts[1] == "realms" {
            let inner = "/" + parts[3...].joined(separator: "/")
            self = try Destination(inRealm: true, method, inner, query)
            realm = String(parts[2])
        } else {
            self = try Destination(inRealm: false, method, path, query)
        }
    }

    private init(
        inRealm: Bool, _ method: String, _ path: String, _ query: String?
    ) throws {
        if path.hasPrefix(DeviceRoute.prefix) {
            let device = try Self.device(method, path, query)
            target = .device(device)
            pattern = device.pattern
            return
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        var allowed: [String] = []
        for route in Route.all(ofParts: parts.count) where !(inRealm && route.isStoreWide) {
            guard let open = route.match(parts) else { continue }
            guard route.method == method else {
                allowed.append(route.method)
                continue
            }
            target = .route(route, parts: open)
            pattern = route.pattern
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
