// SPDX-License-Identifier: Apache-2.0

/// The kinds of inner and outer work, as their rows name them.
enum WorkKind {
    // Inner work.
    static let approval = "approval"
    /// The next step of a subscription.
    static let subscription = "subscription"

    static let inner = [approval, subscription]

    // Outer work.
    static let notification = "notification"
    /// Asks the payment processor for an outcome.
    static let settle = "settle"
    /// The same, after the database rejected the processor's answer.
    static let unwritten = "unwritten"
    static let capture = "capture"
    static let void = "void"
    /// Gives money back after the sale.
    static let refund = "refund"
    /// Takes it again, after the refund was reversed.
    static let takeBack = "takeBack"

    /// Releases the code of a payment that has failed.
    static let offerRelease = "offerRelease"

    /// Changes every subscription to a product.
    static let bulk = "bulk"

    /// Brings a family what one of its people has bought.
    static let family = "family"
    /// The same after a person's place in a family changed. At the home.
    static let familyChange = "familyChange"
    /// The same for all families, after products became shareable. At the home.
    static let familySweep = "familySweep"

    static let families = [family, familyChange, familySweep]
    static let refunds = [refund, takeBack]
    /// Asks the payment processor to charge a renewal, or for the outcome.
    static let renewal = "renewal"
    /// The same, after the database rejected the answer.
    static let renewalUnwritten = "renewalUnwritten"
    static let renewalCapture = "renewalCapture"
    static let renewalVoid = "renewalVoid"

    /// About the charge of a renewal, and not of a purchase.
    static let renewals = renewalQuestions + [renewalCapture, renewalVoid]
    /// Without one of them, a charge would never have an answer.
    static let renewalQuestions = [renewal, renewalUnwritten]
    static let errands =
        [notification, settle, unwritten, capture, void, offerRelease, bulk] + refunds + renewals
        + families

    /// The lane of calls to the payment processor.
    static let processorLane = "processor"
    /// The lane of ``offerRelease``.
    static let offersLane = "offers"
    /// The lane of ``bulk``.
    static let bulkLane = "bulk"
    /// The lane of ``families``.
    static let familyLane = "family"
}
