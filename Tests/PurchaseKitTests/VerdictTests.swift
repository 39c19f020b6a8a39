// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import PurchaseKit

/// Sent is sent: what may be sold is failed by the store's verdict on its
/// purchase id and by nothing else.
@Suite(.timeLimit(.minutes(5)))
struct VerdictTests {
    let rig: Rig
    let refused = TransportFailure.notSent(URLError(.cannotConnectToHost))

    init() throws {
        rig = try Rig()
    }

    static let refusals: [(Int, String)] = [
        (400, "fieldInvalid"), (400, "textTooLong"), (401, "unauthorised"),
        (403, "notThroughProxy"), (404, "realmNotFound"), (409, "purchaseIdReused"),
        (409, "replacedNotRefused"), (413, "bodyTooLarge"), (422, "anything"),
    ]

    @Test(arguments: refusals)
    func `what may be sold is not failed by a refusal of a later try`(
        status: Int, code: String
    ) async {
        let app = rig.launch()
        rig.store.next(.replyLost(.unknown(nil)), when: \.isPurchase)
        rig.store.next(.answered(FakeStore.refusal(status, code)), when: \.isPurchase)

        app.add("credits.5")
        await app.observer.diary.wait(until: { $0.count > 1 }, "an outcome")

        #expect(app.observer.diary.lines.last == "purchased credits.5 2000000000000001")
        #expect(rig.store.state.withLock { $0.sales.count } == 1)
    }

    /// A proxy may pass a call on and answer it by itself, the first too.
    @Test(arguments: [403, 404, 409, 413, 422])
    func `a sold payment is not failed by a proxy's answer`(status: Int) async {
        let app = rig.launch()
        rig.store.next(
            .replyReplaced(FakeStore.refusal(status, "notThroughProxy")), when: \.isPurchase)

        app.add("credits.5")
        await app.observer.diary.wait(until: { $0.count > 1 }, "an outcome")

        #expect(app.observer.diary.lines.last == "purchased credits.5 2000000000000001")
    }

    @Test func `contents that the store does not accept fail a payment never sent before`()
        async
    {
        let app = rig.launch()
        rig.store.next(.answered(FakeStore.refusal(400, "textTooLong")), when: \.isPurchase)

        app.add("credits.5")
        await app.observer.diary.wait(until: { $0.count > 1 }, "an outcome")

        #expect(app.observer.diary.lines.last == "failed credits.5 1")
    }

    @Test func `a session that ends as a payment is sent leaves it open`() async throws {
        let app = rig.launch()
        _ = try await app.products("credits.5")
        rig.store.next(.replyReplaced(DeviceReply(status: 401)), when: \.isPurchase)
        rig.store.next(.lost(refused)) { $0 == .signIn }

        app.add("credits.5")
        await app.observer.diary.wait(until: { $0.count > 1 }, "an outcome")

        #expect(app.observer.diary.lines.last == "purchased credits.5 2000000000000001")
        #expect(rig.store.state.withLock { $0.sales.count } == 1)
    }

    @Test(arguments: [
        FakeStore.refusal(400, "x"), FakeStore.refusal(403, "notThroughProxy"),
        FakeStore.refusal(404, "realmNotFound"), DeviceReply(status: 404),
        DeviceReply(status: 200), DeviceReply(status: 200, body: Array("{}".utf8)),
        DeviceReply(
            status: 200, body: Array(#"{"transactionId":"2000000000000009","revision":9}"#.utf8)),
    ])
    func `a finish is sent until the store itself has recorded it`(answer: DeviceReply) async {
        rig.store.next(.answered(answer), when: \.isFinish)
        let app = rig.launch(observer: DiaryObserver(finishes: true))

        app.add("credits.5")
        await app.observer.diary.wait(for: "removed")
        await rig.acknowledged()

        #expect(rig.store.state.withLock { $0.sales.first?.isFinished } == true)
    }

    @Test func `a finish of what the store does not have is sent once`() async {
        rig.store.next(
            .answered(FakeStore.refusal(404, "transactionNotFound")), when: \.isFinish)
        let app = rig.launch(observer: DiaryObserver(finishes: true))

        app.add("credits.5")
        await app.observer.diary.wait(for: "removed")
        await rig.acknowledged()

        #expect(rig.store.count(\.isFinish) == 1)
    }

    @Test func `a finish that the store does not know is sent once, also on a full disk`()
        async
    {
        let store = HoldingStore(rig.store)
        rig.store.next(
            .answered(FakeStore.refusal(404, "transactionNotFound")), when: \.isFinish)
        store.hold(when: \.isFinish)
        let app = rig.launch(observer: DiaryObserver(finishes: true), transport: store)
        app.add("credits.5")
        await store.diary.wait(for: "held")
        rig.files.fail { _ in true }

        store.release()
        await until("the end of the finish") { await app.device.finishers.isEmpty }

        #expect(rig.store.count(\.isFinish) == 1)
        rig.files.fail(when: nil)
        await app.device.close()
    }

    // MARK: Failures that cannot be written

    /// On disk it is confirmed: reported as failed, it would be sold at the
    /// next launch.
    @Test func `a confirmed payment is reported as failed when that is on disk`() async throws {
        rig.store.state.withLock {
            $0.refusal = WireError(code: "declined", message: "No.")
        }
        let first = rig.launch()
        _ = try await first.products("credits.5")
        let written = rig.files.replacements
        rig.files.fail { $0 > written + 2 }
        first.add("credits.5")
        await until("more tries to write the failure") {
            rig.files.replacements >= written + 6
        }

        #expect(first.observer.diary.lines == ["purchasing credits.5"])
        #expect(rig.store.count(\.isPurchase) == 1)
        rig.files.fail(when: nil)
        await first.observer.diary.wait(for: "failed")
        await first.device.close()
        rig.store.state.withLock { $0.refusal = nil }

        #expect(await rig.quietLaunch() == ["failed credits.5 0"])
        #expect(rig.store.state.withLock { $0.sales.count } == 0)
    }

    /// The write failed, the new bytes are in place, and nobody can look.
    @Test func `a payment that may be confirmed on disk is not reported as failed`()
        async throws
    {
        let first = rig.launch()
        _ = try await first.products("credits.5")
        rig.files.fail(after: rig.files.replacements + 2, andReads: 6)

        first.add("credits.5")
        await first.observer.diary.wait(until: { $0.count > 1 }, "an outcome")
        await first.device.close()

        #expect(first.observer.diary.lines.last == "failed credits.5 0")
        #expect(await rig.quietLaunch() == ["failed credits.5 0"])
        #expect(rig.store.count(\.isPurchase) == 0)
        #expect(rig.sheet.shown.lines.count == 1)
    }
}

extension FakeStore {
    /// Waits until calls of this kind have come so often.
    func called(_ count: Int, _ applies: (DeviceRoute) -> Bool) async {
        await until("\(count) calls", seen: "\(self.count(applies))") {
            self.count(applies) >= count
        }
    }
}
