// SPDX-License-Identifier: Apache-2.0

import Commerce

extension SubscriptionEvent.Change {
    /// The name of the kind of event, and a sentence for people.
    var words: (kind: String, message: String) {
        switch self {
        case .subscribed(let period, _, _, let isFirst, _):
            (
                isFirst ? "subscribed" : "resubscribed",
                "Subscribed to \(period.words)\(isFirst ? "" : ", after a pause")."
            )
        case .renewed(let period): ("renewed", "Renewed \(period.words).")
        case .recovered(let period): ("recovered", "Paid after a failure: \(period.words).")
        case .upgraded(let period, _, let refund, let running):
            (
                "upgraded",
                "Changed at once to \(period.words). "
                    + "\(refund) is unused of the period before\(running.words)."
            )
        case .choseNext(let product, let price, let isReversal, let offer, let isCommitted):
            isReversal
                ? ("keptProduct", "Keeps \(product) for \(price), and drops the planned change.")
                : (
                    "choseProduct",
                    "Will renew as \(product) for \(price)\(offer.map(\.words) ?? "")"
                        + (isCommitted ? ", a year in monthly parts." : ".")
                )
        case .redeemed(let offer):
            (
                "redeemed",
                "The next period, after a commitment that still runs, begins\(offer.words)."
            )
        case .switchedOn: ("switchedOn", "The renewal was switched on.")
        case .switchedOff: ("switchedOff", "The renewal was switched off.")
        case .stopped(let reason):
            ("stopped", "The store stopped the renewal: \(reason.words).")
        case .failedAhead:
            ("chargeDeclined", "The charge was declined, and is repeated at the period's end.")
        case .failed(let graceUntil):
            graceUntil.map {
                ("failed", "The renewal could not be charged. Usable until \($0).")
            } ?? ("failed", "The renewal could not be charged, and is not usable.")
        case .failedAgain: ("failedAgain", "The charge was declined again.")
        case .graceEnded: ("graceEnded", "The grace period has ended, and it is not usable.")
        case .expired(let reason): ("expired", "Expired: \(reason.words).")
        case .extended(let end, _): ("extended", "Extended until \(end), without a charge.")
        case .refunded: ("refunded", "The period was refunded and ended.")
        case .revoked: ("revoked", "The period was revoked and ended.")
        case .refundReversed: ("refundReversed", "The period is the customer's again.")
        case .runningRevoked:
            (
                "runningRevoked",
                "The period that still runs was refunded or revoked. The next one begins at "
                    + "its date."
            )
        case .runningReinstated:
            ("runningReinstated", "The period that still runs is the customer's again.")
        case .aheadRevoked:
            (
                "aheadRevoked",
                "The period that was charged ahead was refunded or revoked. The one that runs "
                    + "is the last."
            )
        case .aheadReinstated:
            ("aheadReinstated", "The period that was charged ahead is the customer's again.")
        case .increaseAnnounced(let increase):
            (
                "increaseAnnounced",
                "The price becomes \(increase.price) for periods from \(increase.startsAt)"
                    + (increase.isAgreed ? "." : ", if the customer consents.")
            )
        case .increaseAgreed: ("increaseAgreed", "The customer consented to the higher price.")
        }
    }
}

extension SubscribedPeriod {
    fileprivate var words: String {
        "\(productID) for \(price)\(offer.map(\.words) ?? ""), \(start) to \(end)"
            + (commitment.map { ", part \($0.number) of \($0.periods)" } ?? "")
    }
}

extension Money? {
    /// What an upgrade gives back of a period that ran beside one charged ahead.
    fileprivate var words: String { map { ", and \($0) of the one that still ran" } ?? "" }
}

extension AppliedOffer {
    fileprivate var words: String { " with the \(kind.rawValue) offer\(id.map { " \($0)" } ?? "")" }
}

extension Expiration {
    fileprivate var words: String {
        switch self {
        case .cancelled: "the customer switched the renewal off"
        case .billing: "the renewal could not be charged"
        case .priceIncrease: "the customer did not consent to the higher price"
        case .unavailable: "the product is no longer sold"
        case .other: "other reasons"
        }
    }
}
