// SPDX-License-Identifier: Apache-2.0

import PurchaseKit
import StoreWire
import Synchronization

/// A store whose answers to chosen calls are on their way until a test lets
/// them arrive.
final class HoldingStore: StoreTransport {
    private struct State {
        var rules: [@Sendable (DeviceRoute) -> Bool] = []
        var held: [AsyncStream<Void>.Continuation] = []
    }

    private let store: FakeStore
    private let state = Mutex(State())
    /// One line for each answer that is held, and for each whose call was cancelled.
    let diary = Diary()

    init(_ store: FakeStore) {
        self.store = store
    }

    /// Holds the answer to the next such call.
    func hold(when applies: @escaping @Sendable (DeviceRoute) -> Bool) {
        state.withLock { $0.rules.append(applies) }
    }

    /// Lets the answer arrive that is held longest.
    func release() {
        state.withLock { $0.held.isEmpty ? nil : $0.held.removeFirst() }?.finish()
    }

    func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply {
        let reply = try await store.send(call)
        let isHeld = state.withLock { state in
            guard let index = state.rules.firstIndex(where: { $0(call.route) }) else {
                return false
            }
            state.rules.remove(at: index)
            return true
        }
        guard isHeld else { return reply }
        let (released, release) = AsyncStream<Void>.makeStream()
        state.withLock { $0.held.append(release) }
        diary.write("held \(call.route.method)")
        for await _ in released {}
        if Task.isCancelled { diary.write("cancelled \(call.route.method)") }
        return reply
    }
}
