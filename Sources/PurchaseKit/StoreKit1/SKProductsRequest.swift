// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Requests products by id from the store.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skproductsrequest)
///
/// A started request keeps itself alive until it ends or is cancelled. Its
/// delegate is held weakly. Ids without a product are returned in the response,
/// and a line on standard error gives the reason for each.
open class SKProductsRequest: SKRequest {
    private(set) var run: ProductsRun

    /// Makes a request for the products with these ids.
    public init(productIdentifiers: Set<String>) {
        run = ProductsRun(ids: productIdentifiers, device: nil)
        super.init()
    }

    /// Makes a request for no products, for subclasses in tests.
    public override init() {
        run = ProductsRun(ids: [], device: nil)
        super.init()
    }

    /// Like `init(productIdentifiers:)`, for a device other than the process's
    /// own.
    public convenience init(productIdentifiers: Set<String>, device: Device) {
        self.init(productIdentifiers: productIdentifiers)
        run = ProductsRun(ids: productIdentifiers, device: device)
    }

    /// Receives the response. Held weakly.
    open var delegate: (any SKProductsRequestDelegate)? {
        get { _delegateBox as? any SKProductsRequestDelegate }
        set { _delegateBox = newValue }
    }

    open override func start() {
        run.start(for: self)
    }

    open override func cancel() {
        run.cancel()
    }
}

/// Receives the response to an ``SKProductsRequest``.
public protocol SKProductsRequestDelegate: SKRequestDelegate {
    /// Called right before `requestDidFinish`.
    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse)
}

/// The store's answer: products, and ids without a product.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skproductsresponse)
open class SKProductsResponse: NSObject, @unchecked Sendable {
    private var found: [SKProduct] = []
    private var invalid: [String] = []

    /// Makes an empty response, for subclasses in tests.
    public override init() {
        super.init()
    }

    convenience init(products: [SKProduct], invalidProductIdentifiers: [String]) {
        self.init()
        found = products
        invalid = invalidProductIdentifiers
    }

    /// In no particular order.
    open var products: [SKProduct] { found }
    /// Ids for which the store has no product.
    open var invalidProductIdentifiers: [String] { invalid }
}
