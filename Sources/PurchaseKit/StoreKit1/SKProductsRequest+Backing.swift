// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire

/// One run of a products request. A class with a lock: the app's thread starts
/// and cancels it, and the callback queue ends it.
///
/// While it runs, it holds the request and the request holds it, because many
/// apps start a request without keeping a reference to it.
final class ProductsRun: @unchecked Sendable {
    private let ids: Set<String>
    private let device: Device?
    private let lock = NSLock()
    private var isOver = false
    private var task: Task<Void, Never>?
    private var request: SKProductsRequest?

    init(ids: Set<String>, device: Device?) {
        self.ids = ids
        self.device = device
    }

    func start(for request: SKProductsRequest) {
        let device = device ?? Device.default
        lock.withLock {
            guard task == nil, !isOver else { return }
            self.request = request
            task = Task { [ids] in
                do throws(DeviceFault) {
                    let answer = try await device.products(ids: ids.sorted())
                    device.ports.callbacks { self.succeed(answer) }
                } catch {
                    device.ports.callbacks { self.fail(error) }
                }
            }
        }
    }

    func cancel() {
        _ = end()
        lock.withLock { task }?.cancel()
    }

    /// Returns the request, unless it was cancelled or has ended. The caller
    /// releases it outside the lock, because a subclass may cancel when it is
    /// deinitialised, which takes the lock again.
    private func end() -> SKProductsRequest? {
        lock.withLock {
            defer { (isOver, request) = (true, nil) }
            return request
        }
    }

    private func succeed(_ answer: ProductsResponse) {
        guard let request = end() else { return }
        let response = SKProductsResponse(
            products: answer.products.map(SKProduct.init(description:)),
            invalidProductIdentifiers: answer.invalid.map(\.id))
        // Retained here, because an app may release its delegate in the first
        // call.
        let delegate = request.delegate as (any SKProductsRequestDelegate)?
        delegate?.productsRequest(request, didReceive: response)
        if let delegate {
            delegate.requestDidFinish(request)
        } else {
            (request._delegateBox as? any SKRequestDelegate)?.requestDidFinish(request)
        }
    }

    private func fail(_ fault: DeviceFault) {
        guard let request = end() else { return }
        let delegate = request._delegateBox as? any SKRequestDelegate
        delegate?.request(request, didFailWithError: fault.requestError)
    }
}
