// SPDX-License-Identifier: Apache-2.0

import Commerce

extension FamilyEvent.Change {
    /// The member's transaction that it concerns.
    var transaction: TransactionID? {
        switch self {
        case .place: nil
        case .granted(let transaction, _, _, _), .ended(let transaction, _, _, _),
            .moved(let transaction, _), .announced(let transaction, _, _, _),
            .reinstated(let transaction, _, _):
            transaction
        }
    }

    /// The name of the kind of event, and a sentence for people.
    var words: (kind: String, message: String) {
        switch self {
        case .place(let kind, let organiser): kind.words(organiser)
        case .granted(let transaction, let product, let purchaser, let kind):
            (
                "familyGranted",
                "Got \(product) as transaction \(transaction): customer \(purchaser) "
                    + kind.words
            )
        case .ended(let transaction, let product, let purchaser, let ending):
            (
                ending.isRevoking ? "familyRevoked" : "familyExpired",
                "\(product) of transaction \(transaction) has ended: "
                    + ending.words(purchaser)
            )
        case .reinstated(let transaction, let product, let purchaser):
            (
                "familyReinstated",
                "\(product) of transaction \(transaction) is not revoked any more: the refund "
                    + "or revocation of the purchase of customer \(purchaser) was taken back."
            )
        case .moved(let transaction, let end):
            ("familyMoved", "The shared period of transaction \(transaction) ends at \(end).")
        case .announced(let transaction, let product, let purchaser, let announcement):
            announcement.words(product, transaction, purchaser)
        }
    }
}

extension FamilyStep.GrantKind {
    fileprivate var words: String {
        switch self {
        case .product, .first, .again: "shares it."
        case .renewal: "renewed it."
        case .recovery: "renewed it, after a charge that failed."
        }
    }
}

extension FamilyAnnouncement {
    fileprivate func words(
        _ product: ProductID, _ transaction: TransactionID, _ purchaser: CustomerID
    ) -> (kind: String, message: String) {
        let shared = "\(product), which customer \(purchaser) shares as transaction \(transaction)"
        return switch self {
        case .failed(nil):
            ("familyBillingFailed", "The renewal of \(shared), could not be charged.")
        case .failed(.some(let end)):
            (
                "familyBillingFailed",
                "The renewal of \(shared), could not be charged. The grace period ends at \(end)."
            )
        case .graceEnded: ("familyGraceEnded", "The grace period of \(shared), has ended.")
        case .switchedOn:
            ("familySwitchedOn", "The renewal of \(shared), was switched on.")
        case .switchedOff:
            ("familySwitchedOff", "The renewal of \(shared), was switched off.")
        case .choseNext(let next, true, _):
            ("familyChoseNext", "The renewal of \(shared), is of \(next) again.")
        case .choseNext(let next, false, _):
            ("familyChoseNext", "The renewal of \(shared), is of \(next).")
        case .redeemed:
            ("familyRedeemed", "An offer was redeemed for the renewal of \(shared).")
        }
    }
}

extension FamilyChange.Kind {
    fileprivate func words(_ organiser: CustomerID) -> (kind: String, message: String) {
        switch self {
        case .joined: ("familyJoined", "Joined the family of customer \(organiser).")
        case .left: ("familyLeft", "Left the family of customer \(organiser).")
        case .dissolved:
            ("familyDissolved", "The family of customer \(organiser) was dissolved.")
        case .sharingOn: ("familySharingOn", "Shares purchases with the family.")
        case .sharingOff: ("familySharingOff", "Shares no purchases with the family any more.")
        }
    }
}

extension FamilyShare.Ending {
    fileprivate func words(_ purchaser: CustomerID) -> String {
        switch self {
        case .renewed: "customer \(purchaser) renewed it."
        case .upgraded: "customer \(purchaser) changed to a better product."
        case .expired: "the subscription of customer \(purchaser) expired."
        case .left: "customer \(purchaser) is in another family, or in none."
        case .stopped: "customer \(purchaser) does not share purchases any more."
        case .refunded: "the purchase of customer \(purchaser) was refunded or revoked."
        case .unshared: "customer \(purchaser) changed to a product that is not shared."
        case .cleared: "the history of customer \(purchaser) was cleared."
        }
    }
}
