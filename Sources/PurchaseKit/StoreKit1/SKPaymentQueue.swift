// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Synchronization

/// The queue of payments between the app and the store.
/// [Apple's page](https://developer.apple.com/documentation/storekit/skpaymentqueue)
///
/// It is durable: payments and unfinished transactions are in a file, and
/// unfinished ones are delivered again at each launch. It works while at least
/// one observer is attached. Observers are called on the main queue and held
/// weakly.
open class SKPaymentQueue: NSObject, @unchecked Sendable {
    private static let ofProcess = SKPaymentQueue()

    private var ownDevice: Device?
    /// Whether an observer without the method was asked about a payment that began
    /// outside of the app.
    let isStorePaymentUnhandled = Mutex(false)

    /// Decides about payments under way. Held weakly. Only a queue with an observer
    /// asks its delegate.
    weak open var delegate: (any SKPaymentQueueDelegate)?

    /// Makes the process's own queue, like ``default()``.
    ///
    /// It is the only designated initializer, as on Apple's platforms, so that a
    /// subclass need not call it.
    public override init() {
        super.init()
    }

    /// The queue of a device other than the process's own.
    public convenience init(device: Device) {
        self.init()
        ownDevice = device
    }

    /// Returns the process's queue, configured in code
    /// (``Device/configureDefault(_:)``) or, in debug builds, by the
    /// environment.
    open class func `default`() -> Self {
        guard let queue = Self.ofProcess as? Self else {
            preconditionFailure("default() is asked of SKPaymentQueue itself, not of a subclass")
        }
        return queue
    }

    /// Whether this device and its customer are allowed to buy.
    open class func canMakePayments() -> Bool {
        Device.default.canMakePayments
    }

    /// The customer's storefront. If no answer of the store has named it yet, this
    /// asks the store and blocks until the answer, for five seconds at most. Nil if
    /// there is none.
    open var storefront: SKStorefront? { device.awaitedStorefront().map(SKStorefront.init) }

    /// Copies the payment and adds it to the queue. Adding the same payment
    /// twice makes two transactions and two charges. A quantity below 1 or an
    /// empty product id is a programming error.
    open func add(_ payment: SKPayment) { _ = addForKey(payment) }

    /// Removes a transaction from the queue permanently. What was bought must
    /// be unlocked and saved before. Finishing a transaction that is
    /// `.purchasing` is a programming error.
    open func finishTransaction(_ transaction: SKPaymentTransaction) {
        precondition(
            transaction.transactionState != .purchasing,
            "a transaction that is .purchasing cannot be finished: wait for its outcome")
        device.finish(key: transaction.backing.facts.key)
    }

    /// Delivers again what this customer has bought for good. Observers receive
    /// each non-consumable and each period of an auto-renewable subscription as a
    /// new transaction that is `.restored`, and then exactly one of
    /// `paymentQueueRestoreCompletedTransactionsFinished(_:)` and
    /// `paymentQueue(_:restoreCompletedTransactionsFailedWithError:)`. Before that
    /// the receipt is fetched again. The customer is asked first, so call this when
    /// the customer wants it, and not at each launch.
    ///
    /// Consumables, non-renewing subscriptions, revoked transactions, and those that
    /// are not finished are not restored. Each restored transaction must be finished.
    open func restoreCompletedTransactions() { device.restore(username: nil) }

    /// Like ``restoreCompletedTransactions()``, but only what was bought with this
    /// `applicationUsername`. The store keeps a name that is a UUID. With any other
    /// name, what was bought without a UUID is restored.
    open func restoreCompletedTransactions(withApplicationUsername username: String?) {
        device.restore(username: username)
    }

    /// Asks the customer for the code of an offer. The store names its product, and
    /// the payment then takes its usual way. A code that is not valid is reported to
    /// the customer only. A payment sheet that cannot ask does nothing.
    open func presentCodeRedemptionSheet() { device.redeemCode() }

    /// Asks the customer about a higher price of a subscription, if one waits for
    /// consent. Without consent, the subscription ends when the price applies. The
    /// queue asks by itself at each launch, unless its delegate's
    /// `paymentQueueShouldShowPriceConsent(_:)` returns `false`.
    open func showPriceConsentIfNeeded() { device.showPriceConsent() }

    /// Starts downloads of transactions that are `.purchased` or `.restored` and not
    /// finished, some at once and the others in order. Observers are notified of their
    /// progress. A download that has failed, or was paused or cancelled, is started
    /// again, and goes on where it was unless it was cancelled. A download of another
    /// queue, or of a finished transaction, fails with `clientInvalid`.
    open func start(_ downloads: [SKDownload]) {
        command(.started, downloads)
        let others = downloads.filter { !device.backing.holds($0) }
        guard !others.isEmpty else { return }
        device.backing.report(
            others,
            PaymentFailure(
                .notSetUp,
                "The download is of another queue, or of a transaction that is finished. Start "
                    + "the downloads of this queue's transactions before finishing them."))
    }
    /// Stops downloads, and keeps what has arrived.
    open func pause(_ downloads: [SKDownload]) { command(.paused, downloads) }
    /// Like ``start(_:)``.
    open func resume(_ downloads: [SKDownload]) { start(downloads) }
    /// Stops downloads, and removes what has arrived.
    open func cancel(_ downloads: [SKDownload]) { command(.cancelled, downloads) }

    private func command(_ event: DownloadMachine.Event, _ downloads: [SKDownload]) {
        let device = device
        let keys = downloads.filter { device.backing.holds($0) }.compactMap(\.key)
        if !keys.isEmpty { device.command(event, keys) }
    }

    /// Adds an observer, which is held weakly. The first one after a launch
    /// receives all unfinished transactions, a later one only the changes from
    /// then on.
    open func add(_ observer: any SKPaymentTransactionObserver) {
        device.backing.attach(observer, to: self)
        device.listenersChanged()
    }

    open func remove(_ observer: any SKPaymentTransactionObserver) {
        device.backing.detach(observer)
        device.listenersChanged()
    }

    /// The observers that still exist.
    open var transactionObservers: [any SKPaymentTransactionObserver] {
        device.backing.observers
    }

    /// The transactions that were reported to observers and are not finished.
    /// Empty before an observer is added.
    open var transactions: [SKPaymentTransaction] {
        device.backing.transactions
    }

    /// The device behind this queue.
    var device: Device { ownDevice ?? Device.default }
}

extension SKPaymentQueue {
    /// Like `add`. Returns the key of the payment's transaction.
    package func addForKey(_ payment: SKPayment) -> String {
        let contents = payment.snapshot
        precondition(contents.quantity > 0, "a payment's quantity is 1 or more")
        precondition(!contents.productID.isEmpty, "a payment names a product")
        // A choice outside of the app is one payment. Another one is the app's own.
        payment.contents.intentID = nil
        return device.add(contents)
    }
}
