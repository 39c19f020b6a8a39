// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Live
import Shop
public import StoreWire
import Synchronization

/// Wall time in a test: by it sessions end, and with it runs commercial time
/// until that is moved. It stands still unless it is let run. A class,
/// because the store, its devices and the test share it.
public final class TestWallClock: Sendable {
    /// Where wall time begins unless told otherwise: 2026-01-01T00:00:00Z.
    public static let start = Timestamp(milliseconds: 1_767_225_600_000)

    /// What it says, and since which instant of the machine it runs.
    private let state: Mutex<(instant: Timestamp, runsSince: Duration?)>

    public init(at instant: Timestamp = TestWallClock.start, isRunning: Bool = false) {
        state = Mutex((instant, isRunning ? Live.monotonic() : nil))
    }

    public var now: Timestamp { state.withLock { Self.now($0) } }

    /// This clock as stores and devices take it.
    public var clock: WallClock { WallClock { self.now } }

    /// Jumps forward.
    public func advance(seconds: Int64) {
        state.withLock { $0.instant = $0.instant.adding(seconds: seconds) }
    }

    /// Lets it run at the machine's speed from where it stands.
    public func run() {
        state.withLock { $0 = (Self.now($0), Live.monotonic()) }
    }

    /// Lets it stand where it is.
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

/// Commercial time in a test: it dates what is sold. Moving it moves no wall
/// time and ends no session.
public struct TestClock: Sendable {
    let shop: TestShop

    /// What it says.
    public func now() async throws -> Timestamp { try await shop.realm.clock().now }

    /// Stands at an instant, earlier ones too.
    @discardableResult
    public func stand(at instant: Timestamp) async throws -> ClockDescription {
        try await move(MoveClockRequest(standAt: instant))
    }

    /// Runs with the wall, so far ahead of it.
    @discardableResult
    public func run(aheadSeconds: Int64 = 0) async throws -> ClockDescription {
        try await move(MoveClockRequest(runOffsetMilliseconds: aheadSeconds * 1000))
    }

    /// Runs so many times as fast as the wall, from where it is; 1 is real time.
    @discardableResult
    public func run(rate: Int64) async throws -> ClockDescription {
        try await move(MoveClockRequest(rate: rate))
    }

    /// Jumps forward.
    @discardableResult
    public func advance(seconds: Int64) async throws -> ClockDescription {
        try await move(MoveClockRequest(advanceMilliseconds: seconds * 1000))
    }

    private func move(_ request: MoveClockRequest) async throws -> ClockDescription {
        try await shop.realm.moveClock(request, RequestContext(requestID: "test"))
    }
}
