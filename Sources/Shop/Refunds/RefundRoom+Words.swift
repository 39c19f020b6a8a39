// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire

/// The words of requests, and refusals.
extension RefundRoom {
    /// What an operator may decide.
    enum Decision: String, CaseIterable {
        case granted, declined, reversed
        /// What the request should come to.
        case advised

        /// The verb of the audit.
        var deed: String {
            switch self {
            case .granted: "grant"
            case .declined: "decline"
            case .reversed: "reverse"
            case .advised: "follow"
            }
        }
    }

    static func state(_ word: String) throws -> Decision {
        guard let state = Decision(rawValue: word) else {
            throw Refusal(
                .badRequest, code: "refundStateUnknown", "A refund is not decided like this.",
                field: "state", rule: list(Decision.allCases.map(\.rawValue)),
                remedy: "send one of them")
        }
        return state
    }

    static func kind(_ word: String?) throws -> RefundGrant.Kind {
        guard let word else { return .full }
        guard let kind = RefundGrant.Kind(rawValue: word), kind != .upgrade else {
            throw Refusal(
                .badRequest, code: "refundKindUnknown", "There is no such kind of refund.",
                field: "kind", rule: "`full`, `prorated` or `nothing`",
                remedy: "leave it out for the whole sum")
        }
        return kind
    }

    static func reason(_ word: String?) throws -> RevocationReason {
        guard let word else { return .other }
        guard let reason = RevocationReason.allCases.first(where: { $0.word == word }) else {
            throw Refusal(
                .badRequest, code: "revocationReasonUnknown", "There is no such reason.",
                field: "reason", rule: list(RevocationReason.allCases.map(\.word)),
                remedy: "leave it out for `other`")
        }
        return reason
    }

    static func wish(_ word: String?) throws -> RefundWish {
        guard let word else { return .other }
        guard let wish = RefundWish(rawValue: word) else {
            throw Refusal(
                .badRequest, code: "refundReasonUnknown", "There is no such reason.",
                field: "reason", rule: list(RefundWish.allCases.map(\.rawValue)),
                remedy: "leave it out for `OTHER`")
        }
        return wish
    }

    private static func list(_ words: [String]) -> String {
        words.map { "`\($0)`" }.joined(separator: ", ")
    }
}

extension RevocationReason {
    /// The word of requests and of the audit.
    var word: String {
        switch self {
        case .other: "other"
        case .issueWithApp: "issueWithApp"
        }
    }
}

extension RefundRefusal {
    /// The refusal with field, rule and remedy.
    var refusal: Refusal {
        switch self {
        case .shared:
            Refusal(
                .conflict, code: "refundOfShared", "Another member of the family bought it.",
                field: "transactionId", rule: "a transaction of the customer's own",
                remedy: "name the transaction of the member who bought it")
        case .refundedAlready:
            Refusal(
                .conflict, code: "refundedAlready", "The transaction is revoked already.",
                field: "transactionId", rule: "each transaction is refunded or revoked once",
                remedy: "take the refund back first, if another kind is wanted")
        case .notRequested:
            Refusal(
                .conflict, code: "refundNotRequested", "The customer did not ask for a refund.",
                field: "state", rule: "only a request is declined",
                remedy: "list the refunds that wait for an answer")
        case .notRefunded:
            Refusal(
                .conflict, code: "notRefunded", "The transaction was not refunded or revoked.",
                field: "transactionId", rule: "one that was refunded or revoked",
                remedy: "list the refunds")
        case .notProratable:
            Refusal(
                .conflict, code: "notProratable", "The product was not sold for a time.",
                field: "kind",
                rule: "`prorated` is for auto-renewable subscriptions, and for what the merchant "
                    + "has reported as used in part",
                remedy: "refund the whole sum")
        case .nothingUnused:
            Refusal(
                .conflict, code: "nothingUnused", "Nothing is left of it.", field: "kind",
                rule: "`prorated` is for the period that runs, or what is left of another product",
                remedy: "refund the whole sum")
        case .ownedAgain:
            Refusal(
                .conflict, code: "ownedAgain", "The customer has bought the product again.",
                field: "transactionId", rule: "what the customer has bought again is owned once",
                remedy: "leave the refund as it is, or revoke the later purchase first")
        }
    }
}
