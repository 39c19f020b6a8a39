// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// A clock as a snapshot keeps it: with its time at that moment, because it goes on
/// from there.
struct SnapshotClock: Sendable {
    static let table = "clocks"
    static let columns = "clock_id, now, rate, is_standing, tempo"

    let id: ClockID
    let now: Timestamp
    let rate: Int64
    let isStanding: Bool
    let tempo: Tempo?

    /// Every clock of a realm, as rows with ``columns``.
    static func rows(_ reading: any Reading, wall: Timestamp) throws -> [[SQLValue]] {
        var clocks = try Realm.customerClocks(reading)
        clocks[.realm] = try Realm.clock(reading)
        return clocks.sorted { $0.key.value < $1.key.value }.map { id, clock in
            [
                .integer(id.value), .integer(clock.now(wall: wall).milliseconds),
                .integer(clock.rate), .integer(clock.standsAt == nil ? 0 : 1),
                .optional(clock.tempo?.rawValue),
            ]
        }
    }

    /// Nil if the values are not those of a clock.
    init?(_ values: [SQLValue]) {
        guard values.count == 5, case .integer(let id) = values[0],
            case .integer(let now) = values[1], case .integer(let rate) = values[2],
            case .integer(let isStanding) = values[3]
        else { return nil }
        self.id = ClockID(id)
        self.now = Timestamp(milliseconds: now)
        self.rate = rate
        self.isStanding = isStanding == 1
        if case .text(let name) = values[4] { tempo = Tempo(rawValue: name) } else { tempo = nil }
    }

    /// The clock from `wall` on.
    func clock(wall: Timestamp) -> RealmClock {
        RealmClock(
            standsAt: isStanding ? now : nil, aheadMilliseconds: now.milliseconds(since: wall),
            rate: rate, since: wall, tempo: tempo)
    }
}
