// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// How a transaction in the books differs from what the store has signed now.
enum Difference: Hashable, Sendable {
    case missingRevocation, staleRevocation, unknownTransaction, notInStore
    case factsDiffer(field: String)
    /// The end of a period, or an upgrade.
    case staleTerms(field: String)

    /// Nil if the books agree. A signature that is only newer is no difference.
    /// `isKept`: see ``BookedPurchase/isKept(from:_:)``.
    static func between(
        _ booked: BookedPurchase?, _ proven: ProvenPurchase, isKept: Bool
    ) -> Difference? {
        guard let booked else { return .unknownTransaction }
        if let field = booked.facts.difference(from: proven.facts) {
            return .factsDiffer(field: field)
        }
        let fate = booked.fate.merged(with: proven.fate)
        if fate.revokedAt != booked.fate.revokedAt {
            return fate.revokedAt == nil ? .staleRevocation : .missingRevocation
        }
        if fate.expiresAt != booked.fate.expiresAt { return .staleTerms(field: "expiresDate") }
        if fate.isUpgraded != booked.fate.isUpgraded { return .staleTerms(field: "isUpgraded") }
        return isKept ? .factsDiffer(field: "appAccountToken") : nil
    }

    /// Whether booking the store's transaction corrects it.
    var isFixable: Bool {
        switch self {
        case .missingRevocation, .staleRevocation, .staleTerms, .unknownTransaction: true
        case .notInStore, .factsDiffer: false
        }
    }

    func wire(
        _ key: PurchaseKey, isFixed: Bool = false, refusal: String? = nil
    ) -> LedgerDifference {
        let (kind, field): (String, String?) =
            switch self {
            case .missingRevocation: ("missingRevocation", nil)
            case .staleRevocation: ("staleRevocation", nil)
            case .unknownTransaction: ("unknownTransaction", nil)
            case .notInStore: ("notInStore", nil)
            case .factsDiffer(let field): ("factsDiffer", field)
            case .staleTerms(let field): ("staleTerms", field)
            }
        return LedgerDifference(
            kind: kind, environment: key.environment.rawValue, bundleId: key.bundleID,
            transactionId: key.transactionID, field: field, isFixed: isFixed, refusal: refusal)
    }
}

extension BookedPurchase {
    /// The account that has it.
    var name: AccountName? { account.map { AccountName($0) } }

    /// Whether its account has kept it although the store's app account token names another
    /// one, which is no part of it. An erased account has no name any more.
    func isKept(from proven: ProvenPurchase, _ reading: any Reading) throws -> Bool {
        guard let account, !ErasedAccount.isOne(account) else { return false }
        return try PurchaseClaim.call(for: nil, proven).isRefused(by: account, reading)
    }
}
