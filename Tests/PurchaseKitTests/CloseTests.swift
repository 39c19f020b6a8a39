// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import TestSupport
import Testing

@testable import PurchaseKit

/// A closed device leaves no call under way.
@Suite(.timeLimit(.minutes(5))) struct CloseTests {
    enum Call: String, Sendable, CaseIterable {
        case signIn, transactions, purchase, receipt, finish

        func isMade(by route: DeviceRoute) -> Bool {
            switch (self, route) {
            case (.signIn, .signIn), (.transactions, .transactions), (.purchase, .purchase),
                (.receipt, .receipt), (.finish, .finish):
                true
            default: false
            }
        }
    }

    /// Never answers the chosen call: only its cancellation ends it.
    private struct StuckStore: StoreTransport {
        let store: FakeStore
        let diary: Diary
        let call: Call

        func send(_ asked: DeviceCall) async throws(TransportFailure) -> DeviceReply {
            guard call.isMade(by: asked.route) else { return try await store.send(asked) }
            diary.write("asked")
            await untilCancelled()
            diary.write("ended")
            throw .unknown(URLError(.cancelled))
        }
    }

    @Test(arguments: Call.allCases)
    func `closing a device ends the call that it waits for`(call: Call) async throws {
        let (rig, diary) = (try Rig(), Diary())
        let app = rig.launch(
            observer: DiaryObserver(finishes: true), naps: false,
            transport: StuckStore(store: rig.store, diary: diary, call: call))
        app.add("credits.5")
        await diary.wait(for: "asked")

        await app.device.close()

        await diary.wait(for: "ended")
    }

    @Test func `a closed device follows its store no more, whoever listens`() async throws {
        let rig = try Rig()
        let app = rig.launch(observer: nil)
        _ = try await app.products("credits.5")
        await app.device.close()
        let calls = rig.store.count { _ in true }

        app.queue.add(DiaryObserver())

        #expect(await app.device.follower == nil)
        #expect(rig.store.count { _ in true } == calls)
    }
}
