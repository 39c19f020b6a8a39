// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKit
import StoreWire
import Synchronization

/// A device in a process of its own, which buys a product and downloads its content.
struct FetchingProcess {
    /// From the start of the download until the app has the content.
    let seconds: Double
    /// Of this, from the first request for the bytes until the last one was in the file.
    let transfer: Double
    /// The most memory that was resident.
    let peak: Int

    /// Runs the device in a child of this program, in a folder that is removed afterwards.
    init(
        port: UInt16, customer: Int, product: String, in folder: URL, unpacks: Bool = true
    ) throws {
        let device = folder.appendingPathComponent("device-\(customer)")
        defer { try? FileManager.default.removeItem(at: device) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [
            "fetch", "\(port)", device.path, "customer-\(customer)", product,
            unpacks ? "folder" : "zip",
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let numbers = String(decoding: answer, as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .compactMap { Double($0) }
        guard process.terminationStatus == 0, numbers.count == 3 else {
            throw ClientFailure("a device did not download \(product)")
        }
        (seconds, transfer, peak) = (numbers[0], numbers[1], Int(numbers[2]))
    }

    /// The process itself: `bench fetch PORT FOLDER CUSTOMER PRODUCT folder|zip`. Prints
    /// the seconds of all and of the transfers, and what it held at most.
    static func fetch(_ arguments: [String]) async throws {
        guard let url = URL(string: "http://127.0.0.1:\(arguments[0])") else {
            throw ClientFailure("fetch PORT FOLDER CUSTOMER PRODUCT folder|zip")
        }
        var configuration = DeviceConfiguration(
            storeURL: url, bundleID: "com.example.app",
            folder: URL(fileURLWithPath: arguments[1]), sheet: .confirm)
        configuration.customer = arguments[2]
        configuration.trustsFirstContact = true
        configuration.contentForm = arguments[4] == "zip" ? .zip : .folder
        var ports = DevicePorts.live(configuration)
        let transport = TimedTransport(ports.transport)
        ports.transport = transport
        let player = Player()
        let queue = SKPaymentQueue(
            device: Device(configuration: configuration, ports: ports))
        queue.add(player)
        let payment = SKMutablePayment()
        payment.productIdentifier = arguments[3]
        queue.add(payment)
        let seconds = try await player.end()
        withExtendedLifetime(queue) {}
        print(seconds, transport.seconds, try ProcessMemory("self").peak)
    }

    /// Starts the download of what is bought, and measures it.
    private final class Player: NSObject, SKPaymentTransactionObserver, @unchecked Sendable {
        private let (outcomes, outcome) = AsyncStream<Result<Double, ClientFailure>>.makeStream()
        /// Only the main queue uses it.
        private var began: ContinuousClock.Instant?

        func end() async throws -> Double {
            for await outcome in outcomes { return try outcome.get() }
            throw ClientFailure("a device ended early")
        }

        func paymentQueue(
            _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
        ) {
            for transaction in transactions {
                switch transaction.transactionState {
                case .purchased where began == nil:
                    began = .now
                    queue.start(transaction.downloads)
                case .failed: fail(transaction.error)
                default: break
                }
            }
        }

        func paymentQueue(_ queue: SKPaymentQueue, updatedDownloads downloads: [SKDownload]) {
            for download in downloads {
                switch download.state {
                case .finished:
                    guard let began, download.contentURL != nil else { return fail(nil) }
                    outcome.yield(.success((ContinuousClock.now - began).inSeconds))
                case .failed, .cancelled: fail(download.error)
                default: break
                }
            }
        }

        private func fail(_ error: (any Error)?) {
            let text = error.map { "\($0.localizedDescription)" } ?? "there is no content"
            outcome.yield(.failure(ClientFailure(text)))
        }
    }
}

/// Measures the transfers of content.
private final class TimedTransport: StoreTransport {
    private let base: any StoreTransport
    private let times = Mutex<(first: ContinuousClock.Instant, last: ContinuousClock.Instant)?>(
        nil)

    init(_ base: any StoreTransport) { self.base = base }

    /// From the beginning of the first transfer to the end of the last one.
    var seconds: Double { times.withLock { $0.map { ($0.last - $0.first).inSeconds } ?? 0 } }

    func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply {
        try await base.send(call)
    }

    func fetch(
        _ fetch: ContentFetch, into sink: any ContentSink
    ) async throws(TransportFailure) -> Int {
        let now = ContinuousClock.now
        times.withLock { $0 = $0 ?? (now, now) }
        defer { times.withLock { $0?.last = .now } }
        return try await base.fetch(fetch, into: sink)
    }
}
