// SPDX-License-Identifier: Apache-2.0

import Commerce
import Synchronization

/// What this process knows about the servers that it calls. A class, because all
/// calls share it.
final class StoreGate: Sendable {
    private struct Host {
        var breaker = CircuitBreaker()
        var budget: RateBudget
    }

    private let hosts = Mutex<[String: Host]>([:])

    /// Admits a call. Returns the milliseconds to wait before it. Throws if the
    /// server is left alone at present.
    func enter(
        _ host: String, perSecond: Int, at now: Timestamp
    ) throws(StoreTrouble) -> Int64 {
        let (pause, until) = hosts.withLock { hosts -> (Int64, Timestamp?) in
            var known = hosts[host] ?? Host(budget: RateBudget(perSecond: perSecond))
            defer { hosts[host] = known }
            if let until = known.breaker.wait(at: now) { return (0, until) }
            return (known.budget.take(at: now), nil)
        }
        guard let until else { return pause }
        throw StoreTrouble(.unreachable, "the store is not asked at present", until: until)
    }

    func succeed(_ host: String) {
        hosts.withLock { $0[host]?.breaker.succeed() }
    }

    func fail(_ host: String, at now: Timestamp) {
        hosts.withLock { $0[host]?.breaker.fail(at: now) }
    }

    func rest(_ host: String, until instant: Timestamp) {
        hosts.withLock { $0[host]?.breaker.rest(until: instant) }
    }
}

/// A store did not answer a question. Nothing follows about the purchase.
struct StoreTrouble: Error, Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// No complete answer, or the store asks to wait.
        case unreachable
        /// The store does not accept the merchant's key.
        case keyRefused
    }

    let kind: Kind
    /// Half a sentence, without addresses and tokens.
    let reason: String
    /// When to ask again at the earliest, if that is known.
    let until: Timestamp?

    init(_ kind: Kind, _ reason: String, until: Timestamp? = nil) {
        self.kind = kind
        self.reason = reason
        self.until = until
    }
}
