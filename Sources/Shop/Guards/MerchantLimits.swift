// SPDX-License-Identifier: Apache-2.0

import Commerce
import Synchronization

/// How many requests a second Apple allows to an address of its server API, for one app.
/// The sum is enforced by the hour, and a sandbox has a tenth.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits)
public enum MerchantRate: Int64, Hashable, Sendable, CaseIterable {
    case one = 1
    case ten = 10
    case twenty = 20
    case fifty = 50

    /// Requests an hour.
    func perHour(isProduction: Bool) -> Int64 { rawValue * 3600 / (isProduction ? 1 : 10) }
}

/// Counts the requests of each app to each address, by the hour of the wall clock. Each
/// process counts its own. A class, because all requests of a realm share it. Its size is
/// limited: when it is full, those that are not in it share one counter.
final class MerchantLimits: Sendable {
    private struct Key: Hashable {
        let bundleID: BundleID
        let address: String
    }

    private struct State {
        var hour: Int64 = 0
        var counts: [Key: Int64] = [:]
    }

    /// The most counters, which take a few megabytes.
    static let entriesMax = 20_000
    private static let hourMilliseconds: Int64 = 3_600_000
    private let state = Mutex(State())

    /// Counts a request. Returns when the next one is allowed if there were too many,
    /// and nil otherwise.
    func count(
        _ bundleID: BundleID, _ address: String, perHour: Int64, at wall: Timestamp
    ) -> Timestamp? {
        let hour = wall.milliseconds / Self.hourMilliseconds
        return state.withLock { state in
            if state.hour != hour { state = State(hour: hour) }
            var key = Key(bundleID: bundleID, address: address)
            if state.counts[key] == nil, state.counts.count >= Self.entriesMax {
                key = Key(bundleID: BundleID(""), address: "")
            }
            let count = state.counts[key, default: 0] + 1
            guard count <= perHour else {
                return Timestamp(milliseconds: (hour + 1) * Self.hourMilliseconds)
            }
            state.counts[key] = count
            return nil
        }
    }
}
