// SPDX-License-Identifier: Apache-2.0

public import Foundation
import StoreWire

/// Whether the store shows a promoted product on this device.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skproductstorepromotionvisibility)
public enum SKProductStorePromotionVisibility: Int, Sendable {
    case `default`, show, hide

    fileprivate var word: String {
        switch self {
        case .default: "default"
        case .show: "show"
        case .hide: "hide"
        }
    }
}

/// Changes which promoted products the store shows to the customer of this device, and
/// in which order.
///
/// The changes are of this device and its customer, and are not synchronised with other
/// devices. Fetching returns them alone: `.default` and an empty order where the app has
/// changed nothing. A product that the app does not have fails with
/// `storeProductNotAvailable`. Completion handlers are called on the main queue.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skproductstorepromotioncontroller)
open class SKProductStorePromotionController: NSObject, @unchecked Sendable {
    private static let ofProcess = SKProductStorePromotionController()

    private var ownDevice: Device?

    public override init() {
        super.init()
    }

    /// The controller of a device other than the process's own.
    public convenience init(device: Device) {
        self.init()
        ownDevice = device
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

    private var device: Device { ownDevice ?? Device.default }

    /// Fetches whether this device shows a product: `.default` if the store decides.
    open func fetchStorePromotionVisibility(
        for product: SKProduct,
        completionHandler: ((SKProductStorePromotionVisibility, (any Error)?) -> Void)? = nil
    ) {
        let (device, id) = (device, product.productIdentifier)
        Later.call(completionHandler, on: device) { () throws(DeviceFault) in
            try await Self.visibility(of: id, device)
        } then: { handler, visibility, error in
            handler(visibility ?? .default, error)
        }
    }

    open func promotionVisibility(
        for product: SKProduct
    ) async throws -> SKProductStorePromotionVisibility {
        let (device, id) = (device, product.productIdentifier)
        do { return try await Self.visibility(of: id, device) } catch {
            throw error.promotionError
        }
    }

    /// Sets whether this device shows a product. `.default` ends the override.
    open func update(
        storePromotionVisibility promotionVisibility: SKProductStorePromotionVisibility,
        for product: SKProduct, completionHandler: (((any Error)?) -> Void)? = nil
    ) {
        let (device, request) = (device, Self.request(promotionVisibility, product))
        Later.call(completionHandler, on: device) { () throws(DeviceFault) in
            try await device.showPromotion(request)
        } then: { handler, _, error in
            handler(error)
        }
    }

    open func update(
        promotionVisibility: SKProductStorePromotionVisibility, for product: SKProduct
    ) async throws {
        let (device, request) = (device, Self.request(promotionVisibility, product))
        do { try await device.showPromotion(request) } catch { throw error.promotionError }
    }

    /// Fetches the order of this device: empty if the store's own one is used.
    open func fetchStorePromotionOrder(
        completionHandler: (([SKProduct], (any Error)?) -> Void)? = nil
    ) {
        let device = device
        Later.call(completionHandler, on: device) { () throws(DeviceFault) in
            try await device.promotionOrder()
        } then: { handler, products, error in
            handler((products ?? []).map(SKProduct.init(description:)), error)
        }
    }

    open func promotionOrder() async throws -> [SKProduct] {
        let device = device
        do {
            return try await device.promotionOrder().map(SKProduct.init(description:))
        } catch {
            throw error.promotionError
        }
    }

    /// Sets which promoted products come first on this device. The rest follow in the
    /// store's order. An empty list ends the override.
    open func update(
        storePromotionOrder promotionOrder: [SKProduct],
        completionHandler: (((any Error)?) -> Void)? = nil
    ) {
        let (device, ids) = (device, promotionOrder.map(\.productIdentifier))
        Later.call(completionHandler, on: device) { () throws(DeviceFault) in
            try await device.orderPromotions(ids)
        } then: { handler, _, error in
            handler(error)
        }
    }

    open func update(promotionOrder: [SKProduct]) async throws {
        let (device, ids) = (device, promotionOrder.map(\.productIdentifier))
        do { try await device.orderPromotions(ids) } catch { throw error.promotionError }
    }

    private static func request(
        _ visibility: SKProductStorePromotionVisibility, _ product: SKProduct
    ) -> PromotionVisibility {
        PromotionVisibility(productId: product.productIdentifier, visibility: visibility.word)
    }

    private static func visibility(
        of id: String, _ device: Device
    ) async throws(DeviceFault) -> SKProductStorePromotionVisibility {
        let known = try await device.promotionOverrides().visibilities
        return switch known.first(where: { $0.productId == id })?.visibility {
        case "show": .show
        case "hide": .hide
        default: .default
        }
    }
}

/// Calls an app's completion handler on the queue of callbacks.
enum Later {
    /// Carries a handler to another queue. The handler is called there once, and
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

    /// Does the work, and then calls the handler, if there is one, with the answer or the
    /// error.
    static func call<Handler, Answer: Sendable>(
        _ handler: Handler?, on device: Device,
        _ work: @escaping @Sendable () async throws(DeviceFault) -> Answer,
        then body: @escaping @Sendable (Handler, Answer?, (any Error)?) -> Void
    ) {
        let carried = Carried(value: handler)
        Task {
            let result: Result<Answer, DeviceFault>
            do throws(DeviceFault) { result = .success(try await work()) } catch {
                result = .failure(error)
            }
            device.ports.callbacks {
                guard let handler = carried.value else { return }
                switch result {
                case .success(let answer): body(handler, answer, nil)
                case .failure(let fault): body(handler, nil, fault.promotionError)
                }
            }
        }
    }
}
