// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import PurchaseKit

/// Downloads of a device on a real folder, from a store that is not real.
@Suite(.timeLimit(.minutes(5)))
struct DownloadTests {
    /// Notes each state of a download once, and what was delivered.
    final class Player: NSObject, SKPaymentTransactionObserver, @unchecked Sendable {
        let diary = Diary()
        private let lock = NSLock()
        private var kept: [SKPaymentTransaction] = []
        private var work: (() -> Void)?
        private var last: [String: String] = [:]
        let starts: Bool

        init(starts: Bool = true) { self.starts = starts }

        /// Is done once, in the next callback.
        func work(_ body: @escaping () -> Void) { lock.withLock { work = body } }

        var transaction: SKPaymentTransaction? { lock.withLock { kept.last } }
        var download: SKDownload? { transaction?.downloads.first }

        func paymentQueue(
            _ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]
        ) {
            let work = lock.withLock {
                defer { self.work = nil }
                return self.work
            }
            work?()
            for transaction in transactions
            where [.purchased, .restored].contains(transaction.transactionState) {
                lock.withLock { kept.append(transaction) }
                diary.write("bought, \(transaction.downloads.first?.state ?? .failed)")
                if starts { queue.start(transaction.downloads) }
            }
        }

        func paymentQueue(_ queue: SKPaymentQueue, updatedDownloads downloads: [SKDownload]) {
            for download in downloads {
                let line = "\(download.state) \(download.contentVersion)"
                let id = download.key ?? ""
                let isNew = lock.withLock {
                    defer { last[id] = line }
                    return last[id] != line
                }
                if isNew { diary.write(line) }
            }
        }

