// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Takes the calls that are under way off the network when the process exits.
///
/// `exit` tears down what lies below URLSession, TLS among it, while its
/// threads still use it, and a process that crashes as it leaves tells its
/// parent a lie. What was under way is not heard of any more, as though the
/// process had been killed: the queue file knows what to ask again.
///
/// One for the process, because that is what exits.
enum LastCalls {
    private struct State {
        var isExiting = false
        var tasks: [ObjectIdentifier: URLSessionTask] = [:]
    }

    /// How long an exit waits for calls to let go; mostly they do so at once.
    private static let waitMilliseconds = 1000

    private static let state = Mutex(State())
    private static let allEnded = DispatchSemaphore(value: 0)
    private static let registered: Void = {
        atexit { LastCalls.leave() }
    }()

    /// To be called when there is a session: what is registered later is run
    /// earlier, so this comes before the end of the libraries that it brought.
    static func watch() { _ = registered }

    /// Starts a call's task, but not while the process exits.
    static func start(_ task: URLSessionTask, of call: AnyObject) {
        let starts = state.withLock { state in
            guard !state.isExiting else { return false }
            state.tasks[ObjectIdentifier(call)] = task
            return true
        }
        if starts { task.resume() }
    }

    /// A call's task has ended; answers whether anybody is still to hear of it.
    static func ended(_ call: AnyObject) -> Bool {
        let (isExiting, isLast) = state.withLock { state in
            let isKnown = state.tasks.removeValue(forKey: ObjectIdentifier(call)) != nil
            return (state.isExiting, isKnown && state.tasks.isEmpty)
        }
        if isExiting, isLast { allEnded.signal() }
        return !isExiting
    }

    private static func leave() {
        let tasks = state.withLock { state in
            state.isExiting = true
            return Array(state.tasks.values)
        }
        guard !tasks.isEmpty else { return }
        for task in tasks { task.cancel() }
        _ = allEnded.wait(timeout: .now() + .milliseconds(waitMilliseconds))
    }
}
