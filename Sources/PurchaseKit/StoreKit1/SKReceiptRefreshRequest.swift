// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Asks a sandbox for a receipt that has expired. The value is a `Bool`.
public let SKReceiptPropertyIsExpired: String = "expired"
/// Asks a sandbox for a receipt that was revoked. The value is a `Bool`.
public let SKReceiptPropertyIsRevoked: String = "revoked"
/// Asks a sandbox for a receipt of a volume purchase. The value is a `Bool`.
public let SKReceiptPropertyIsVolumePurchase: String = "vpp"

/// Fetches the receipt from the store again.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skreceiptrefreshrequest)
///
/// The customer is asked first. A started request keeps itself alive until it ends
/// or is cancelled. Afterwards the receipt is at `Device.default.receiptURL`.
open class SKReceiptRefreshRequest: SKRequest {
    private let properties: [String: Any]?
    private var run: ReceiptRun

    /// Makes a request. This store makes no expired, revoked or volume receipts: a
    /// request for one fails in a sandbox, and production ignores the properties.
    public init(receiptProperties properties: [String: Any]?) {
        self.properties = properties
        run = ReceiptRun(device: nil)
        super.init()
    }

    /// Makes a request without properties.
    public override init() {
        properties = nil
        run = ReceiptRun(device: nil)
        super.init()
    }

    /// Like `init(receiptProperties:)`, for a device other than the process's own.
    public convenience init(receiptProperties properties: [String: Any]?, device: Device) {
        self.init(receiptProperties: properties)
        run = ReceiptRun(device: device)
    }

    open var receiptProperties: [String: Any]? { properties }

    open override func start() {
        let asked = (receiptProperties ?? [:]).filter { property in
            (property.value as? Bool ?? (property.value as? NSNumber)?.boolValue) == true
        }
        run.start(for: self, properties: asked.keys.sorted())
    }

    open override func cancel() {
        run.cancel()
    }
}

/// Ends the process, because the app found no valid receipt: with exit status 173,
/// as apps on macOS do.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skterminateforinvalidreceipt())
public func SKTerminateForInvalidReceipt() {
    exit(173)
}

/// One run of a receipt request. A class with a lock: the app's thread starts and
/// cancels it, and the callback queue ends it.
final class ReceiptRun: @unchecked Sendable {
    private let device: Device?
    private let lock = NSLock()
    private var isOver = false
    private var task: Task<Void, Never>?
    private var request: SKReceiptRefreshRequest?

    init(device: Device?) {
        self.device = device
    }

    func start(for request: SKReceiptRefreshRequest, properties: [String]) {
        let device = device ?? Device.default
        lock.withLock {
            guard task == nil, !isOver else { return }
            self.request = request
            task = Task {
                let failure = await device.refreshReceipt(properties: properties)
                device.ports.callbacks { self.end(failure) }
            }
        }
    }

    func cancel() {
        _ = finish()
        lock.withLock { task }?.cancel()
    }

    /// Returns the request, unless it was cancelled or has ended. The caller
    /// releases it outside the lock.
    private func finish() -> SKReceiptRefreshRequest? {
        lock.withLock {
            defer { (isOver, request) = (true, nil) }
            return request
        }
    }

    private func end(_ failure: PaymentFailure?) {
        guard let request = finish() else { return }
        let delegate = request._delegateBox as? any SKRequestDelegate
        if let failure {
            delegate?.request(request, didFailWithError: failure.requestError)
        } else {
            delegate?.requestDidFinish(request)
        }
    }
}
