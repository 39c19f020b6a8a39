// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What the engine reports: entries that are new or have changed, keys of entries
/// that have left the queue, and ids of products that the customer has lost.
enum QueueNews: Sendable {
    case updated([QueueEntry])
    case removed([String])
    case revoked([String])
}

/// The port from the engine to an interface that apps use. It has one listener
/// of each type for each device, which passes the news on to the app.
protocol DeviceListener: AnyObject, Sendable {
    /// Whether anything in the app waits for news. The queue works only while
    /// this is so. After a change, call ``Device/listenersChanged()``.
    var isListening: Bool { get }

    /// Takes up news in the order of the calls. Called by the device, and must
    /// return at once.
    func hear(_ news: QueueNews)
}

extension Device {
    /// Returns this device's listener of a type. The first call makes it.
    nonisolated func listener<Listener: DeviceListener>(_ make: () -> Listener) -> Listener {
        listeners.withLock { listeners in
            if let known = listeners.lazy.compactMap({ $0 as? Listener }).first { return known }
            let listener = make()
            listeners.append(listener)
            return listener
        }
    }

    /// Asks outside the lock: what a listener releases may call the device.
    nonisolated var isHeard: Bool { listeners.withLock { $0 }.contains(where: \.isListening) }

    func report(_ news: QueueNews) {
        if case .updated(let entries) = news { reported.formUnion(entries.map(\.key)) }
        for listener in listeners.withLock({ $0 }) { listener.hear(news) }
    }
}