        func paymentQueue(
            _ queue: SKPaymentQueue, removedTransactions transactions: [SKPaymentTransaction]
        ) { diary.write("removed") }
    }

    let rig: Rig
    let folder: String
    let shelf: ContentShelf

    init() throws {
        rig = try Rig()
        shelf = rig.store.content
        folder =
            FileManager.default.temporaryDirectory
            .appending(path: "downloads-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        try shelf.upload("1", in: folder)
        rig.store.state.withLock { state in
            state.products["level.two"] = 990
            state.describe = { $0.type = "Non-Consumable" }
        }
    }

    private func launch(
        _ player: Player, naps: Bool = true, contentWriting: PartFile.Writing? = nil
    ) -> Rig.Launch {
        let app = rig.launch(
            observer: nil, naps: naps,
            files: FolderDeviceFiles(folder: URL(fileURLWithPath: folder + "/device")),
            contentWriting: contentWriting)
        app.queue.add(player)
        return app
    }

    private func buy(_ player: Player) async -> Rig.Launch {
        let app = launch(player)
        app.add("level.two")
        await player.diary.wait(for: "bought")
        return app
    }

    private var length: Int { shelf.state.withLock { $0.packages["1"]?.count ?? 0 } }
    private var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder + "/device/downloads")) ?? [])
            .sorted()
    }

    private func map(_ download: SKDownload?) -> String? {
        guard let url = download?.contentURL else { return nil }
        return try? String(
            contentsOf: url.appending(path: "Contents/map.txt"), encoding: .utf8)
    }

    @Test func `a level is bought, downloaded, unpacked, and removed with its finish`()
        async throws
    {
        let player = Player()
        let app = await buy(player)
        await player.diary.wait(for: "finished")

        let download = try #require(player.download)
        #expect(player.diary.lines == ["bought, waiting", "active 1", "finished 1"])
        #expect(map(download) == "map 1")
        #expect(download.contentIdentifier == "level.two")
        #expect(download.contentLength == Int64(length))
        #expect(download.progress == 1)
        #expect(download.transaction === player.transaction)
        #expect(download.error == nil)

        let transaction = try #require(player.transaction)
        app.queue.finishTransaction(transaction)
        await player.diary.wait(for: "removed")
        #expect(files == [])
        #expect(download.contentURL == nil)
        #expect(transaction.downloads == [])
        app.queue.start([download])
        await player.diary.wait(for: "failed")
        #expect((download.error as? SKError)?.code == .clientInvalid)
        await app.device.close()
    }

    @Test func `a product says what can be downloaded`() {
        var facts = ProductDescription(
            id: "level.two", type: "Non-Consumable", displayName: "", description: "",
            price: 990, currency: "USD", priceLocale: "en_US", isFamilyShareable: false,
            isSold: true)
        facts.content = shelf.description
        let product = SKProduct(description: facts)

        #expect(product.isDownloadable)
        #expect(product.downloadContentLengths == [NSNumber(value: length)])
        #expect(product.downloadContentVersion == "1" && product.contentVersion == "1")
    }

    @Test func `cuts, refused links, and other answers only delay it`() async throws {
        shelf.next(
            .cut(after: 7_000), .status(403), .status(503), .cut(after: 15_000), .whole)
        let player = Player()
        let app = await buy(player)
        await player.diary.wait(for: "finished")

        #expect(shelf.fetches == [0, 7_000, 7_000, 7_000, 15_000])
        #expect(map(player.download) == "map 1")
        await app.device.close()
    }

    @Test func `bytes beyond the end are not kept`() async {
        shelf.next(.tooMany)
        let player = Player()
        let app = await buy(player)
        await player.diary.wait(for: "finished")

        #expect(shelf.fetches == [0])
        await app.device.close()
    }

    @Test func `damaged content is fetched again and never delivered`() async {
        shelf.next(.corrupt)
        let player = Player()
        let app = await buy(player)
        await player.diary.wait(for: "finished")
        #expect(shelf.fetches == [0, 0])
        await app.device.close()
    }

    @Test func `content that is always damaged fails, and can be started again`() async throws {
        shelf.next(.corrupt, .corrupt, .corrupt)
        let player = Player()
        let app = await buy(player)
        await player.diary.wait(for: "failed")
        let download = try #require(player.download)
        #expect(download.contentURL == nil)
        #expect(download.error?.localizedDescription.contains("damaged 3 times") == true)

        app.queue.start([download])
        await player.diary.wait(for: "finished")
        #expect(download.error == nil)
        await app.device.close()
    }

    @Test func `a download goes on after its process has ended`() async throws {
        shelf.next(.hold(after: 9_000))
        let first = Player()
        let app = await buy(first)
        await until("half of the content", seen: "\(files)") { partBytes == 9_000 }
        await app.device.close()

        let second = Player(starts: false)
        let next = launch(second)
        await second.diary.wait(for: "finished")

        #expect(shelf.fetches == [0, 9_000])
        #expect(map(second.download) == "map 1")
        await next.device.close()
    }

    @Test func `a full disk fails it, and it goes on when there is space`() async throws {
        let space = Mutex(9_000)
        let player = Player()
        let app = launch(player) { file, bytes, count, place in
            let room = space.withLock { $0 } - Int(place)
            guard room > 0 else {
                errno = ENOSPC
                return -1
            }
            return pwrite(file, bytes, min(count, room), place)
        }
        app.add("level.two")
        await player.diary.wait(for: "failed")

        let download = try #require(player.download)
        let error = try #require(download.error as? SKError)
        #expect(error.localizedDescription.contains("The disk is full. Free some space"))
        #expect((error.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == Int(ENOSPC))
        #expect(download.contentURL == nil && partBytes == 9_000)
        app.queue.start([download])
        await player.diary.wait(for: "failed", count: 2)
        #expect(partBytes == 9_000)

        space.withLock { $0 = .max }
        app.queue.start([download])
        await player.diary.wait(for: "finished")
        #expect(shelf.fetches == [0, 9_000, 9_000])
        #expect(map(download) == "map 1" && download.error == nil)
        await app.device.close()
    }

    @Test func `what is finished is there at the next launch`() async {
        let first = Player()
        let app = await buy(first)
        await first.diary.wait(for: "finished")
        await app.device.close()

        let second = Player()
        let next = launch(second)
        await second.diary.wait(for: "bought")

        #expect(second.diary.lines == ["bought, finished"])
        #expect(map(second.download) == "map 1")
        #expect(shelf.fetches == [0])
        await next.device.close()
    }

    @Test(arguments: [true, false])
    func `a new version half way`(isKept: Bool) async throws {
        shelf.next(.hold(after: 9_000))
        let player = Player()
        let app = await buy(player)
        await until("half of the content", seen: "\(files)") { partBytes == 9_000 }
        let download = try #require(player.download)
        app.queue.pause([download])
        await player.diary.wait(for: "paused")
        try shelf.upload("2", in: folder)
        if !isKept { shelf.state.withLock { $0.packages["1"] = nil } }

        app.queue.resume([download])
        await player.diary.wait(for: "finished")

        #expect(map(download) == (isKept ? "map 1" : "map 2"))
        #expect(download.contentVersion == (isKept ? "1" : "2"))
        #expect(shelf.fetches.last == (isKept ? 9_000 : 0))
        await app.device.close()
    }

    @Test func `a cancelled download leaves nothing, and twice is once`() async throws {
        shelf.next(.hold(after: 9_000))
        let player = Player()
        let app = await buy(player)
        await until("half of the content", seen: "\(files)") { partBytes == 9_000 }
        let download = try #require(player.download)

        app.queue.cancel([download])
        app.queue.cancel([download])
        await player.diary.wait(for: "cancelled")

        #expect(files == [])
        #expect(player.diary.lines.count { $0.hasPrefix("cancelled") } == 1)
        app.queue.start([download])
        await player.diary.wait(for: "finished")
        await app.device.close()
    }

    @Test(arguments: [
        (403, "contentNotOwned"), (404, "contentNotFound"), (404, "transactionNotFound"),
    ])
    func `the store's verdict fails it`(_ status: Int, _ code: String) async {
        shelf.state.withLock {
            $0.refusal = (status, WireError(code: code, message: "Not any more."))
        }
        let player = Player()
        let app = await buy(player)
        await player.diary.wait(for: "failed")

        #expect(player.download?.error?.localizedDescription == "Not any more.")
        await app.device.close()
    }

    @Test func `a proxy's refusals do not fail it at once`() async {
        shelf.state.withLock { $0.refusal = (403, WireError(code: "x", message: "No.")) }
        let player = Player()
        let app = await buy(player)
        await player.diary.wait(for: "failed")

        #expect(shelf.state.withLock { $0.asked.count } == DownloadMachine.attemptsMax)
        #expect(
            player.download?.error?.localizedDescription.contains("attempts") == true)
        await app.device.close()
    }

    @Test func `the content of another product is not delivered`() async throws {
        try shelf.upload("1", product: "level.three", in: folder)
        let player = Player()
        let app = await buy(player)
        await player.diary.wait(for: "failed")

        #expect(player.download?.contentURL == nil)
        await app.device.close()
    }

    @Test func `while another process has the file, it waits`() async throws {
        shelf.next(.hold(after: 9_000))
        let first = Player()
        let app = await buy(first)
        await until("half of the content", seen: "\(files)") { partBytes == 9_000 }
        let name = try #require(files.first { $0.hasSuffix(".zip") })
        await app.device.close()
        var other = try await lock(folder + "/device/downloads/" + name)

        let second = Player()
        let next = launch(second)
        await second.diary.wait(for: "bought")
        for _ in 0..<50 { await giveWay(times: 1) }
        #expect(second.download?.state == .waiting)
        #expect(shelf.fetches == [0])

        withExtendedLifetime(other) {}
        other = nil
        await second.diary.wait(for: "finished")
        await next.device.close()
    }

    /// The end of a transfer may still hold the file.
    private func lock(_ path: String) async throws -> PartFile? {
        let file = Mutex<PartFile?>(nil)
        await until("the file's lock") {
            file.withLock { $0 = $0 ?? (try? PartFile(path)) ?? nil }
            return file.withLock { $0 } != nil
        }
        return file.withLock { file in
            defer { file = nil }
            return file
        }
    }

    @Test func `four downloads take turns`() async throws {
        shelf.next(.hold(after: 1), .hold(after: 1), .hold(after: 1))
        let player = Player(starts: false)
        let app = launch(player)
        for _ in 1...4 { rig.store.sellElsewhere("level.two") }
        app.add("level.two")
        await player.diary.wait(for: "bought", count: 5)
        let downloads = app.queue.transactions.flatMap(\.downloads)
        #expect(downloads.count == 5)

        app.queue.start(downloads)
        await player.diary.wait(for: "active", count: 3)
        await until("three transfers", seen: "\(shelf.fetches)") { shelf.fetches.count == 3 }
        #expect(downloads.map(\.state).count { $0 == .waiting } == 2)

        app.queue.cancel([downloads[1]])
        await player.diary.wait(for: "finished", count: 2)
        #expect(downloads[3].state == .finished && downloads[4].state == .finished)
        await app.device.close()
    }

    @Test func `content is fetched and unpacked while the app's queue is busy`() async throws {
        let player = Player(starts: false)
        let app = await buy(player)
        let download = try #require(player.download)
        let isFree = DispatchSemaphore(value: 0)
        defer { isFree.signal() }
        player.work {
            player.diary.write("busy")
            isFree.wait()
        }
        app.add("credits.5")
        await player.diary.wait(for: "busy")

        app.queue.start([download])
        await until("the unpacked content", seen: "\(files)") {
            let names = FileManager.default.enumerator(atPath: folder + "/device/downloads")
            return names?.contains { ($0 as? String)?.hasSuffix("Contents/map.txt") == true }
                == true
        }
        #expect(!player.diary.lines.contains { $0.hasPrefix("finished") })
        isFree.signal()
        await player.diary.wait(for: "finished")
        await app.device.close()
    }

    @Test func `another customer's launch leaves a download alone`() async throws {
        shelf.next(.hold(after: 9_000))
        let first = Player()
        let app = await buy(first)
        await until("half of the content", seen: "\(files)") { partBytes == 9_000 }
        await app.device.close()
        let sales = rig.store.state.withLock { state in
            defer { state.sales = [] }
            state.customer = "1000000000002000"
            return state.sales
        }

        let other = Player(starts: false)
        let between = launch(other)
        between.add("credits.5")
        await other.diary.wait(for: "bought")
        #expect(partBytes == 9_000 && shelf.fetches == [0])
        await between.device.close()
        rig.store.state.withLock {
            $0.customer = "1000000000001000"
            $0.sales = sales
        }

        let third = Player(starts: false)
        let last = launch(third)
        await third.diary.wait(for: "finished")
        #expect(shelf.fetches == [0, 9_000] && map(third.download) == "map 1")
        await last.device.close()
    }

    @Test func `a restored transaction has its download`() async throws {
        rig.store.sellForGood("level.two")
        let player = Player()
        let app = launch(player)
        app.queue.restoreCompletedTransactions()
        await player.diary.wait(for: "finished")

        #expect(player.transaction?.transactionState == .restored)
        #expect(map(player.download) == "map 1")
        await app.device.close()
    }

    @Test func `a download of another queue fails`() async throws {
        let player = Player(starts: false)
        let app = await buy(player)
        let other = try Rig().launch(observer: nil)
        let listener = Player()
        other.queue.add(listener)
        let download = try #require(player.download)

        other.queue.start([download])
        await listener.diary.wait(for: "failed")

        #expect((download.error as? SKError)?.code == .clientInvalid)
        await app.device.close()
        await other.device.close()
    }

    private var partBytes: Int {
        guard let name = files.first(where: { $0.hasSuffix(".zip") }) else { return 0 }
        let path = folder + "/device/downloads/" + name
        return (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }
}
