// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire

/// How a transaction in the books differs from what the store has signed now.
enum Difference: Hashable, Sendable {
    case missingRevocation, staleRevocation, unknownTransaction, notInStore
    case factsDiffer(field: String)

    /// Nil if the books agree. A signature that is only newer is no difference.
    static func between(_ booked: BookedPurchase?, _ proven: ProvenPurchase) -> Difference? {
        guard let booked else { return .unknownTransaction }
        if let field = booked.facts.difference(from: proven.facts) {
            return .factsDiffer(field: field)
        }
        let fate = booked.fate.merged(with: proven.fate)
        guard fate.revokedAt != booked.fate.revokedAt else { return nil }
        return fate.revokedAt == nil ? .staleRevocation : .missingRevocation
    }

    /// Whether booking the store's transaction corrects it.
    var isFixable: Bool {
        switch self {
        case .missingRevocation, .staleRevocation, .unknownTransaction: true
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
            }
        return LedgerDifference(
            kind: kind, environment: key.environment.rawValue, bundleId: key.bundleID,
            transactionId: key.transactionID, field: field, isFixed: isFixed, refusal: refusal)
    }
}
