// SPDX-License-Identifier: Apache-2.0

import Commerce
import Dispatch
import Foundation
import Live
import PurchaseKit
import PurchaseKitTesting
import Shop
import StoreWire
import Synchronization

/// What the device's queue costs an app: the first delivery of many unfinished
/// transactions, and a call of `add`. Absolute numbers of this machine.
struct QueueBench {
    private let transactions = Brief.or(10_000, brief: 200)
    private let payments = Brief.or(1000, brief: 50)
    private static let bundleID: BundleID = "com.example.app"

    func run() async throws -> [String] {
        let shop = try await TestShop(BenchStore.catalogue, bundleID: Self.bundleID)
        let notes = try await deliver(shop) + [try await add(shop)]
        await shop.close()
        return notes
    }

    // MARK: The first delivery

    private func deliver(_ shop: TestShop) async throws -> [String] {
        let customer = try await shop.addCustomer("saver").customerId
        let start = try await shop.clock.now().adding(milliseconds: -1_000_000_000)
        for number in 0..<transactions {
            var request = PastPurchaseRequest(
                bundleId: Self.bundleID.value, productId: "com.example.coins",
                date: start.adding(milliseconds: Int64(number)))
            request.customer = customer
            request.isUnfinished = true
            _ = try await shop.realm.purchases.buyInPast(
                request, RequestContext(requestID: "bench"))
        }
        let device = try await shop.device(customer: "saver")
        let counter = Counter(transactions)
        let pulse = Pulse()
        let before = Self.residentBytes()
        let elapsed = await secondsAwaited {
            device.queue.add(counter)
            await counter.whenAll()
        }
        let after = Self.residentBytes()
        let gap = await pulse.stop()
        device.queue.remove(counter)
        await device.close()
        return [
            String(
                format: "first delivery of %d unfinished transactions: %.2f s, %.1f MiB more",
                transactions, elapsed, Double(after - before) / 1_048_576),
            String(
                format: "meanwhile the main queue was blocked for %.1f ms at most (asked: 50)%@",
                gap * 1000, gap < 0.05 ? "" : ": NOT MET"),
        ]
    }

    /// Counts what an observer receives.
    private final class Counter: NSObject, SKPaymentTransactionObserver, @unchecked Sendable {
        private let state = Mutex<Set<String>>([])
        private let count: Int
        private let (all, ended) = AsyncStream<Void>.makeStream()

        init(_ count: Int) { self.count = count }

        func paymentQueue(
            _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
        ) {
            let isAll = state.withLock { seen in
                seen.formUnion(transactions.compactMap(\.transactionIdentifier))
                return seen.count == count
            }
            if isAll { ended.finish() }
        }

        func whenAll() async { for await _ in all {} }
    }

    /// Beats on the main queue and notes the longest pause between two beats.
    private final class Pulse: @unchecked Sendable {
        private let timer = DispatchSource.makeTimerSource(queue: .main)
        private let state = Mutex<(last: ContinuousClock.Instant, longest: Duration)>(
            (.now, .zero))

        init() {
            timer.schedule(deadline: .now(), repeating: .milliseconds(1))
            timer.setEventHandler { [self] in beat() }
            timer.resume()
        }

        private func beat() {
            state.withLock { state in
                let now = ContinuousClock.now
                state.longest = max(state.longest, now - state.last)
                state.last = now
            }
        }

        /// Returns the longest pause, in seconds.
        func stop() async -> Double {
            await withCheckedContinuation { continuation in
                DispatchQueue.main.async {
                    self.beat()
                    self.timer.cancel()
                    continuation.resume(returning: self.state.withLock { $0.longest.inSeconds })
                }
            }
        }
    }

    private static func residentBytes() -> Int {
        (try? ProcessMemory("self").resident) ?? 0
    }

    // MARK: Adding

    /// How long `add` takes while the network and the disk stand still.
    private func add(_ shop: TestShop) async throws -> String {
        let gate = Mutex(false)
        let device = try await shop.device { ports in
            ports.transport = StandingTransport()
            ports.files = StandingFiles(ports.files) { gate.withLock { $0 } }
        }
        let observer = Counter(.max)
        device.queue.add(observer)
        gate.withLock { $0 = true }
        var latencies = Latencies()
        for _ in 0..<payments {
            let payment = SKMutablePayment()
            payment.productIdentifier = "com.example.coins"
            let began = ContinuousClock.now
            device.queue.add(payment)
            latencies.add([(ContinuousClock.now - began).inSeconds])
        }
        gate.withLock { $0 = false }
        await device.close()
        withExtendedLifetime(observer) {}
        let worst = latencies.percentile(1)
        return String(
            format: "add(payment), network and disk standing: %@, longest %.3f ms (asked: 1)%@",
            latencies.line, worst * 1000, worst < 0.001 ? "" : ": NOT MET")
    }

    /// A network on which nothing arrives until the call is cancelled.
    private struct StandingTransport: StoreTransport {
        func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply {
            do { try await Live.sleep(.seconds(3600)) } catch {}
            throw .unknown(URLError(.cancelled))
        }
    }

    /// A disk whose writes wait while it stands.
    private struct StandingFiles: DeviceFiles {
        private let files: any DeviceFiles
        private let stands: @Sendable () -> Bool

        init(_ files: any DeviceFiles, _ stands: @escaping @Sendable () -> Bool) {
            (self.files, self.stands) = (files, stands)
        }

        func read(_ name: String) throws -> [UInt8]? { try files.read(name) }

        func replace(_ changed: [DeviceFile]) throws {
            while stands() { usleep(1000) }
            try files.replace(changed)
        }

        func withLock<Result>(_ body: () throws -> Result) throws -> Result {
            try files.withLock(body)
        }

        func claim(launch: String) throws { try files.claim(launch: launch) }

        func release(launch: String) { files.release(launch: launch) }

        func isClaimed(launch: String) -> Bool { files.isClaimed(launch: launch) }

        func url(of name: String) -> URL? { files.url(of: name) }
    }
}
