// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage

/// A clock from a row, with the date before which it must not be.
struct ClockRow: Hashable, Sendable {
    let id: ClockID
    let clock: RealmClock
    /// The customer's last event, if the row contains one.
    let lastEvent: Timestamp?
    let catalogueRevision: Int64
    /// The realm's generation, which is another one when all rows were replaced.
    let generation: Int64
    /// The clock's last jump. Nil if it never jumped.
    let jump: LastJump?

    init(_ row: Row, hasLastEvent: Bool = true) throws {
        guard try row.integer("clock_ahead").magnitude <= Timestamp.magnitudeMax else {
            throw StorageFault(.malformedRow, "a clock beyond all dates")
        }
        id = ClockID(try row.integer("clock_id"))
        clock = RealmClock(
            standsAt: try row.optionalInteger("clock_stands_at").map(Timestamp.init),
            aheadMilliseconds: try row.integer("clock_ahead"),
            rate: try row.integer("clock_rate"),
            since: Timestamp(milliseconds: try row.integer("clock_since")),
            tempo: try row.optionalText("clock_tempo").flatMap(Tempo.init))
        let last = hasLastEvent ? try row.optionalInteger("last_event") : nil
        lastEvent = last.map(Timestamp.init(milliseconds:))
        catalogueRevision = try row.integer("catalogue_revision")
        generation = try row.integer("generation")
        jump = try LastJump(row)
    }

    /// How far the customer's last event can move commercial time forward. This
    /// is how much the clocks of a store's machines may differ, and half of
    /// what a device accepts for a date in the future.
    static let pullMillisecondsMax = SignedDataLimits.signedDateToleranceMilliseconds / 2

    /// Returns the commercial time. It is not before the customer's last event,
    /// if that is only a little ahead. If the event is further ahead, the clock
    /// was set back and is right.
    func now(wall: Timestamp) -> Timestamp {
        let now = clock.now(wall: wall)
        guard let lastEvent, lastEvent > now,
            lastEvent <= now.adding(milliseconds: Self.pullMillisecondsMax)
        else { return now }
        return lastEvent
    }
}

/// The last jump of a clock, and what happens to the notifications that it causes.
struct LastJump: Hashable, Sendable {
    let target: Timestamp
    let notifications: JumpNotifications

    init(target: Timestamp, notifications: JumpNotifications) {
        self.target = target
        self.notifications = notifications
    }

    /// Nil if there was none.
    init?(_ row: Row) throws {
        guard let target = try row.optionalInteger("jumped_to"),
            let notifications = try row.optionalText("jump_notifications")
                .flatMap(JumpNotifications.init)
        else { return nil }
        self.init(target: Timestamp(milliseconds: target), notifications: notifications)
    }
}
