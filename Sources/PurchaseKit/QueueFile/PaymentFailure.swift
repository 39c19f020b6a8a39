// SPDX-License-Identifier: Apache-2.0

/// Why a payment failed, in a form that can be stored.
struct PaymentFailure: Hashable, Sendable, Codable {
    /// The kind of failure. Open: an unknown word in the file is kept. Each
    /// interface translates it to Apple's codes.
    struct Code: RawRepresentable, Hashable, Sendable, Codable {
        let rawValue: String

        init(rawValue: String) { self.rawValue = rawValue }

        /// No other code applies.
        static let unknown = Code(rawValue: "unknown")
        /// The customer cancelled, or never saw the payment sheet's end.
        static let cancelled = Code(rawValue: "cancelled")
        /// This device or its customer may not buy.
        static let notAllowed = Code(rawValue: "notAllowed")
        /// The store does not sell the product to this customer.
        static let productUnavailable = Code(rawValue: "productUnavailable")
        /// The payment itself is wrong, for example its quantity.
        static let contentsInvalid = Code(rawValue: "contentsInvalid")
        /// The payment had request data, which is reserved.
        static let requestDataReserved = Code(rawValue: "requestDataReserved")
        /// The product has no offer as the payment asks for.
        static let offerUnknown = Code(rawValue: "offerUnknown")
        /// The customer does not get the offer.
        static let offerNotEligible = Code(rawValue: "offerNotEligible")
        /// What the merchant's server has signed does not match the payment.
        static let offerSignatureInvalid = Code(rawValue: "offerSignatureInvalid")
        /// The payment's offer lacks something, such as its signature.
        static let offerIncomplete = Code(rawValue: "offerIncomplete")
        /// The store decided against the payment.
        static let refused = Code(rawValue: "refused")
        /// The store refused the call, and with it any payment like this one.
        static let callRefused = Code(rawValue: "callRefused")
        /// The device is not configured for this store.
        static let notSetUp = Code(rawValue: "notSetUp")
        /// The customer's name or password was not accepted.
        static let signInFailed = Code(rawValue: "signInFailed")
        /// The store failed, and did not say why.
        static let storeFault = Code(rawValue: "storeFault")
        /// The store could not be reached.
        static let network = Code(rawValue: "network")
        /// The device's disk failed.
        static let disk = Code(rawValue: "disk")
    }

    var code: Code
    /// One sentence: the store's own, if there is one.
    var message: String
    /// The number of the underlying `URLError`, for a network failure.
    var urlErrorCode: Int?
    /// The underlying error number of the disk or the system.
    var systemErrorCode: Int?
    /// The store's refusal, if the store refused the payment.
    var refusal: StoreRefusal?

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
