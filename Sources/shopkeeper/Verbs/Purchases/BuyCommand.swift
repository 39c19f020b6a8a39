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
    @Option(name: .long, help: "The most seconds to wait for an answer.")
    var timeout = TimeLimit(60.0)
    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        guard quantity > 0, !product.isEmpty else {
            throw Failure(
                .usage, "quantityOutOfRange", "The quantity is out of range.",
                field: "--quantity", rule: "1 to 10")
        }
        let found = try store.store()
        let (device, files) = try device(found)
        let buyer = Buyer(device: device, files: files, finishes: !unfinished)
        let sold: String
        do {
            sold = try await buyer.buy(payment, timeout: timeout)
        } catch {
            await Self.close(device)
            throw error
        }
        let record = try await record(of: sold, found)
        await Self.close(device)
        try printing.show(record, "Bought \(quantity) × \(product), transaction \(sold).")
    }

    /// Waits for the device only for a moment, because it may wait for its disk.
    private static func close(_ device: Device) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let closing = Task {
            await device.close()
            end.finish()
        }
        let late = Task {
            try await Live.sleep(.seconds(2))
            end.finish()
        }
        for await _ in ends {}
        closing.cancel()
        late.cancel()
    }

    /// Returns the store's record of the transaction, once the store has also
    /// recorded the finish.
    private func record(of sold: String, _ found: RunningStore) async throws -> TransactionRecord {
        let end = Live.monotonic() + timeout.duration
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

    private func device(_ found: RunningStore) throws -> (Device, WatchedFiles) {
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
        var ports = DevicePorts.live(configuration)
        let files = WatchedFiles(ports.files)
        ports.files = files
        return (Device(configuration: configuration, ports: ports), files)
    }
}
