// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire

/// Which of a customer's transactions a merchant's server asks for.
struct TransactionFilter: Sendable {
    let list: HistoryToken.List
    /// Nil for the list's beginning.
    let token: HistoryToken?
    private let omitsFinishedConsumables: Bool
    private let purchasedFrom: Timestamp?
    private let purchasedBefore: Timestamp?
    private let products: Set<String>
    private let types: Set<ProductType>
    private let groups: Set<String>
    private let ownership: Ownership?
    private let isRevoked: Bool?

    /// `parameters` returns the values of a query parameter. Throws
    /// ``AppleRefusal``: see ``Merchant/history(of:omitsFinishedConsumables:_:)``.
    init(_ parameters: (String) -> [String], omitsFinishedConsumables: Bool) throws {
        func one(_ name: String) -> String? { parameters(name).first }
        self.omitsFinishedConsumables = omitsFinishedConsumables
        let sort = one("sort")
        list = sort == "DESCENDING" ? .descending : .ascending
        token = try Self.token(one("revision"), of: list)
        purchasedFrom = try Self.date(one("startDate"), .invalidStartDate)
        purchasedBefore = try Self.date(one("endDate"), .invalidEndDate)
        if let purchasedFrom, let purchasedBefore, purchasedFrom >= purchasedBefore {
            throw AppleRefusal(.startDateAfterEndDate)
        }
        products = try Self.names(parameters("productId"), .invalidProductId)
        types = Set(
            try parameters("productType").map { word in
                guard let type = ProductType(merchantWord: word) else {
                    throw AppleRefusal(.invalidProductType)
                }
                return type
            })
        guard sort == nil || ["ASCENDING", "DESCENDING"].contains(sort) else {
            throw AppleRefusal(.invalidSort)
        }
        groups = try Self.names(
            parameters("subscriptionGroupIdentifier"), .invalidSubscriptionGroupIdentifier)
        ownership = try one("inAppOwnershipType").map { word in
            guard let known = Ownership.allCases.first(where: { $0.wireName == word }) else {
                throw AppleRefusal(.invalidInAppOwnershipType)
            }
            return known
        }
        let revoked = try Self.flag(one("revoked"), .invalidRevoked)
        let excludes = try Self.flag(one("excludeRevoked"), .invalidExcludeRevoked)
        isRevoked = revoked ?? (excludes == true ? false : nil)
    }

    /// What is asked for, as one text: the same whatever the order of the parameters. The
    /// names in it have neither commas nor spaces.
    var canonical: String {
        let words: [String?] = [
            omitsFinishedConsumables ? "unfinished" : "all",
            purchasedFrom.map { "\($0.milliseconds)" },
            purchasedBefore.map { "\($0.milliseconds)" },
            products.sorted().joined(separator: ","),
            types.map(\.rawValue).sorted().joined(separator: ","),
            groups.sorted().joined(separator: ","), ownership?.wireName,
            isRevoked.map { "\($0)" },
        ]
        return words.map { $0 ?? "" }.joined(separator: " ")
    }

    func admits(_ facts: TransactionFacts) -> Bool {
        let isOmitted =
            omitsFinishedConsumables && facts.type == .consumable && facts.finishedAt != nil
            && facts.revokedAt == nil
        return !isOmitted
            && purchasedFrom.map { $0 <= facts.purchasedAt } ?? true
            && purchasedBefore.map { facts.purchasedAt < $0 } ?? true
            && (products.isEmpty || products.contains(facts.productID.value))
            && (types.isEmpty || types.contains(facts.type))
            && (groups.isEmpty || facts.period.map { groups.contains($0.groupID) } ?? false)
            && ownership.map { $0 == facts.ownership } ?? true
            && isRevoked.map { $0 == (facts.revokedAt != nil) } ?? true
    }

    private static func token(
        _ text: String?, of list: HistoryToken.List
    ) throws -> HistoryToken? {
        guard let text else { return nil }
        guard let token = HistoryToken(text, of: list) else {
            throw AppleRefusal(.invalidRequestRevision)
        }
        return token
    }

    /// A date may be as late as a number can be: Apple allows dates in the future.
    private static func date(_ text: String?, _ error: AppleErrorResponse) throws -> Timestamp? {
        guard let text else { return nil }
        guard let number = Edge.number(text) else { throw AppleRefusal(error) }
        return Timestamp(milliseconds: number)
    }

    private static func names(
        _ values: [String], _ error: AppleErrorResponse
    ) throws -> Set<String> {
        guard values.allSatisfy(IDText.isID) else { throw AppleRefusal(error) }
        return Set(values)
    }

    private static func flag(_ text: String?, _ error: AppleErrorResponse) throws -> Bool? {
        switch text?.lowercased() {
        case nil: return nil
        case "true": return true
        case "false": return false
        default: throw AppleRefusal(error)
        }
    }
}

extension ProductType {
    /// The type with this name in the filters of Apple's protocol.
    fileprivate init?(merchantWord: String) {
        switch merchantWord {
        case "AUTO_RENEWABLE": self = .autoRenewable
        case "NON_RENEWABLE": self = .nonRenewing
        case "CONSUMABLE": self = .consumable
        case "NON_CONSUMABLE": self = .nonConsumable
        default: return nil
        }
    }
}
