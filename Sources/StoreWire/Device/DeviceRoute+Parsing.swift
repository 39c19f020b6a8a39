// SPDX-License-Identifier: Apache-2.0

/// Why an address is none of the device protocol's.
public enum DeviceRouteMistake: Error, Hashable, Sendable {
    /// There is nothing at this path.
    case unknownPath
    /// There is, for another method.
    case wrongMethod(allowed: String)
    /// A part of the query breaks its rule.
    case badQuery(field: String, rule: String)
}

extension DeviceRoute {
    /// Reads what ``method`` and ``path`` print. `path` begins with
    /// ``prefix``; `query` is what stands behind the question mark, where
    /// there is one. A wait beyond ``waitSecondsMax`` is cut down to it, and
    /// words that this version does not know are passed over.
    public init(
        method: String, path: String, query: String? = nil
    ) throws(DeviceRouteMistake) {
        guard path.hasPrefix(Self.prefix + "/") else { throw .unknownPath }
        let parts = path.dropFirst(Self.prefix.utf8.count + 1).split(
            separator: "/", omittingEmptySubsequences: false
        ).map(String.init)
        let route = try Self.route(parts, query ?? "", isAsked: method == "GET")
        guard route.method == method else { throw .wrongMethod(allowed: route.method) }
        self = route
    }

    /// Reads the query only where it counts, so that a wrong method is told first.
    private static func route(
        _ parts: [String], _ query: String, isAsked: Bool
    ) throws(DeviceRouteMistake) -> DeviceRoute {
        switch (parts.count, parts.first) {
        case (1, "sessions"): return .signIn
        case (1, "products"): return .products
        case (1, "receipt"): return .receipt
        case (2, "purchases") where !parts[1].isEmpty: return .purchase(id: parts[1])
        case (3, "transactions") where !parts[1].isEmpty && parts[2] == "finish":
            return .finish(transactionID: parts[1])
        case (1, "transactions"):
            guard isAsked else { return .transactions(since: 0, waitSeconds: 0) }
            let since = try number("since", in: query)
            let after = try number("after", in: query)
            let wait = try number("wait", in: query)
            return .transactions(
                since: since ?? 0, after: after,
                waitSeconds: Int(min(wait ?? 0, Int64(waitSecondsMax))))
        default: throw .unknownPath
        }
    }

    /// The last value under a name; nil when there is none.
    private static func number(
        _ name: String, in query: String
    ) throws(DeviceRouteMistake) -> Int64? {
        var found: Substring?
        for pair in query.split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if sides[0] == name { found = sides.count == 2 ? sides[1] : "" }
        }
        guard let found else { return nil }
        guard (1...19).contains(found.utf8.count),
            found.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(found)
        else {
            throw .badQuery(field: name, rule: "a whole number from 0 to \(Int64.max)")
        }
        return number
    }
}
