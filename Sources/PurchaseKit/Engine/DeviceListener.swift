// SPDX-License-Identifier: Apache-2.0

import StoreWire
import Synchronization

/// What the engine reports.
enum QueueNews: Sendable {
    /// Entries that are new or have changed.
    case updated([QueueEntry])
    /// The keys of entries that have left the queue.
    case removed([String])
    /// The ids of products that the customer has lost.
    case revoked([String])
    /// A restore has ended, after everything that it delivered. Contains the
    /// reason if it is not complete.
    case restoreEnded(PaymentFailure?)
    /// Downloads as they are, before their entries are reported.
    case downloadsKnown([DownloadFacts])
    /// Downloads that have changed.
    case downloads([DownloadFacts])
    /// The download of a key cannot be started.
    case downloadLost(String, PaymentFailure)
    /// The customer has another storefront.
    case storefrontChanged
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

    /// Returns whether the app lets a payment go on in another storefront than that
    /// in which the customer confirmed it.
    func shouldContinue(_ key: String, in storefront: StorefrontDescription) async -> Bool

    /// Returns whether the customer is asked now about a higher price. Otherwise the
    /// app chooses the moment.
    func shouldShowPriceConsent() async -> Bool

    /// Returns what the app decides about a payment that began outside of it.
    func shouldAddStorePayment(
        _ payment: PaymentContents, for product: ProductDescription
    ) async -> StorePaymentAnswer
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
