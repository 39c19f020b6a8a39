// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import PurchaseKit

/// The history beside the queue: a device reads on from it, and it decides
/// nothing about deliveries.
@Suite(.unforgiven, .timeLimit(.minutes(5)))
struct HistoryTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    @Test func `verified transactions are kept, finished ones too`() async throws {
        rig.store.sellElsewhere("credits.5")
        rig.store.sellElsewhere("credits.10")
        rig.store.state.withLock { $0.sales[0].isFinished = true }

        let app = rig.launch(observer: DiaryObserver(finishes: true))
        await app.observer.diary.wait(for: "removed credits.10")
        await rig.acknowledged()
        await rig.read(to: 2)
        await app.device.close()

        let record = try #require(rig.history())
        #expect(record.transactions.map(\.transactionID) == rig.ids(2))
        #expect(record.transactions.map(\.revision) == [1, 2])
        #expect(record.transactions.allSatisfy { $0.signedTransaction.count > 100 })
        #expect(app.observer.diary.lines.filter { $0.hasPrefix("purchased") }.count == 1)
    }

    @Test func `the next launch reads on`() async throws {
        rig.store.sellElsewhere("credits.5")
        rig.store.state.withLock { $0.sales[0].isFinished = true }
        let first = rig.launch()
        await rig.read(to: 1)
        await first.device.close()
        rig.store.sellElsewhere("credits.10")
        rig.store.state.withLock { $0.calls = [] }

        let second = rig.launch()
        await second.observer.diary.wait(for: "purchased credits.10")
        await rig.read(to: 2)
        await second.device.close()

        let asked = rig.store.state.withLock { $0.calls.first(where: \.isTransactions) }
        #expect(asked == .transactions(since: 1, waitSeconds: 0))
        #expect(rig.history()?.transactions.map(\.transactionID) == rig.ids(2))
    }

    @Test func `a purchase of this device is in the history once the store lists it`() async {
        let app = rig.launch(observer: DiaryObserver(finishes: true), waitSeconds: 50)
        app.add("credits.5")
        await app.observer.diary.wait(for: "removed credits.5")
        await rig.read(to: 1)
        await app.device.close()

        #expect(rig.history()?.transactions.map(\.transactionID) == rig.ids(1))
    }

    @Test(arguments: ["", "{", #"{"version":2,"treasure":"kept"}"#])
    func `a damaged history is read from the store again, and nothing is delivered twice`(
        text: String
    ) async throws {
        rig.store.sellElsewhere("credits.5")
        rig.store.sellElsewhere("credits.10")
        rig.store.state.withLock { $0.sales[0].isFinished = true }
        let first = rig.launch()
        await first.observer.diary.wait(for: "purchased credits.10")
        await rig.read(to: 2)
        await first.device.close()
        rig.files.state.withLock { $0.files[rig.historyName] = Array(text.utf8) }

        let second = rig.launch()
        await rig.read(to: 2)
        await second.observer.diary.wait(for: "purchased credits.10")
        await second.device.close()

        #expect(second.observer.diary.lines == ["purchased credits.10 2000000000000002"])
        #expect(rig.history()?.transactions.map(\.transactionID) == rig.ids(2))
        let aside = rig.files.state.withLock { state in
            state.files.filter { $0.key.hasPrefix("history-aside-") }.map(\.value)
        }
        #expect(aside == [Array(text.utf8)])
        #expect(rig.log.lines.filter { $0.contains("It is set aside as") }.count == 1)
    }

    /// The history must not hide from a new queue what the old one had.
    @Test func `a lost queue file is filled from the store in spite of the history`() async {
        rig.store.sellElsewhere("credits.10")
        let first = rig.launch()
        await first.observer.diary.wait(for: "purchased credits.10")
        await rig.read(to: 1)
        await first.device.close()
        rig.files.state.withLock { $0.files["queue.json"] = nil }

        let second = rig.launch()
        await second.observer.diary.wait(for: "purchased credits.10")
        await rig.read(to: 1)
        await second.device.close()
    }

    @Test func `a history that goes while the app runs is complete again`() async {
        rig.store.sellElsewhere("credits.5")
        let app = rig.launch(waitSeconds: 50)
        await app.observer.diary.wait(for: "purchased credits.5")
        await rig.read(to: 1)
        rig.files.state.withLock { $0.files[rig.historyName] = nil }

        rig.store.sellElsewhere("credits.10")
        await app.observer.diary.wait(for: "purchased credits.10")
        await rig.read(to: 2)
        await app.device.close()

        #expect(rig.history()?.transactions.map(\.transactionID) == rig.ids(2))
        #expect(app.observer.diary.lines.count == 2)
    }

    @Test func `a restored store's history begins anew`() async {
        rig.store.sellElsewhere("credits.5")
        rig.store.sellElsewhere("credits.5")
        let first = rig.launch(observer: DiaryObserver(finishes: true))
        await first.observer.diary.wait(for: "removed", count: 2)
        await rig.acknowledged()
        await rig.read(to: 2)
        await first.device.close()
        rig.store.state.withLock {
            $0.generation = 2
            $0.sales.removeLast()
            $0.revision = 1
        }

        let second = rig.launch()
        await rig.read(to: 1, generation: 2)
        await second.device.close()

        #expect(rig.history(generation: 2)?.transactions.map(\.transactionID) == rig.ids(1))
        #expect(second.observer.diary.lines == [])
    }

    @Test func `customers have histories of their own`() async {
        rig.store.sellElsewhere("credits.5")
        let first = rig.launch()
        await first.observer.diary.wait(for: "purchased")
        await rig.read(to: 1)
        await first.device.close()
        rig.store.state.withLock {
            $0.customer = "1000000000002000"
            $0.sales = []
        }
        rig.store.sellElsewhere("credits.10")

        let second = rig.launch()
        await second.observer.diary.wait(for: "purchased credits.10")
        await rig.read(to: 2, customer: "1000000000002000")
        await second.device.close()

        #expect(rig.history()?.transactions.map(\.transactionID) == rig.ids(1))
        let other = rig.history("1000000000002000")?.transactions
        #expect(other?.map(\.transactionID) == ["2000000000000002"])
    }

    @Test func `what does not verify is asked for again, however much was read since`() async {
        rig.store.sellElsewhere("credits.5")
        rig.store.state.withLock {
            $0.forge = { payload in
                if payload.productId == "credits.5" { payload.bundleId = "com.example.other" }
            }
        }
        let first = rig.launch(waitSeconds: 50)
        await rig.log.wait(for: "A transaction is not delivered")
        rig.store.sellElsewhere("credits.10")
        await first.observer.diary.wait(for: "purchased credits.10")
        await until("the second page in the history") {
            rig.history()?.transactions.isEmpty == false
        }
        await first.device.close()
        rig.store.state.withLock { $0.forge = nil }

        let second = rig.launch()
        await second.observer.diary.wait(for: "purchased credits.5")
        await rig.read(to: 2)
        await second.device.close()

        #expect(rig.history()?.transactions.map(\.transactionID) == rig.ids(2))
    }

    @Test func `a history that cannot be written delays no delivery`() async {
        rig.files.state.withLock { $0.unwritable = "history" }
        let first = rig.launch(waitSeconds: 50)
        for product in ["credits.5", "credits.10"] {
            rig.store.sellElsewhere(product)
            await first.observer.diary.wait(for: "purchased \(product)")
        }
        await rig.log.wait(for: "The history of transactions is not written")
        await first.device.close()
        #expect(rig.history() == nil)
        rig.files.state.withLock { $0.unwritable = nil }

        let second = rig.launch()
        await rig.read(to: 2)
        await second.device.close()
        #expect(rig.history()?.transactions.map(\.transactionID) == rig.ids(2))
    }

    @Test func `a history that cannot be read delays no delivery`() async {
        rig.store.sellElsewhere("credits.5")
        let first = rig.launch()
        await first.observer.diary.wait(for: "purchased credits.5")
        await rig.read(to: 1)
        await first.device.close()
        rig.store.sellElsewhere("credits.10")
        rig.files.state.withLock { $0.unreadable = "history" }

        let second = rig.launch()
        await second.observer.diary.wait(for: "purchased credits.10")
        await rig.log.wait(for: "The history of transactions cannot be read")
        await second.device.close()
        rig.files.state.withLock { $0.unreadable = nil }

        let third = rig.launch()
        await rig.read(to: 2)
        await third.device.close()
        #expect(rig.history()?.transactions.map(\.transactionID) == rig.ids(2))
    }

    @Test(arguments: [64, Int64.max, -5])
    func `a history that has read what no store has written is read again`(
        revision: Int64
    ) async throws {
        rig.store.sellElsewhere("credits.5")
        let first = rig.launch()
        await first.observer.diary.wait(for: "purchased credits.5")
        await rig.read(to: 1)
        await first.device.close()
        rig.store.sellElsewhere("credits.10")
        var record = try #require(rig.history())
        record.cursor.revision = revision
        let bytes = Array(try JSONEncoder().encode(record))
        rig.files.state.withLock { $0.files[rig.historyName] = bytes }

        let second = rig.launch()
        await second.observer.diary.wait(for: "purchased credits.10")
        await rig.read(to: 2)
        await second.device.close()

        #expect(rig.history()?.cursor.revision == 2)
        #expect(rig.history()?.transactions.map(\.transactionID) == rig.ids(2))
    }

    /// The process ends before each write, and after it.
    @Test(arguments: 1...8, [false, true])
    func `wherever the process ends, each sale is delivered until it is finished`(
        number: Int, isAfter: Bool
    ) async throws {
        rig.store.sellElsewhere("credits.5")
        rig.store.sellElsewhere("credits.10")
        rig.store.state.withLock { $0.sales[0].isFinished = true }
        let first = rig.launch(
            observer: DiaryObserver(finishes: true), files: CutFiles(rig.files, number, isAfter))
        await until("the end of the process, or rest", seen: rig.files.text) {
            rig.files.replacements >= number + (isAfter ? 0 : -1)
                || rig.store.state.withLock { $0.sales.allSatisfy(\.isFinished) }
        }
        await first.device.close()
        let isFinished = first.observer.diary.lines.contains("removed credits.10")

        let second = rig.launch(observer: DiaryObserver(finishes: true))
        await rig.read(to: 2)
        await until("the finish at the store") {
            rig.store.state.withLock { $0.sales.allSatisfy(\.isFinished) }
        }
        await rig.acknowledged()
        await second.device.close()

        let sold = second.observer.diary.lines.filter { $0.hasPrefix("purchased") }
        if isFinished { #expect(sold == []) }
        #expect(sold.count <= 1)
        #expect(rig.history()?.transactions.map(\.transactionID) == rig.ids(2))
        #expect(await rig.quietLaunch() == [])
    }
}

/// A disk that fails for good before or after a write, by number: the process
/// behind it has ended as far as the files are concerned.
private final class CutFiles: DeviceFiles {
    private let files: MemoryFiles
    private let limit: Int
    private let isAfter: Bool
    private let writes = Mutex(0)

    init(_ files: MemoryFiles, _ limit: Int, _ isAfter: Bool) {
        self.files = files
        self.limit = limit
        self.isAfter = isAfter
    }

    func read(_ name: String) throws -> [UInt8]? { try files.read(name) }

    func replace(_ replaced: [DeviceFile]) throws {
        let number = writes.withLock { writes in
            writes += 1
            return writes
        }
        if number < limit || (isAfter && number == limit) { try files.replace(replaced) }
        if number >= limit { throw DeviceFilesFault("the process has ended", errorNumber: EIO) }
    }

    func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        try files.withLock(body)
    }
    func claim(launch: String) throws { try files.claim(launch: launch) }
    func release(launch: String) { files.release(launch: launch) }
    func isClaimed(launch: String) -> Bool { files.isClaimed(launch: launch) }
    func url(of name: String) -> URL? { files.url(of: name) }
}

extension Rig {
    private static let customer = "1000000000001000"

    var historyName: String {
        HistoryFile.name(of: Owner(realm: "realm-1", customer: Self.customer))
    }

    /// The ids of the first sales.
    func ids(_ count: Int) -> [String] { (1...count).map { "\(2_000_000_000_000_000 + $0)" } }

    /// A customer's history, if there is one that can be used.
    func history(_ customer: String = customer, generation: Int64 = 1) -> HistoryRecord? {
        struct Queue: Decodable { var deviceUUID: String }
        guard let queue = try? JSONDecoder().decode(Queue.self, from: Data(files.text.utf8)) else {
            return nil
        }
        let origin = HistoryOrigin(
            deviceUUID: queue.deviceUUID, owner: Owner(realm: "realm-1", customer: customer),
            generation: generation)
        guard let found = try? HistoryFile(files: files).read(origin), found.notice == nil,
            found.record != HistoryRecord(origin)
        else { return nil }
        return found.record
    }

    /// Waits until the history has everything up to a revision.
    func read(to revision: Int64, customer: String = customer, generation: Int64 = 1) async {
        await until("a history up to \(revision)", seen: "\(store.state.withLock { $0.calls })") {
            history(customer, generation: generation)?.cursor == ReadCursor(revision: revision)
        }
    }
}
