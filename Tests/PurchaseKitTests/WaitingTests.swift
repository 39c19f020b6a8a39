// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import PurchaseKit

/// Waiting between tries, on a clock that never ends a nap by itself.
@Suite(.timeLimit(.minutes(5)))
struct WaitingTests {
    @Test func `hope that comes during a try is not slept through`() async throws {
        let device = try Rig().launch(naps: false).device

        let wakes = await device.wakeCount
        await device.wake()
        await device.nap(0, since: wakes)

        let others = await device.wakeCount
        async let nap: Void = device.nap(0, since: others)
        await until("a nap that has begun") { await !device.naps.isEmpty }
        await device.wake()
        await nap
        #expect(await device.naps.isEmpty)
    }

    @Test func `a nap ends with the task that takes it`() async throws {
        let device = try Rig().launch(naps: false).device
        let task = Task { await device.nap(0, since: device.wakeCount) }
        await until("a nap that has begun") { await !device.naps.isEmpty }

        task.cancel()
        await task.value

        #expect(await device.naps.isEmpty)
    }

    @Test func `news that were read wake nobody, unless the store was away before`() async throws {
        let rig = try Rig()
        let store = HoldingStore(rig.store)
        store.hold(when: \.isTransactions)
        let app = rig.launch(naps: false, transport: store)
        await store.diary.wait(for: "held GET")
        store.release()
        await app.device.follower?.value
        #expect(await app.device.wakeCount == 0)
        await app.device.close()

        rig.store.next(.lost(.notSent(URLError(.cannotConnectToHost))), when: \.isTransactions)
        store.hold(when: \.isTransactions)
        let next = rig.launch(transport: store)
        await store.diary.wait(for: "held GET", count: 2)
        store.release()
        await next.device.follower?.value
        #expect(await next.device.wakeCount == 1)
        await next.device.close()
    }

    /// A store that answers at once with nothing would be asked without end.
    @Test(arguments: [(999, 2), (1000, 3)])
    func `a store is asked again at once if its answer took a second, and else after a pause`(
        milliseconds: Int64, calls: Int
    ) async throws {
        let rig = try Rig()
        let store = HoldingStore(rig.store)
        let time = Mutex(Rig.now)
        let naps = Diary()
        store.hold { $0 == .transactions(since: 0, waitSeconds: 50) }
        let app = rig.launch(
            naps: false, waitSeconds: 50, transport: store,
            wall: WallClock { time.withLock { $0 } }, onNap: { naps.write("nap") })
        await store.diary.wait(for: "held GET")
        time.withLock { $0 = $0.adding(milliseconds: milliseconds) }

        store.release()
        await naps.wait(for: "nap")

        #expect(rig.store.count(\.isTransactions) == calls)
        await app.device.close()
    }
}
