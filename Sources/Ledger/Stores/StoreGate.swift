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

    /// A call that was admitted.
    struct Turn {
        /// The milliseconds to wait before it.
        let pause: Int64
        fileprivate let closings: Int
    }

    /// Admits a call. Throws if the server is left alone at present, or if the call would
    /// wait too long for its turn.
    func enter(
        _ host: String, perSecond: Int, waitMax: Int64, at now: Timestamp
    ) throws(StoreTrouble) -> Turn {
        let turn = hosts.withLock { hosts -> Result<Turn, StoreTrouble> in
            var known = hosts[host] ?? Host(budget: RateBudget(perSecond: perSecond))
            defer { hosts[host] = known }
            let pause = known.budget.wait(at: now)
            guard pause <= waitMax else {
                return .failure(
                    StoreTrouble(
                        .unreachable, "too many questions wait for the store",
                        until: now.adding(milliseconds: pause)))
            }
            if let until = known.breaker.wait(at: now) { return .failure(Self.closed(until)) }
            return .success(
                Turn(pause: known.budget.take(at: now), closings: known.breaker.closings))
        }
        return try turn.get()
    }

    /// Throws if calls were kept away since a call was admitted, which has waited for its
    /// turn.
    func check(_ turn: Turn, _ host: String, at now: Timestamp) throws(StoreTrouble) {
        let until = hosts.withLock { hosts -> Timestamp? in
            guard let breaker = hosts[host]?.breaker, breaker.closings != turn.closings else {
                return nil
            }
            return breaker.closing(at: now)
        }
        if let until { throw Self.closed(until) }
    }

    private static func closed(_ until: Timestamp) -> StoreTrouble {
        StoreTrouble(.unreachable, "the store is not asked at present", until: until)
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
        /// The store says that it cannot read the proof, or that it is in trouble: it does not
        /// say which.
        case unclear
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
