// SPDX-License-Identifier: Apache-2.0

import StoreWire
import Synchronization

extension Store {
    /// Does the due work of every open realm until it is cancelled. Called once
    /// for each process.
    public func work() async {
        let realms = open.all()
        await withDiscardingTaskGroup { group in
            for await realm in realms { group.addTask { await realm.keeping.work() } }
            group.cancelAll()
        }
    }
}

/// The open realms, for the worker. A class, because the tasks that open realms
/// and the worker share it.
final class OpenRealms: Sendable {
    private struct State {
        var realms: [String: Realm] = [:]
        var listener: AsyncStream<Realm>.Continuation?
    }

    private let state = Mutex(State())

    func add(_ realm: Realm) {
        let listener = state.withLock { state in
            state.realms[realm.description.id] = realm
            return state.listener
        }
        listener?.yield(realm)
    }

    func remove(_ id: String) {
        _ = state.withLock { $0.realms.removeValue(forKey: id) }
    }

    /// The realms that are open now.
    var now: [Realm] { state.withLock { Array($0.realms.values) } }

    /// Returns the open realms, and then those that are opened later.
    func all() -> AsyncStream<Realm> {
        let (stream, listener) = AsyncStream.makeStream(of: Realm.self)
        let open = state.withLock { state in
            state.listener = listener
            return Array(state.realms.values)
        }
        for realm in open { listener.yield(realm) }
        return stream
    }
}
