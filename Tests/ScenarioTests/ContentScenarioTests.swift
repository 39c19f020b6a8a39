// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKit
import PurchaseKitTesting
import StoreKit
import StoreWire
import Synchronization
import TestSupport
import Testing

/// Hosted content from the store's folder to an app, through a real HTTP server.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct ContentScenarioTests {
    /// Starts each download, and keeps what it hears.
    final class Player: NSObject, SKPaymentTransactionObserver, @unchecked Sendable {
        private let lock = NSLock()
        private var found: [SKDownload] = []
        private var states: [SKDownloadState] = []

        /// The last one that was reported.
        var download: SKDownload? { lock.withLock { found.last } }
        var seen: [SKDownloadState] { lock.withLock { states } }

        func paymentQueue(
            _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
        ) {
            for transaction in transactions { queue.start(transaction.downloads) }
        }

        func paymentQueue(_ queue: SKPaymentQueue, updatedDownloads downloads: [SKDownload]) {
            lock.withLock {
                found += downloads
                states += downloads.map(\.state)
            }
        }

        func wait(for state: SKDownloadState) async throws -> SKDownload {
            await until("a download that is \(state)", seen: "\(seen)") { seen.last == state }
            return try #require(download)
        }
    }

    private let folder: TemporaryFolder

    init() throws { folder = try temporaryFolder() }

    private func shop() async throws -> TestShop {
        try await .selling([.named("caves", ProductKind(.nonConsumable), price: 990)])
    }

    /// A package of half a megabyte that does not compress.
    private func upload(_ version: String, to shop: TestShop) async throws {
        let package = folder.file("package-\(version)")
        try FileManager.default.createDirectory(
            atPath: package + "/Contents", withIntermediateDirectories: true)
        let info = """
            <plist version="1.0"><dict><key>ContentVersion</key><string>\(version)</string>
            <key>IAPProductIdentifier</key><string>caves</string></dict></plist>
            """
        try Data(info.utf8).write(to: URL(fileURLWithPath: package + "/ContentInfo.plist"))
        var generator = SeededGenerator(7)
        let noise = (0..<65_536).map { _ in generator.next() }
        try noise.withUnsafeBytes { Data($0) }
            .write(to: URL(fileURLWithPath: package + "/Contents/noise"))
        try Data("map \(version)".utf8)
            .write(to: URL(fileURLWithPath: package + "/Contents/map.txt"))
        try await shop.addContent(folder: package)
    }

    private func map(_ download: SKDownload) throws -> String {
        let url = try #require(download.contentURL)
        return try String(contentsOf: url.appending(path: "Contents/map.txt"), encoding: .utf8)
    }

    /// A new launch of a device whose last one ended in the middle of a transfer.
    private func cutHalfWay(_ shop: TestShop, _ served: ServedShop) async throws -> TestDevice {
        let device = try await served.device()
        shop.wire.fail(.contentBytes, .cutOff)
        shop.wire.fail(.content, .late(milliseconds: 0))
        // Until the end of the launch.
        shop.wire.fail(.content, .late(milliseconds: 60_000))
        let first = Player()
        device.queue.add(first)
        try await device.buy("caves")
        await until("a transfer that was cut", seen: "\(first.seen)") {
            shop.wire.count(.contentBytes) == 1
        }
        await device.restart()
        return device
    }

    /// Downloads what the launch finds or buys.
    private func play(_ device: TestDevice, buying product: String? = nil) async throws
        -> SKDownload
    {
        let player = Player()
        device.queue.add(player)
        if let product { try await device.buy(product) }
        return try await player.wait(for: .finished)
    }

    @Test func `a level goes from the operator to the app, over a bad network`() async throws {
        let shop = try await shop()
        try await upload("1.0", to: shop)
        try await ServedShop.with(shop) { served in
            let device = try await served.device()
            let product = try #require(try await device.products("caves").first)
            #expect(product.isDownloadable)
            #expect(product.downloadContentVersion == "1.0")
            let faults: [TestWire.Fault] = [
                .cutOff, .notSent, .trickle(milliseconds: 5), .unavailable, .cutOff,
                .trickle(milliseconds: 5),
            ]
            for fault in faults {
                shop.wire.fail(.contentBytes, fault)
            }
            shop.wire.fail(.content, .answerLost)

            let download = try await play(device, buying: "caves")

            #expect(try map(download) == "map 1.0")
            #expect(download.contentLength == product.downloadContentLengths.first?.int64Value)
            device.queue.finishTransaction(download.transaction)
            try await device.heard.removed(count: 1)
            #expect(download.contentURL == nil)
        }
    }

    @Test func `something else that answers in the middle is not delivered`() async throws {
        let shop = try await shop()
        try await upload("1.0", to: shop)
        try await ServedShop.with(shop) { served in
            let device = try await served.device()
            shop.wire.fail(.contentBytes, .cutOff)
            shop.wire.fail(.contentBytes, .garbage)

            let download = try await play(device, buying: "caves")

            #expect(try map(download) == "map 1.0")
        }
    }

    @Test func `a launch goes on with the version that was begun`() async throws {
        let shop = try await shop()
        try await upload("1.0", to: shop)
        try await ServedShop.with(shop) { served in
            let device = try await cutHalfWay(shop, served)
            try await upload("1.1", to: shop)
            shop.wire.mend()

            let download = try await play(device)

            #expect(try map(download) == "map 1.0")
            #expect(download.contentVersion == "1.0")
        }
    }

    @Test(arguments: [true, false])
    func `a version that is removed half way`(hasNext: Bool) async throws {
        let shop = try await shop()
        try await upload("1.0", to: shop)
        try await ServedShop.with(shop) { served in
            let device = try await cutHalfWay(shop, served)
            if hasNext { try await upload("1.1", to: shop) }
            try await shop.removeContent("1.0", of: "caves")
            shop.wire.mend()
            let player = Player()
            device.queue.add(player)

            let download = try await player.wait(for: hasNext ? .finished : .failed)

            if hasNext {
                #expect(try map(download) == "map 1.1" && download.contentVersion == "1.1")
            } else {
                #expect(download.contentURL == nil)
                #expect(
                    download.error?.localizedDescription
                        == "The product has no content. Read the transactions again.")
            }
        }
    }

    @Test func `what was refunded is not delivered any more`() async throws {
        let shop = try await shop()
        try await upload("1.0", to: shop)
        try await ServedShop.with(shop) { served in
            var options = TestDevice.Options()
            options.transactionsWaitSeconds = 0
            let device = try await served.device(options: options)
            try await device.buy("caves")
            let bought = try await device.heard.first(.purchased)
            try await shop.refund(bought.transactionIdentifier ?? "")
            let player = Player()
            device.queue.add(player)
            device.queue.start(bought.downloads)

            let download = try await player.wait(for: .failed)

            #expect(download.contentURL == nil)
            #expect(shop.wire.count(.contentBytes) == 0)
        }
    }

    @Test func `a second device restores the level`() async throws {
        let shop = try await shop()
        try await upload("1.0", to: shop)
        try await ServedShop.with(shop) { served in
            let first = try await served.device()
            try await first.buy("caves")
            let bought = try await first.heard.first(.purchased)
            first.queue.finishTransaction(bought)
            try await until("the store has the finish") {
                try await shop.records().allSatisfy(\.isFinished)
            }
            let second = try await served.device()
            _ = try await second.restore()

            let restored = try #require(second.queue.transactions.first)
            let player = Player()
            second.queue.add(player)
            second.queue.start(restored.downloads)
            let download = try await player.wait(for: .finished)

            #expect(try map(download) == "map 1.0")
            #expect(download.transaction.transactionState == .restored)
        }
    }
}
