// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The queue of payments between the app and the store.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skpaymentqueue)
///
/// It lasts: payments and unfinished transactions are in a file, and
/// unfinished ones are delivered again at each launch. It works while at
/// least one observer is attached. Observers are called on the main queue and
/// held weakly.
open class SKPaymentQueue: NSObject, @unchecked Sendable {
    private let ownDevice: Device?

    /// The process's own queue, as ``default()`` answers it.
    public override init() {
        ownDevice = nil
        super.init()
    }

    /// The queue of a device other than the process's own.
    public init(device: Device) {
        ownDevice = device
        super.init()
    }

    /// The process's queue, set up from code (``Device/configureDefault(_:)``)
    /// or, in debug builds, from the environment.
    open class func `default`() -> Self {
        guard let queue = DefaultDevice.queue as? Self else {
            preconditionFailure("default() is asked of SKPaymentQueue itself, not of a subclass")
        }
        return queue
    }

    /// Whether this device and its customer may buy.
    open class func canMakePayments() -> Bool {
        Device.default.canMakePayments
    }

    /// Copies the payment and queues it. The same payment twice is two
    /// transactions and two charges. A quantity below 1 or an empty product
    /// id is a programming error.
    open func add(_ payment: SKPayment) {
        let contents = payment.snapshot
        precondition(contents.quantity > 0, "a payment's quantity is 1 or more")
        precondition(!contents.productID.isEmpty, "a payment names a product")
        device.add(contents)
    }

    /// Takes a transaction off the queue, for good: what was bought must be
    /// unlocked and saved before. Finishing one that is `.purchasing` is a
    /// programming error.
    open func finishTransaction(_ transaction: SKPaymentTransaction) {
        precondition(
            transaction.transactionState != .purchasing,
            "a transaction that is .purchasing cannot be finished: wait for its outcome")
        device.finish(key: transaction.backing.facts.key)
    }

    /// Adds an observer, held weakly. The first one after a launch hears all
    /// unfinished transactions; a later one hears what changes from then on.
    open func add(_ observer: any SKPaymentTransactionObserver) {
        device.backing.attach(observer, to: self)
        device.observersChanged()
    }

    open func remove(_ observer: any SKPaymentTransactionObserver) {
        device.backing.detach(observer)
        device.observersChanged()
    }

    /// The observers that still live.
    open var transactionObservers: [any SKPaymentTransactionObserver] {
        device.backing.observers
    }

    /// What observers were told of and did not finish. Empty before an observer is added.
    open var transactions: [SKPaymentTransaction] {
        device.backing.transactions
    }

    /// The device behind this queue.
    var device: Device { ownDevice ?? Device.default }
}
