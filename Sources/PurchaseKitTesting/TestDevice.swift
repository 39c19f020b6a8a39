// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Dispatch
public import Foundation
import Live
public import PurchaseKit
import SignedData
import Synchronization

/// A device of a ``TestShop`` with the app installed. The app's code under test
/// uses its ``queue`` in place of `SKPaymentQueue.default()`.
///
/// A class, because it is launched repeatedly with one folder.
public final class TestDevice: Sendable {
    /// The settings of a device.
    public struct Options: Sendable {
        public var appVersion = "1.0"
        /// Whether payments are forbidden on it.
        public var isRestricted = false
        /// How many seconds a request for new transactions waits at the store.
        /// With 0, the device asks once at each launch, and not again.
        public var transactionsWaitSeconds = 50
        /// The queue on which observers are called, in order. The default is
        /// the main queue, as in StoreKit. A test must not block it.
        public var callbackQueue = DispatchQueue.main

        public init() {}
    }

    private struct Launch {
        var device: Device
        var queue: SKPaymentQueue
        var heard: TransactionLog
    }

    public let sheet: TestSheet
    /// The folder of its queue file and receipt.
    public let folder: URL
    private let configuration: DeviceConfiguration
    private let deviceOptions: Device.Options
    private let ports: DevicePorts
    private let launch: Mutex<Launch>

    init(
        shop: TestShop, number: UInt64, customer: String?, sheet: TestSheet, options: Options,
        change: @Sendable (inout DevicePorts) -> Void
    ) throws {
        self.sheet = sheet
        folder = URL(fileURLWithPath: shop.folder.file("device-\(number)"))
        configuration = try Self.configuration(shop, folder, customer, options)
        var device = Device.Options()
        device.transactionsWaitSeconds = options.transactionsWaitSeconds
        deviceOptions = device
        ports = Self.ports(shop, number, folder, sheet, options, change)
        launch = Mutex(Self.launched(configuration, ports, device))
    }

    /// The payment queue of the current launch.
    public var queue: SKPaymentQueue { launch.withLock { $0.queue } }
    /// The engine of the current launch, for
    /// `SKProductsRequest(productIdentifiers:device:)`.
    public var device: Device { launch.withLock { $0.device } }
    /// What the observers of the current launch were notified of. It is an
    /// observer itself, so reading this property starts the queue, like adding
    /// any observer.
    public var heard: TransactionLog {
        let (queue, log) = launch.withLock { ($0.queue, $0.heard) }
        log.listen(to: queue)
        return log
    }

    /// Ends the app and starts it again, with another queue and the same files.
    /// Unfinished transactions are delivered again to the first observer.
    public func restart() async {
        await device.close()
        let next = Self.launched(configuration, ports, deviceOptions)
        launch.withLock { $0 = next }
    }

    /// Requests products from the store. Returns them in no particular order,
    /// without ids that the store does not sell.
    public func products(_ ids: String...) async throws -> [SKProduct] {
        try await ProductsQuestion.ask(Set(ids), device)
    }

    /// Requests a product and adds a payment for it, as an app would. Observers
    /// are notified of the outcome. Throws if the store does not sell the
    /// product.
    public func buy(
        _ productID: String, quantity: Int = 1, applicationUsername: String? = nil,
        simulatesAskToBuy: Bool = false
    ) async throws {
        guard let product = try await products(productID).first else {
            throw SKError(.storeProductNotAvailable)
        }
        _ = heard
        let payment = SKMutablePayment(product: product)
        payment.quantity = quantity
        payment.applicationUsername = applicationUsername
        payment.simulatesAskToBuyInSandbox = simulatesAskToBuy
        queue.add(payment)
    }

    /// Restores what the customer has bought for good, as an app would. Returns the
    /// new transactions, which are not finished. Throws if the restore fails.
    public func restore(applicationUsername: String? = nil) async throws -> [SKPaymentTransaction] {
        let (log, queue) = (heard, queue)
        let before = (log.transactions(.restored).count, log.restoreEnds)
        queue.restoreCompletedTransactions(withApplicationUsername: applicationUsername)
        try await log.restoreEnded(count: before.1 + 1)
        return Array(log.transactions(.restored).dropFirst(before.0))
    }

    /// Returns the bytes of the receipt on this device. Nil if there is none
    /// yet.
    public func receipt() throws -> [UInt8]? {
        guard let url = device.receiptURL else { return nil }
        return Array(try Data(contentsOf: url))
    }

    /// Closes the device permanently.
    public func close() async { await device.close() }

    private static func launched(
        _ configuration: DeviceConfiguration, _ ports: DevicePorts, _ options: Device.Options
    ) -> Launch {
        let device = Device(configuration: configuration, ports: ports, options: options)
        return Launch(
            device: device, queue: SKPaymentQueue(device: device), heard: TransactionLog())
    }

    private static func configuration(
        _ shop: TestShop, _ folder: URL, _ customer: String?, _ options: Options
    ) throws -> DeviceConfiguration {
        guard let url = URL(string: DeviceConfiguration.defaultStoreURL) else {
            throw URLError(.badURL)
        }
        var configuration = DeviceConfiguration(
            storeURL: url, bundleID: shop.bundleID, folder: folder, root: shop.root)
        configuration.customer = customer
        configuration.appVersion = options.appVersion
        configuration.isRestricted = options.isRestricted
        return configuration
    }

    /// Waits between attempts are a hundredth of the real ones.
    private static func ports(
        _ shop: TestShop, _ number: UInt64, _ folder: URL, _ sheet: TestSheet,
        _ options: Options, _ change: @Sendable (inout DevicePorts) -> Void
    ) -> DevicePorts {
        let queue = options.callbackQueue
        var ports = DevicePorts(
            transport: FaultyTransport(
                base: ShopTransport(
                    sleep: { try await Live.sleep($0) },
                    store: { [weak shop] () throws(TransportFailure) in
                        guard let shop, shop.isReachable else {
                            throw .notSent(URLError(.cannotConnectToHost))
                        }
                        return shop.store
                    }
                ) {
                    [weak shop] () throws(TransportFailure) in
                    guard let shop, shop.isReachable else {
                        throw .notSent(URLError(.cannotConnectToHost))
                    }
                    return shop.realm
                }, wire: shop.wire),
            files: FolderDeviceFiles(folder: folder), sheet: sheet, wall: shop.wall.clock,
            randomness: shop.options.seed.map { .seeded(UInt64($0) << 32 | number) }
                ?? Live.randomness,
            sleep: { try await Live.sleep($0 / 100) },
            callbacks: { body in queue.async(execute: body) }, log: { _ in })
        change(&ports)
        return ports
    }
}
