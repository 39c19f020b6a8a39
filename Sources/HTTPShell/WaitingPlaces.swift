// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts the requests that wait for changes: all of them, those of each
/// customer, and those of each client's address. A class, because all requests
/// share it.
final class WaitingPlaces: Sendable {
    /// The owner of a share of the places.
    enum Holder: Hashable, Sendable {
        case customer(String)
        case address(String)
    }

    private struct State {
        var count = 0
        var shares: [Holder: Int] = [:]
    }

    private let state = Mutex(State())

    var count: Int { state.withLock(\.count) }

    /// Takes one of `max` places, and one of each holder's share. Throws
    /// `tooManyWaiting` if all are taken, and `tooManyWaitingHere` if a
    /// holder's share is.
    func take(
        max: Int, shares: [Holder: Int]
    ) throws(RequestMistake) {
        let mistake: RequestMistake? = state.withLock { state in
            if shares.contains(where: { state.shares[$0.key, default: 0] >= $0.value }) {
                return .tooManyWaitingHere
            }
            guard state.count < max else { return .tooManyWaiting }
            state.count += 1
            for holder in shares.keys { state.shares[holder, default: 0] += 1 }
            return nil
        }
        if let mistake { throw mistake }
    }

    func giveBack(_ shares: [Holder: Int]) {
        state.withLock { state in
            state.count -= 1
            for holder in shares.keys {
                let left = state.shares[holder, default: 1] - 1
                state.shares[holder] = left > 0 ? left : nil
            }
        }
    }
}
