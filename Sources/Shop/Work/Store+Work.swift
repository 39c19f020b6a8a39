// SPDX-License-Identifier: Apache-2.0

import StoreWire
import Synchronization

extension Store {
    /// Runs what falls due in every open realm, until it is cancelled. One
    /// caller a process.
    public func work() async {
        let realms = open.all()
        await withDiscardingTaskGroup { group in
            for await realm in realms { group.addTask { await realm.work() } }
            group.cancelAll()
        }
    }
}

/// The realms that are open, for the one who works in them. A class, because
/// openers and the worker share it.
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

    /// Those that are open now.
    var now: [Realm] { state.withLock { Array($0.realms.values) } }

    /// Those that are open and, as they come, those that will be.
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
