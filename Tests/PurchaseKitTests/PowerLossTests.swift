// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import PurchaseKit

/// The power fails before any operation on the disk of a purchase, and what
/// was not synced is lost one way or another. What the app was told, and what
/// the store was, is then on the disk.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct PowerLossTests {
    private static let losses: [Loss] = [.all, .bytes, .lastName, .oldNames]

    @Test func `wherever the power fails, the queue knows what was reported`() async throws {
        let (complaints, operations) = try await Self.cutEverywhere()
        #expect(complaints == [])
        #expect(operations > 30)
    }

    @Test func `a folder whose own name was not synced is found out`() async throws {
        let (complaints, _) = try await Self.cutEverywhere { folder, _ in
            !folder.hasSuffix("/device")
        }
        #expect(complaints.contains("a payment that was sent is lost"))
    }

    @Test func `one sync for two names is found out`() async throws {
        let (complaints, _) = try await Self.cutEverywhere { _, renamed in
            renamed.hasSuffix("/sandboxReceipt")
        }
        #expect(complaints.contains("a receipt is lost"))
    }

    /// All that is found wrong after a failure before any operation, and how
    /// many operations there were.
    private static func cutEverywhere(
        skips: @escaping @Sendable (String, String) -> Bool = { _, _ in false }
    ) async throws -> (complaints: Set<String>, operations: Int) {
        let whole = try Blackout(failing: nil, skips: skips)
        try await whole.buy()
        let operations = whole.disk.operations
        var found = Set(try whole.complaints())
        for limit in 0..<operations {
            let blackout = try Blackout(failing: limit, skips: skips)
            try await blackout.buy()
            let lots = [limit, limit + 1000].map { Loss.some(UInt64($0)) }
            try blackout.disk.settle(each: Self.losses + lots) { loss in
                let complaints = try blackout.complaints()
                if !complaints.isEmpty { print("before \(limit), \(loss): \(complaints)") }
                found.formUnion(complaints)
            }
        }
        return (found, operations)
    }

    @Test(arguments: Seeds.all)
    func `a purchase cut by power again and again is delivered and finished`(
        seed: UInt64
    ) async throws {
        var lot = SeededGenerator(seed)
        for _ in 0..<4 {
            let blackout = try Blackout(failing: lot.integer(in: 0...30))
            try await blackout.buy()
            for _ in 0..<3 {
                try blackout.disk.settle(.some(lot.next()))
                let complaints = try blackout.complaints()
                #expect(complaints == [], "seed \(seed)")
                blackout.disk.fail(after: lot.integer(in: 0...20))
                try await blackout.relaunch()
            }
            try blackout.disk.settle(.some(lot.next()))
            try await blackout.relaunch()
            let complaints = try blackout.complaints()
            #expect(complaints == [], "seed \(seed)")
            let sales = blackout.rig.store.state.withLock { $0.sales }
            #expect(!sales.contains { !$0.isFinished }, "seed \(seed)")
        }
    }

    /// A durable replacement is a sync of the file and one of its folder; what is
    /// merely done again (added, recorded at the store) is a sync of the file.
    @Test func `a purchase costs seven syncs, and its finish three`() async throws {
        let rig = try Rig()
        let place = try temporaryFolder()
        let disk = CountingDisk()
        let files = FolderDeviceFiles(
            folder: URL(fileURLWithPath: place.file("device")), disk: disk)
        let app = rig.launch(files: files)
        _ = try await app.products("credits.5")
        await rig.store.called(1, \.isTransactions)
        let before = disk.syncs

        app.add("credits.5")
        await app.observer.diary.wait(for: "purchased")
        #expect(disk.syncs - before == 7)
        let queue = QueueFile(
            files: files, storeURL: "file:", bundleID: "com.example.app", randomness: .seeded(1))
        for transaction in app.queue.transactions { app.queue.finishTransaction(transaction) }
        try await until("a queue without entries") { try queue.read().entries.isEmpty }

        #expect(disk.syncs - before == 10)
        await app.device.close()
    }

    /// A process may end after each step of another, and its steps stay visible
    /// and unsynced.
    @Test func `the next launch makes durable what an ended one left unsynced`() throws {
        let place = try temporaryFolder()
        let disk = DurableFolder(root: place.path)
        let folder = place.file("device")
        try disk.makeFolder(folder)
        try disk.write([1], to: folder + "/queue.json")
        let files = FolderDeviceFiles(folder: URL(fileURLWithPath: folder), disk: disk)

        try files.claim(launch: "next")
        try disk.settle(.all)

        #expect(try files.read("queue.json") == [1])
    }

    @Test func `a name that was not synced in its own folder is lost`() throws {
        let place = try temporaryFolder()
        let disk = DurableFolder(root: place.path)
        try disk.makeFolder(place.file("a"))
        try disk.write([1], to: place.file("a/b"))
        try disk.syncFolder(place.file("a"))
        try disk.settle(.all)
        #expect(!disk.exists(place.file("a")))
    }
}

