// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import Work

/// The bell on which a worker sleeps: without one that holds it, it would look
/// for work without a pause.
@Suite(.engineFree, .timeLimit(.minutes(5))) struct WorkBellTests {
    /// A task that waits for a bell, and whether its wait has ended.
    private final class Listener: Sendable {
        private let isDone = Mutex(false)
        private let task: Mutex<Task<Void, Never>?> = Mutex(nil)

        init(_ bell: WorkBell) {
            task.withLock {
                $0 = Task {
                    await bell.wait()
                    isDone.withLock { $0 = true }
                }
            }
        }

        /// Whether it still waits after it had every chance to go on.
        func stays() async -> Bool {
            await giveWay(times: 200)
            return !isDone.withLock { $0 }
        }

        func cancel() { task.withLock { $0 }?.cancel() }

        func end() async {
            await until("the end of a wait for the bell") { isDone.withLock { $0 } }
        }
    }

    private func holds(_ bell: WorkBell) async -> Bool {
        let listener = Listener(bell)
        defer { listener.cancel() }
        return await listener.stays()
    }

    @Test func `a ring ends the wait for it`() async {
        let bell = WorkBell()
        let listener = Listener(bell)
        #expect(await listener.stays())

        bell.ring()

        await listener.end()
        #expect(await holds(bell))
    }

    @Test func `rings without a listener count as one, for the next`() async {
        let bell = WorkBell()
        bell.ring()
        bell.ring()

        await Listener(bell).end()

        #expect(await holds(bell))
    }

    @Test func `a closed bell holds no listener, before and after`() async {
        let bell = WorkBell()
        let before = Listener(bell)
        #expect(await before.stays())

        bell.close()

        await before.end()
        for _ in 0..<2 { await Listener(bell).end() }
        #expect(bell.isClosed)
    }

    @Test func `a listener that is cancelled waits no longer`() async {
        let bell = WorkBell()
        let listener = Listener(bell)
        #expect(await listener.stays())

        listener.cancel()

        await listener.end()
    }
}
