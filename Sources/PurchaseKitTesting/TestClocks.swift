// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Live
import Shop
public import StoreWire
import Synchronization

/// The wall time of a test. Sessions end by it, and commercial time runs with
/// it until that is moved. It stands still unless it is started. A class,
/// because the store, its devices and the test share it.
public final class TestWallClock: Sendable {
    /// The default start of wall time: 2026-01-01T00:00:00Z.
    public static let start = Timestamp(milliseconds: 1_767_225_600_000)

    /// The current instant, and the machine's instant since which it runs.
    private let state: Mutex<(instant: Timestamp, runsSince: Duration?)>

    public init(at instant: Timestamp = TestWallClock.start, isRunning: Bool = false) {
        state = Mutex((instant, isRunning ? Live.monotonic() : nil))
    }

    public var now: Timestamp { state.withLock { Self.now($0) } }

    /// This clock for stores and devices.
    public var clock: WallClock { WallClock { self.now } }

    /// Moves the clock forward.
    public func advance(seconds: Int64) {
        state.withLock { $0.instant = $0.instant.adding(seconds: seconds) }
    }

    /// Makes the clock run at the machine's speed from its current time.
    public func run() {
        state.withLock { $0 = (Self.now($0), Live.monotonic()) }
    }

    /// Makes the clock stand at its current time.
    public func stand() {
        state.withLock { $0 = (Self.now($0), nil) }
    }

    private static func now(_ state: (instant: Timestamp, runsSince: Duration?)) -> Timestamp {
        guard let since = state.runsSince else { return state.instant }
        let run = (Live.monotonic() - since).components
        return state.instant.adding(
            milliseconds: run.seconds * 1000 + run.attoseconds / 1_000_000_000_000_000)
    }
}

/// The commercial time of a test, which dates what is sold. Moving it does not
/// move wall time and ends no session.
public struct TestClock: Sendable {
    let shop: TestShop

    /// Returns the current commercial time.
    public func now() async throws -> Timestamp { try await shop.realm.clock().now }

    /// Makes the clock stand at an instant, which may be earlier.
    @discardableResult
    public func stand(at instant: Timestamp) async throws -> ClockDescription {
        try await move(MoveClockRequest(standAt: instant))
    }

    /// Makes the clock run with the wall clock, `aheadSeconds` ahead of it.
    @discardableResult
    public func run(aheadSeconds: Int64 = 0) async throws -> ClockDescription {
        try await move(MoveClockRequest(runOffsetMilliseconds: aheadSeconds * 1000))
    }

    /// Makes the clock run at a multiple of the wall clock's speed, from its
    /// current time. 1 is real time.
    @discardableResult
    public func run(rate: Int64) async throws -> ClockDescription {
        try await move(MoveClockRequest(rate: rate))
    }

    /// Moves the clock forward. Returns when what fell due is done, and when the
    /// notifications that it caused are sent, unless `notifications` says
    /// otherwise.
    @discardableResult
    public func advance(
        seconds: Int64, notifications: JumpNotifications? = nil
    ) async throws -> ClockDescription {
        try await move(
            MoveClockRequest(
                advanceMilliseconds: seconds * 1000, notifications: notifications?.rawValue))
    }

    /// Moves the clock forward by a period of the calendar: a month after 31
    /// January is the last day of February.
    @discardableResult
    public func advance(
        _ period: Period, notifications: JumpNotifications? = nil
    ) async throws -> ClockDescription {
        try await move(
            MoveClockRequest(
                advancePeriod: period.description, notifications: notifications?.rawValue))
    }

    /// Moves the clock forward by months of the calendar.
    @discardableResult
    public func advance(
        months: Int, notifications: JumpNotifications? = nil
    ) async throws -> ClockDescription {
        try await advance(Period(months, .month), notifications: notifications)
    }

    /// Ends the jump that is under way in another task, where its work has come to.
    @discardableResult
    public func stopJump() async throws -> ClockDescription {
        try await move(MoveClockRequest(stopsJump: true))
    }

    private func move(_ request: MoveClockRequest) async throws -> ClockDescription {
        try await shop.realm.moveClock(request, RequestContext(requestID: "test"))
    }
}