/// An installation on a disk whose power fails, and what it told until then.
/// A class, because launches come and go.
private final class Blackout: Sendable {
    let rig: Rig
    let disk: DurableFolder
    private let place: TemporaryFolder
    private let told = Mutex<Set<String>>([])

    init(
        failing limit: Int?,
        skips: @escaping @Sendable (String, String) -> Bool = { _, _ in false }
    ) throws {
        rig = try Rig()
        place = try temporaryFolder("blackout")
        disk = DurableFolder(root: place.path, failing: limit, skips: skips)
    }

    private var folder: URL { URL(fileURLWithPath: place.file("app/device")) }

    /// Buys and finishes, until the store knows of the finish or it is dark.
    func buy() async throws {
        try await run { app in
            app.add("credits.5")
            return { $0.contains("removed credits.5") }
        }
    }

    /// Takes up what is left, until all is finished or it is dark.
    func relaunch() async throws {
        try await run { _ in { _ in true } }
    }

    private func run(_ act: (Rig.Launch) -> ([String]) -> Bool) async throws {
        let diary = Diary()
        disk.onFailure { diary.write("dark") }
        let files = FolderDeviceFiles(folder: folder, disk: disk)
        let asked = rig.store.count(\.isTransactions)
        let app = rig.launch(
            observer: DiaryObserver(finishes: true, diary: diary),
            transport: PoweredTransport(store: rig.store, disk: disk), files: files)
        let isDone = act(app)
        try await until("rest, or darkness", seen: "\(diary.lines)") {
            if diary.lines.contains("dark") { return true }
            let isRead = rig.store.count(\.isTransactions) > asked
            return try isRead && isDone(diary.lines) && isAtRest(files)
        }
        await app.device.close()
        told.withLock { $0.formUnion(diary.lines.prefix { $0 != "dark" }) }
    }

    private func isAtRest(_ files: FolderDeviceFiles) throws -> Bool {
        let isFinished = rig.store.state.withLock { $0.sales.allSatisfy(\.isFinished) }
        return try isFinished && queue(files).read().entries.isEmpty
    }

    private func queue(_ files: FolderDeviceFiles) -> QueueFile {
        QueueFile(
            files: files, storeURL: "file:", bundleID: "com.example.app",
            randomness: .seeded(1))
    }

    /// What was told and is not on the disk. What the store knows as finished
    /// may be forgotten.
    func complaints() throws -> [String] {
        let sale = rig.store.state.withLock { $0.sales.first }
        if sale?.isFinished == true { return [] }
        let files = FolderDeviceFiles(folder: folder)
        let entry = try queue(files).read().entries.first
        let told = told.withLock { $0 }
        let owner = Owner(realm: "realm-1", customer: "1000000000001000")
        let origin = HistoryOrigin(
            deviceUUID: try queue(files).read().deviceUUID, owner: owner, generation: 1)
        let history = try HistoryFile(files: files).read(origin)
        let isRemoved = told.contains("removed credits.5")
        let isDelivered = told.contains { $0.hasPrefix("purchased") }
        var complaints: [String] = []
        if rig.store.count(\.isPurchase) > 0,
            ![.confirmed, .purchased, .finished].contains(entry?.state)
        {
            complaints.append("a payment that was sent is lost")
        }
        if history.notice != nil { complaints.append("a history is damaged") }
        if let sale, history.record.cursor.revision >= sale.revision, entry?.sold == nil {
            complaints.append("the history is beyond a sale that the queue lacks")
        }
        if isDelivered, entry?.sold == nil { complaints.append("a sale that the app saw is lost") }
        if isDelivered, isRemoved, entry?.state != .finished {
            complaints.append("a finish is lost")
        }
        if let sold = entry?.sold {
            let receipt = String(decoding: try files.read("sandboxReceipt") ?? [], as: UTF8.self)
            if !receipt.contains(sold.transactionID) { complaints.append("a receipt is lost") }
        }
        return complaints
    }
}

/// The system's disk, with its syncs counted. A class, because a device and a
/// test share it.
private final class CountingDisk: DeviceDisk {
    private let disk = SystemDisk()
    private let count = Mutex(0)

    var syncs: Int { count.withLock { $0 } }

    func exists(_ path: String) -> Bool { disk.exists(path) }
    func makeFolder(_ path: String) throws(DeviceFilesFault) { try disk.makeFolder(path) }
    func rename(_ path: String, to other: String) throws(DeviceFilesFault) {
        try disk.rename(path, to: other)
    }

    func write(_ bytes: [UInt8], to path: String) throws(DeviceFilesFault) {
        count.withLock { $0 += 1 }
        try disk.write(bytes, to: path)
    }

    func syncFolder(_ path: String) throws(DeviceFilesFault) {
        count.withLock { $0 += 1 }
        try disk.syncFolder(path)
    }
}

/// No power, no network.
private struct PoweredTransport: StoreTransport {
    let store: FakeStore
    let disk: DurableFolder

    func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply {
        guard disk.hasPower() else { throw .notSent(URLError(.notConnectedToInternet)) }
        return try await store.send(call)
    }
}
