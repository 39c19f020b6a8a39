// SPDX-License-Identifier: Apache-2.0

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
}
