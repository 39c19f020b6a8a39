// SPDX-License-Identifier: Apache-2.0

import CSyncCounter
import Foundation
import PurchaseKit
import PurchaseKitTesting
import Shop
import Storage
import StorageSQLite
import StoreWire
import Synchronization
import TestSupport
import Testing

/// What one sandbox purchase costs, counted.
@Suite(.timeLimit(.minutes(5))) struct CountTests {
    @Test func `a purchase keeps to its budget at the store and on the device`() async throws {
        #expect(sync_counter_register() == 0)
        let tally = Tally()
        let shop = try await TestShop.monkeys {
            $0.places = nil
            $0.databases = SQLiteOptions(observer: tally, vfs: String(cString: sync_counter_name))
            $0.notifies = false
            $0.log = ShopLog { _, message, _ in tally.note(message) }
        }
        var options = TestDevice.Options()
        options.transactionsWaitSeconds = 0
        let device = try await shop.device(options: options) { ports in
            ports.transport = CountingTransport(transport: ports.transport, tally: tally)
            ports.files = CountingFiles(files: ports.files, tally: tally)
        }
        let folder = device.folder.deletingLastPathComponent().path + "/store"
        try await device.buy("credits.10")
        _ = try await device.heard.first(.purchased)
        let payment = SKPayment(product: try #require(try await device.products("credits.5").first))
        let syncs = sync_counter_value(folder)
        tally.reset()

        device.queue.add(payment)
        _ = try await device.heard.all(.purchased, count: 2)

        #expect(tally.count("commit") == 1)
        #expect(sync_counter_value(folder) - syncs == 1)
        #expect(tally.count("statement") <= 8)
        #expect(tally.count("transaction signed") == 1)
        #expect(tally.count("receipt signed") == 1)
        #expect(tally.calls == ["PUT", "GET"])
        #expect(tally.count("durable point") == 2)
        #expect(tally.count("exchange") == 1)
    }
}

/// Counts what is done, by a word. A class, because all that is counted shares it.
final class Tally: StorageObserver {
    private let state = Mutex<[String]>([])

    var calls: [String] {
        state.withLock { $0.filter { ["PUT", "GET", "POST"].contains($0) } }
    }

    func count(_ word: String) -> Int { state.withLock { $0.count { $0 == word } } }
    func note(_ word: String) { state.withLock { $0.append(word) } }
    func reset() { state.withLock { $0 = [] } }

    func didRun(_ statement: Statement) { note("statement") }
    func didCommit() { note("commit") }
}

struct CountingTransport: StoreTransport {
    let transport: any StoreTransport
    let tally: Tally

    func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply {
        tally.note(call.route.method)
        return try await transport.send(call)
    }
}

struct CountingFiles: DeviceFiles {
    let files: any DeviceFiles
    let tally: Tally

    func replace(_ replaced: [DeviceFile]) throws {
        tally.note("durable point")
        try files.replace(replaced)
    }

    func exchange(_ file: DeviceFile) throws {
        tally.note("exchange")
        try files.exchange(file)
    }

    func read(_ name: String) throws -> [UInt8]? { try files.read(name) }
    func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        try files.withLock(body)
    }
    func claim(launch: String) throws { try files.claim(launch: launch) }
    func release(launch: String) { files.release(launch: launch) }
    func isClaimed(launch: String) -> Bool { files.isClaimed(launch: launch) }
    func url(of name: String) -> URL? { files.url(of: name) }
}
