// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Commerce
import Foundation
import Live
import PurchaseKit
import StoreWire

/// Buys as a device named `shopkeeper`, like an app.
struct BuyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "buy", abstract: "Buy a product and finish its transaction.")

    @Argument(help: "The product's id.") var product: String
    @Option(name: .long, help: "The quantity, 1 to 10.") var quantity = 1
    @Option(name: .long, help: "The customer who buys; default: the sandbox's own.")
    var customer: String?
    @Option(name: .long, help: "The app's own name for its user.") var username: String?
    @Flag(name: .long, help: "Do not finish: the app receives the transaction.")
    var unfinished = false
    @Flag(name: .long, help: "Ask for approval first (Ask to Buy): see `approve`.")
    var asksToBuy = false
    @Option(name: .long, help: "The most seconds to wait for an answer.") var timeout = 60.0
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        guard quantity > 0, !product.isEmpty else {
            throw Failure(
                .usage, "quantityOutOfRange", "The quantity is out of range.",
                field: "--quantity", rule: "1 to 10")
        }
        let found = try store.store()
        let device = try device(found)
        let buyer = Buyer(device: device, finishes: !unfinished)
        let sold: String
        do {
            sold = try await buyer.buy(payment, timeout: .seconds(timeout))
        } catch {
            await device.close()
            throw error
        }
        let record = try await record(of: sold, found)
        await device.close()
        try printing.show(record, "Bought \(quantity) × \(product), transaction \(sold).")
    }

    /// Returns the store's record of the transaction, once the store has also
    /// recorded the finish.
    private func record(of sold: String, _ found: RunningStore) async throws -> TransactionRecord {
        let end = Live.monotonic() + .seconds(timeout)
        while true {
            let record = try await found.operatorDoor.get(
                "/transactions/\(sold)", as: TransactionRecord.self)
            if record.isFinished || unfinished || Live.monotonic() > end { return record }
            try await Live.sleep(.milliseconds(5))
        }
    }

    private var payment: SKPayment {
        let payment = SKMutablePayment()
        payment.productIdentifier = product
        payment.quantity = quantity
        payment.applicationUsername = username
        payment.simulatesAskToBuyInSandbox = asksToBuy
        return payment
    }

    private func device(_ found: RunningStore) throws -> Device {
        guard let url = URL(string: found.url) else {
            throw Failure(.bug, "bug", "The run file's URL is invalid: \(found.url)")
        }
        var configuration = DeviceConfiguration(
            storeURL: url, bundleID: BundleID(found.run.bundleId),
            folder: URL(fileURLWithPath: found.run.data + "/devices/shopkeeper"),
            sheet: .confirm)
        configuration.customer = customer ?? Live.environment["SHOPKEEPER_CUSTOMER"]
        configuration.password = Live.environment["SHOPKEEPER_PASSWORD"]
        configuration.deviceName = "shopkeeper"
        configuration.trustsFirstContact = true
        return Device(configuration: configuration, ports: .live(configuration))
    }
}

/// The observer of one payment, which waits for its outcome.
private final class Buyer: NSObject, SKPaymentTransactionObserver, @unchecked Sendable {
    private let queue: SKPaymentQueue
    private let finishes: Bool
    private let outcomes: AsyncStream<Result<String, Failure>>
    private let continuation: AsyncStream<Result<String, Failure>>.Continuation
    private let lock = NSLock()
    /// The payment's own transaction, once it was reported.
    private var own: SKPaymentTransaction?
    /// The result, which is returned once the transaction has left the queue.
    private var outcome: Result<String, Failure>?

    init(device: Device, finishes: Bool) {
        queue = SKPaymentQueue(device: device)
        self.finishes = finishes
        (outcomes, continuation) = AsyncStream.makeStream()
        super.init()
    }

    /// Returns the transaction's number. Transactions of earlier payments in
    /// the queue are ignored: only the one that is first reported as
    /// `.purchasing` after the payment was added counts.
    func buy(_ payment: SKPayment, timeout: Duration) async throws -> String {
        queue.add(self)
        queue.add(payment)
        let continuation = continuation
        let late = Task {
            try await Live.sleep(timeout)
            continuation.yield(
                .failure(
                    Failure(
                        .no, "unanswered", "The store has not answered in \(timeout).",
                        rule: "the payment stays queued and is asked again",
                        remedy: "run the same command again later")))
        }
        defer {
            late.cancel()
            queue.remove(self)
        }
        for await outcome in outcomes { return try outcome.get() }
        throw Failure(.bug, "bug", "There was no outcome.")
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions {
            if transaction.transactionState == .purchasing {
                lock.withLock { if own == nil { own = transaction } }
            }
            let isOwn = lock.withLock { own === transaction }
            switch transaction.transactionState {
            case .purchased where isOwn: sold(transaction, queue)
            case .failed where isOwn: failed(transaction, queue)
            case .deferred where isOwn: continuation.yield(.failure(Self.deferred))
            // A failure from an earlier run that ended before finishing it.
            case .failed: queue.finishTransaction(transaction)
            default: break
            }
        }
    }

    func paymentQueue(
        _ queue: SKPaymentQueue, removedTransactions transactions: [SKPaymentTransaction]
    ) {
        for transaction in transactions where lock.withLock({ own === transaction }) {
            guard let outcome = lock.withLock({ outcome }) else { continue }
            continuation.yield(outcome)
        }
    }

    private func sold(_ transaction: SKPaymentTransaction, _ queue: SKPaymentQueue) {
        guard let id = transaction.transactionIdentifier else { return }
        guard finishes else {
            continuation.yield(.success(id))
            return
        }
        lock.withLock { outcome = .success(id) }
        queue.finishTransaction(transaction)
    }

    /// An approval may take hours, so the command does not wait. The payment
    /// stays queued.
    private static let deferred = Failure(
        .no, "deferred", "The purchase waits for approval.",
        rule: "the payment stays queued, and is delivered when it is approved",
        remedy: "`shopkeeper purchase list --waiting`, then `shopkeeper approve PURCHASE`")

    private func failed(_ transaction: SKPaymentTransaction, _ queue: SKPaymentQueue) {
        let error = transaction.error as? SKError
        let isNetwork = error?.userInfo[NSUnderlyingErrorKey] is URLError
        let failure =
            error?.storeRefusal.map { Failure(.no, WireError($0)) }
            ?? Failure(
                isNetwork ? .unavailable : .no, "purchaseFailed",
                transaction.error?.localizedDescription ?? "The purchase failed.")
        lock.withLock { outcome = .failure(failure) }
        queue.finishTransaction(transaction)
    }
}

extension WireError {
    /// Makes a failure with the store's own texts.
    fileprivate init(_ refusal: StoreRefusal) {
        self.init(
            code: refusal.code, message: refusal.message, field: refusal.field,
            rule: refusal.rule, remedy: refusal.remedy)
    }
}
