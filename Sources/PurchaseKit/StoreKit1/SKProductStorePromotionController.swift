// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Whether the store shows a promoted product to a customer.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skproductstorepromotionvisibility)
public enum SKProductStorePromotionVisibility: Int, Sendable {
    case `default`, show, hide
}

/// Changes which promoted products the store shows to this customer.
///
/// This store promotes no products: each method fails with `clientInvalid`.
/// Completion handlers are called on the main queue.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skproductstorepromotioncontroller)
open class SKProductStorePromotionController: NSObject, @unchecked Sendable {
    private static let ofProcess = SKProductStorePromotionController()

    public override init() {
        super.init()
    }

    /// Returns the process's controller.
    open class func `default`() -> Self {
        guard let controller = Self.ofProcess as? Self else {
            preconditionFailure(
                "default() is asked of SKProductStorePromotionController itself, not of a "
                    + "subclass")
        }
        return controller
    }

    open func fetchStorePromotionVisibility(
        for product: SKProduct,
        completionHandler: ((SKProductStorePromotionVisibility, (any Error)?) -> Void)? = nil
    ) {
        Later.call(completionHandler) { $0(.default, Self.refusal) }
    }

    open func promotionVisibility(
        for product: SKProduct
    ) async throws -> SKProductStorePromotionVisibility {
        throw Self.refusal
    }

    open func update(
        storePromotionVisibility promotionVisibility: SKProductStorePromotionVisibility,
        for product: SKProduct, completionHandler: (((any Error)?) -> Void)? = nil
    ) {
        Later.call(completionHandler) { $0(Self.refusal) }
    }

    open func update(
        promotionVisibility: SKProductStorePromotionVisibility, for product: SKProduct
    ) async throws {
        throw Self.refusal
    }

    open func fetchStorePromotionOrder(
        completionHandler: (([SKProduct], (any Error)?) -> Void)? = nil
    ) {
        Later.call(completionHandler) { $0([], Self.refusal) }
    }

    open func promotionOrder() async throws -> [SKProduct] {
        throw Self.refusal
    }

    open func update(
        storePromotionOrder promotionOrder: [SKProduct],
        completionHandler: (((any Error)?) -> Void)? = nil
    ) {
        Later.call(completionHandler) { $0(Self.refusal) }
    }

    open func update(promotionOrder: [SKProduct]) async throws {
        throw Self.refusal
    }

    private static var refusal: SKError { .notOffered("The store promotes no products.") }
}

/// Calls an app's completion handler on the main queue.
enum Later {
    /// Carries a handler to the main queue. The handler is called there once, and
    /// is not touched any more where it came from.
    private struct Carried<Value>: @unchecked Sendable {
        let value: Value
    }

    static func call<Handler>(
        _ handler: Handler?, _ body: @escaping @Sendable (Handler) -> Void
    ) {
        guard let handler else { return }
        let carried = Carried(value: handler)
        DispatchQueue.main.async { body(carried.value) }
    }
}
