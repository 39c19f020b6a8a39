// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PurchaseKit

/// A device folder that does not answer for a while, that several processes have open, or
/// that several customers use.
@Suite(.timeLimit(.minutes(5)))
struct SharedFolderTests {
    let rig: Rig

    init() throws { rig = try Rig() }

    @Test func `a fault at launch does not outlast its cause`() async throws {
        let place = try temporaryFolder()
        let files = FolderDeviceFiles(folder: URL(fileURLWithPath: place.path))
        let first = rig.launch(files: files)
        first.add("credits.5")
        await first.observer.diary.wait(for: "purchased")
        await first.device.close()
        let lock = place.file("queue.lock")
        try FileManager.default.removeItem(atPath: lock)
        try FileManager.default.createDirectory(
            atPath: lock, withIntermediateDirectories: false)

        let second = rig.launch(files: files)
        await rig.log.wait(for: "The queue cannot be opened")
        try FileManager.default.removeItem(atPath: lock)
        await second.observer.diary.wait(for: "purchased")
        second.add("credits.10")
        await second.observer.diary.wait(for: "purchased credits.10")
        await second.device.close()
    }

    @Test func `more than any store sells is refused as such`() async {
        let app = rig.launch()
        app.add("credits.5", quantity: 1001)
        await app.observer.diary.wait(for: "failed")
        #expect(
            app.observer.diary.lines.last
                == "failed credits.5 \(SKError.Code.paymentInvalid.rawValue)")
        await app.device.close()
    }

    @Test(arguments: [true, false])
    func `what a process leaves that ends goes on in one that runs`(
        isRestored: Bool
    ) async throws {
        let (first, second) = (rig.launch(), rig.launch())
        await until("an open queue") { await second.device.openFor != nil }
        first.add("credits.5")
        await first.observer.diary.wait(for: "purchased")
        #expect(second.observer.diary.lines == [])
        await first.device.close()

        if isRestored {
            second.queue.restoreCompletedTransactions()
        } else {
            second.device.enterForeground()
        }
        await second.observer.diary.wait(for: "purchased")
        second.queue.finishTransaction(try #require(second.observer.transactions.last))
        await second.observer.diary.wait(for: "removed")
        await rig.acknowledged()
        await second.device.close()

        #expect(rig.store.state.withLock { $0.sales.map(\.isFinished) } == [true])
        #expect(await rig.quietLaunch() == [])
    }

    @Test func `a customer who comes back finds the receipt again`() async throws {
        let first = rig.launch()
        first.add("credits.5")
        await first.observer.diary.wait(for: "purchased")
        await first.device.close()
        let sales = rig.store.state.withLock { state in
            state.customer = "1000000000002000"
            defer { state.sales = [] }
            return state.sales
        }
        let second = rig.launch()
        second.add("credits.10")
        await second.observer.diary.wait(for: "purchased")
        await second.device.close()
        rig.store.state.withLock {
            $0.customer = "1000000000001000"
            $0.sales = sales
        }

        let third = rig.launch()
        await third.observer.diary.wait(for: "purchased")
        #expect(third.device.receiptURL?.lastPathComponent == "sandboxReceipt")
        #expect(try text(of: "sandboxReceipt") == "receipt 2000000000000001")
        await third.device.close()
    }

    @Test func `a receipt that is gone is there again before what is delivered`() async throws {
        let first = rig.launch()
        first.add("credits.5")
        await first.observer.diary.wait(for: "purchased")
        await first.device.close()
        rig.files.state.withLock { $0.files["sandboxReceipt"] = nil }

        let second = rig.launch()
        await second.observer.diary.wait(for: "purchased")
        #expect(try text(of: "sandboxReceipt") == "receipt 2000000000000001")
        await second.device.close()
    }

    @Test func `the receipt of another process's customer is not shown`() async throws {
        let first = rig.launch()
        first.add("credits.5")
        await first.observer.diary.wait(for: "purchased")
        #expect(first.device.receiptURL != nil)
        rig.store.state.withLock {
            $0.customer = "1000000000002000"
            $0.sales = []
        }

        let second = rig.launch(customer: "other")
        second.add("credits.10")
        await second.observer.diary.wait(for: "purchased")

        #expect(second.device.expectedReceiptURL != nil)
        #expect(first.device.receiptURL == nil)
        #expect(first.device.expectedReceiptURL == nil)
        await first.device.close()
        await second.device.close()
    }

    private func text(of file: String) throws -> String? {
        try rig.files.read(file).map { String(decoding: $0, as: UTF8.self) }
    }
}
