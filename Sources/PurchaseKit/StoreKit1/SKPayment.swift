// SPDX-License-Identifier: Apache-2.0

public import Foundation
package import StoreWire

/// A request to buy.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skpayment)
open class SKPayment: NSObject, NSCopying, NSMutableCopying {
    var contents: PaymentContents

    /// Makes an empty payment. Use ``SKMutablePayment`` to fill it in.
    public override init() {
        contents = PaymentContents(productID: "", quantity: 1)
        super.init()
    }

    /// Makes a payment for one unit of `product`.
    public convenience init(product: SKProduct) {
        self.init()
        contents.productID = product.productIdentifier
    }

    /// Makes a payment for one unit, which ``SKMutablePayment`` of a product does
    /// better.
    @available(*, deprecated, message: "use init(product:)")
    open class func payment(withProductIdentifier identifier: String) -> Any {
        SKPayment(contents: PaymentContents(productID: identifier, quantity: 1))
    }

    convenience init(contents: PaymentContents) {
        self.init()
        self.contents = contents
    }

    open var productIdentifier: String { contents.productID }
    /// Reserved. A payment with request data fails with
    /// `unauthorizedRequestData`.
    open var requestData: Data? { contents.requestData }
    /// 1 to 10. The default is 1.
    open var quantity: Int { contents.quantity }
    /// The app's own name for its user. A UUID is returned as
    /// `appAccountToken`.
    open var applicationUsername: String? { contents.applicationUsername }
    /// Whether a sandbox requires approval of this payment, for any customer.
    /// The default is `false`. Production ignores it.
    open var simulatesAskToBuyInSandbox: Bool { contents.simulatesAskToBuyInSandbox ?? false }

    /// The promotional offer that the payment asks for.
    open var paymentDiscount: SKPaymentDiscount? { SKPaymentDiscount(contents.offer) }

    /// The offer that the payment asks for.
    package final var requestedOffer: OfferRequest? {
        get { contents.offer }
        set { contents.offer = newValue }
    }

    /// `MONTHLY` to pay for a year in parts.
    package final var billingPlan: String? {
        get { contents.billingPlan }
        set { contents.billingPlan = newValue }
    }

    open func copy(with zone: NSZone? = nil) -> Any { SKPayment(contents: snapshot) }
    open func mutableCopy(with zone: NSZone? = nil) -> Any { SKMutablePayment(contents: snapshot) }

    /// A copy of the contents. It reads the properties, because a subclass may
    /// have overridden them.
    var snapshot: PaymentContents {
        PaymentContents(
            productID: productIdentifier, quantity: quantity,
            applicationUsername: applicationUsername, requestData: requestData,
            simulatesAskToBuyInSandbox: simulatesAskToBuyInSandbox ? true : nil,
            offer: paymentDiscount?.request ?? contents.offer, billingPlan: contents.billingPlan,
            intentID: contents.intentID)
    }
}

/// A payment that can be changed until it is added, because the queue copies
/// it.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skmutablepayment)
open class SKMutablePayment: SKPayment {
    open override var productIdentifier: String {
        get { contents.productID }
        set { contents.productID = newValue }
    }
    open override var requestData: Data? {
        get { contents.requestData }
        set { contents.requestData = newValue }
    }
    open override var quantity: Int {
        get { contents.quantity }
        set { contents.quantity = newValue }
    }
    open override var applicationUsername: String? {
        get { contents.applicationUsername }
        set { contents.applicationUsername = newValue }
    }
    open override var simulatesAskToBuyInSandbox: Bool {
        get { contents.simulatesAskToBuyInSandbox ?? false }
        set { contents.simulatesAskToBuyInSandbox = newValue ? true : nil }
    }
    open override var paymentDiscount: SKPaymentDiscount? {
        get { SKPaymentDiscount(contents.offer) }
        set { contents.offer = newValue?.request }
    }
}
