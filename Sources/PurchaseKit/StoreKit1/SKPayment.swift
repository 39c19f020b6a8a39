// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A request to buy.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skpayment)
open class SKPayment: NSObject, NSCopying, NSMutableCopying {
    var contents: PaymentContents

    /// An empty payment; ``SKMutablePayment`` fills one in.
    public override init() {
        contents = PaymentContents(productID: "", quantity: 1)
        super.init()
    }

    /// A payment for one of `product`.
    public convenience init(product: SKProduct) {
        self.init()
        contents.productID = product.productIdentifier
    }

    convenience init(contents: PaymentContents) {
        self.init()
        self.contents = contents
    }

    open var productIdentifier: String { contents.productID }
    /// Reserved: a payment that carries any fails with `unauthorizedRequestData`.
    open var requestData: Data? { contents.requestData }
    /// 1 to 10; 1 unless set.
    open var quantity: Int { contents.quantity }
    /// The app's own word for its user. A UUID comes back as `appAccountToken`.
    open var applicationUsername: String? { contents.applicationUsername }
    /// Whether a sandbox asks for approval of this payment, whoever buys;
    /// `false` unless set. Production ignores it.
    open var simulatesAskToBuyInSandbox: Bool { contents.simulatesAskToBuyInSandbox ?? false }

    open func copy(with zone: NSZone? = nil) -> Any { SKPayment(contents: snapshot) }
    open func mutableCopy(with zone: NSZone? = nil) -> Any { SKMutablePayment(contents: snapshot) }

    /// Read through the properties, which a subclass may have overridden.
    var snapshot: PaymentContents {
        PaymentContents(
            productID: productIdentifier, quantity: quantity,
            applicationUsername: applicationUsername, requestData: requestData,
            simulatesAskToBuyInSandbox: simulatesAskToBuyInSandbox ? true : nil)
    }
}

/// A payment that can be changed until it is added: the queue copies it.
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
}
