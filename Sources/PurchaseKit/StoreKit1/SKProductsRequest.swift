// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Asks the store for products by id.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skproductsrequest)
///
/// A started request keeps itself alive until it ends or is cancelled. Its
/// delegate is held weakly. Ids without a product come back in the response,
/// each with one line on standard error that says why.
open class SKProductsRequest: SKRequest {
    let run: ProductsRun

    /// Will ask for the products with these ids.
    public init(productIdentifiers: Set<String>) {
        run = ProductsRun(ids: productIdentifiers, device: nil)
        super.init()
    }

    public override convenience init() {
        self.init(productIdentifiers: [])
    }

    /// As `init(productIdentifiers:)`, for a device other than the process's own.
    public init(productIdentifiers: Set<String>, device: Device) {
        run = ProductsRun(ids: productIdentifiers, device: device)
        super.init()
    }

    /// Hears the response. Held weakly.
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

    deinit {
        run.cancel()
    }
}

/// Hears the answer to an ``SKProductsRequest``.
public protocol SKProductsRequestDelegate: SKRequestDelegate {
    /// Called right before `requestDidFinish`.
    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse)
}

/// The store's answer: products, and ids for which there are none.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skproductsresponse)
open class SKProductsResponse: NSObject, @unchecked Sendable {
    private let found: [SKProduct]
    private let invalid: [String]

    public override convenience init() {
        self.init(products: [], invalidProductIdentifiers: [])
    }

    init(products: [SKProduct], invalidProductIdentifiers: [String]) {
        found = products
        invalid = invalidProductIdentifiers
        super.init()
    }

    /// In no particular order.
    open var products: [SKProduct] { found }
    /// Ids that the store knows no product for.
    open var invalidProductIdentifiers: [String] { invalid }
}
