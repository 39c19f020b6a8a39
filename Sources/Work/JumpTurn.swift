// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Lets one task of a process at a time work at a jump: run the errands that it waits
/// for, so that the others know when they are done. A class, because tasks share it.
package final class JumpTurn: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var listeners: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Returns the ends of errands that a jump waits for, from now on.
    func ends() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.listeners.append(continuation) }
        return stream
    }

    /// Called when such an errand has ended in this process.
    func noteEnd() {
        let listeners = state.withLock { state in
            defer { state.listeners = [] }
            return state.listeners
        }
        for listener in listeners { listener.yield() }
    }

    /// Takes the turn if it is free.
    func isEntered() -> Bool {
        state.withLock { state in
            if state.isTaken { return false }
            state.isTaken = true
            return true
        }
    }

    /// Takes the turn when it is free.
    package func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isTaken {
                    state.waiting.append(continuation)
                    return false
                }
                state.isTaken = true
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    /// Passes the turn on.
    package func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
