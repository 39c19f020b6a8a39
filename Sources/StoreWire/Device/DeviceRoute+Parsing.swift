// SPDX-License-Identifier: Apache-2.0

/// Why an address does not belong to the device protocol.
public enum DeviceRouteMistake: Error, Hashable, Sendable {
    /// There is no such path.
    case unknownPath
    /// The path exists for another method.
    case wrongMethod(allowed: String)
    /// A parameter of the query breaks its rule.
    case badQuery(field: String, rule: String)
}

extension DeviceRoute {
    /// Parses what ``method`` and ``path`` produce. `path` begins with
    /// ``prefix``. `query` is the text after the question mark, if there is
    /// one. A wait above ``waitSecondsMax`` is reduced to it. Unknown
    /// parameters are ignored.
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

    /// Parses the query last, so that a wrong method is reported first.
    private static func route(
        _ parts: [String], _ query: String, isAsked: Bool
    ) throws(DeviceRouteMistake) -> DeviceRoute {
        switch (parts.count, parts.first) {
        case (1, "sessions"): return .signIn
        case (1, "products"): return .products
        case (1, "offers"): return .offer
        case (1, "receipt"): return .receipt
        case (1, "price-increases"): return .priceIncreases
        case (1, "promotion-overrides"): return .promotionOverrides
        case (1, "promotion-order"): return .orderPromotions
        case (1, "promotion-visibility"): return .showPromotion
        case (1, "review"): return .review
        case (2, "reviews") where parts[1] == "requests": return .reviewRequest
        case (1, "purchase-intents"): return .claimIntents
        case (2, "purchase-intents") where !parts[1].isEmpty: return .decideIntent(id: parts[1])
        case (2, "purchases") where !parts[1].isEmpty: return .purchase(id: parts[1])
        case (3, "transactions") where !parts[1].isEmpty && parts[2] == "finish":
            return .finish(transactionID: parts[1])
        case (3, "transactions") where !parts[1].isEmpty && parts[2] == "refund-request":
            return .requestRefund(transactionID: parts[1])
        case (3, "transactions") where !parts[1].isEmpty && parts[2] == "content":
            return .content(transactionID: parts[1])
        case (3, "subscriptions") where !parts[1].isEmpty && parts[2] == "price-consent":
            return .consent(subscriptionID: parts[1])
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

    /// Returns the last value of a parameter. Nil if there is none.
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
