// SPDX-License-Identifier: Apache-2.0

import Commerce
public import Dispatch
public import Foundation
import Live
public import PurchaseKit
import SignedData
import Synchronization

/// A device of a ``TestShop``, with the app installed: the app's code under
/// test takes its ``queue`` in place of `SKPaymentQueue.default()`.
///
/// A class, because it is launched again and again over one folder.
public final class TestDevice: Sendable {
    /// How a device is set up.
    public struct Options: Sendable {
        public var appVersion = "1.0"
        /// Whether payments are forbidden on it.
        public var isRestricted = false
        /// How long it waits at the store for news of other devices; 0 asks
        /// once for each launch, and then leaves the store alone.
        public var transactionsWaitSeconds = 50
        /// Where observers are called, in order: the main queue, as StoreKit
        /// does it, which a test must not block.
        public var callbackQueue = DispatchQueue.main

        public init() {}
    }

    private struct Launch {
        var device: Device
        var queue: SKPaymentQueue
        var heard: TransactionLog
    }

    public let sheet: TestSheet
    /// Where its queue file and receipt lie.
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

    /// The payment queue of the present launch.
    public var queue: SKPaymentQueue { launch.withLock { $0.queue } }
    /// The engine of the present launch, for `SKProductsRequest(productIdentifiers:device:)`.
    public var device: Device { launch.withLock { $0.device } }
    /// What the present launch's observers were told. It is an observer
    /// itself: looking at it starts the queue, as adding any observer does.
    public var heard: TransactionLog {
        let (queue, log) = launch.withLock { ($0.queue, $0.heard) }
        log.listen(to: queue)
        return log
    }

    /// Ends the app and starts it again: another queue, the same files. What
    /// was not finished is delivered again to the first observer.
    public func restart() async {
        await device.close()
        let next = Self.launched(configuration, ports, deviceOptions)
        launch.withLock { $0 = next }
    }

    /// What the store says of products, in no particular order. Ids that it
    /// does not sell are left out.
    public func products(_ ids: String...) async throws -> [SKProduct] {
        try await ProductsQuestion.ask(Set(ids), device)
    }

    /// Asks for a product and adds a payment for it, as an app would. The
    /// outcome is told to observers. Throws where the store sells no such product.
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

    /// The bytes of the receipt on this device; nil before there is one.
    public func receipt() throws -> [UInt8]? {
        guard let url = device.receiptURL else { return nil }
        return Array(try Data(contentsOf: url))
    }

    /// Ends it for good.
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

    /// Waits between tries are a hundredth of what they are in earnest.
    private static func ports(
        _ shop: TestShop, _ number: UInt64, _ folder: URL, _ sheet: TestSheet,
        _ options: Options, _ change: @Sendable (inout DevicePorts) -> Void
    ) -> DevicePorts {
        let queue = options.callbackQueue
        var ports = DevicePorts(
            transport: FaultyTransport(
                base: ShopTransport(sleep: { try await Live.sleep($0) }) {
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
