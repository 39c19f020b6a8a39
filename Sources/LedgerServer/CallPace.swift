// SPDX-License-Identifier: Apache-2.0

import Commerce
import HTTPShell
import StoreWire
import Synchronization

/// How many calls someone has left: a bucket that is filled at a steady pace, and from
/// which each call takes one.
struct TokenBucket: Hashable, Sendable {
    private let perSecond: Int
    /// In thousandths of a call.
    private var left: Int64
    private var filledAt: Timestamp

    /// A full bucket, with calls for two seconds.
    init(perSecond: Int, at now: Timestamp) {
        self.perSecond = max(perSecond, 1)
        left = Int64(self.perSecond) * 2000
        filledAt = now
    }

    /// Takes a call. Returns how many seconds to wait if there is none left.
    mutating func take(at now: Timestamp) -> Int? {
        fill(at: now)
        guard left < 1000 else {
            left -= 1000
            return nil
        }
        // A call comes after as many milliseconds as thousandths are missing, by the pace.
        return Int((1000 - left + Int64(perSecond) * 1000 - 1) / (Int64(perSecond) * 1000))
    }

    /// Whether it is as good as a new one.
    mutating func isFull(at now: Timestamp) -> Bool {
        fill(at: now)
        return left == Int64(perSecond) * 2000
    }

    private mutating func fill(at now: Timestamp) {
        let passed = min(max(now.milliseconds(since: filledAt), 0), 60_000)
        left = min(left + passed * Int64(perSecond), Int64(perSecond) * 2000)
        filledAt = max(now, filledAt)
    }
}

/// Counts the calls of each key and of each account in this process. A class, because
/// all requests share it.
final class CallPace: Sendable {
    /// The most callers that are remembered at once.
    static let callersMax = 50_000

    private let perSecond: Int
    /// A key's id or an account's name. Names are compared by their bytes, as in the books.
    private typealias Caller = Identifier<CallPace, String>

    private let callers = Mutex<[Caller: TokenBucket]>([:])

    init(perSecond: Int) { self.perSecond = perSecond }

    /// Counts a call. Throws ``TooManyCalls`` if there were too many. `now` may come
    /// from any clock that never decreases.
    func take(_ caller: String, at now: Timestamp) throws(TooManyCalls) {
        let caller = Caller(caller)
        let seconds = callers.withLock { callers in
            if callers.count >= Self.callersMax, callers[caller] == nil {
                callers = callers.filter {
                    var bucket = $0.value
                    return !bucket.isFull(at: now)
                }
                if callers.count >= Self.callersMax { callers = [:] }
            }
            return callers[caller, default: TokenBucket(perSecond: perSecond, at: now)]
                .take(at: now)
        }
        if let seconds { throw TooManyCalls(seconds: seconds) }
    }
}

/// A key or an account has made too many calls.
struct TooManyCalls: Error {
    let seconds: Int

    var error: WireError {
        WireError(
            code: "callsTooMany", message: "There were too many calls.",
            field: "Authorization", rule: "the `limits` of ledger.yaml",
            remedy: "try again in \(seconds) s")
    }
}
