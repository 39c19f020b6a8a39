// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Wakes the task that looks for work. A ring without a listener is kept for
/// the next one, and two rings count as one. A class, because writers and the
/// worker share it.
final class WorkBell: Sendable {
    private struct State {
        var isRung = false
        var isClosed = false
        var wake: AsyncStream<Void>.Continuation?
    }

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock { $0.isClosed } }

    func ring() {
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
    func wait() async {
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
    func close() {
        let wake = state.withLock { state in
            state.isClosed = true
            defer { state.wake = nil }
            return state.wake
        }
        wake?.yield()
    }
}
