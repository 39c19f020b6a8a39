// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Wakes the task that looks for work. A ring without a listener is kept for
/// the next one, and two rings count as one. A class, because writers and the
/// worker share it.
package final class WorkBell: Sendable {
    private struct State {
        var isRung = false
        var isClosed = false
        var wake: AsyncStream<Void>.Continuation?
    }

    private let state = Mutex(State())

    package init() {}

    package var isClosed: Bool { state.withLock { $0.isClosed } }

    package func ring() {
        let wake = state.withLock { state in
            let wake = state.wake
            state.isRung = wake == nil
            state.wake = nil
            return wake
        }
        wake?.yield()
    }

    /// Returns when the bell is rung or closed, or at once when its task is
    /// cancelled.
    package func wait() async {
        let stream = state.withLock { state -> AsyncStream<Void>? in
            if state.isRung || state.isClosed {
                state.isRung = false
                return nil
            }
            let (stream, wake) = AsyncStream.makeStream(
                of: Void.self, bufferingPolicy: .bufferingNewest(1))
            state.wake = wake
            return stream
        }
        guard let stream else { return }
        for await _ in stream { return }
    }

    /// Releases the listener permanently, because the realm is closed.
    package func close() {
        let wake = state.withLock { state in
            state.isClosed = true
            defer { state.wake = nil }
            return state.wake
        }
        wake?.yield()
    }
}
