// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport

/// Where a run is cut: at which port call, and on which side of it.
struct Cut: Hashable, Sendable, CustomStringConvertible {
    enum Side: String, CaseIterable, Sendable {
        case before, after
    }

    let index: Int
    let side: Side

    var description: String { "\(side.rawValue) call \(index)" }
}

/// Numbers the port calls of a run, and says where to cut. A class, because
/// all ports of a run share it.
final class Tape: Sendable {
    private struct State {
        var isRunning = false
        var calls: [String] = []
        var hasFired = false
    }

    private let state = Mutex(State())
    private let cut: Cut?

    /// A tape that cuts nothing only lists the calls.
    init(cut: Cut? = nil) {
        self.cut = cut
    }

    var calls: [String] { state.withLock { $0.calls } }
    var hasFired: Bool { state.withLock { $0.hasFired } }

    func start() { state.withLock { $0.isRunning = true } }
    func stop() { state.withLock { $0.isRunning = false } }

    /// Counts a call, and says on which side of it to cut. After the cut
    /// nothing is counted any more.
    func enter(_ name: String) -> Cut.Side? {
        state.withLock { state in
            guard state.isRunning, !state.hasFired else { return nil }
            state.calls.append(name)
            guard let cut, cut.index == state.calls.count - 1 else { return nil }
            state.hasFired = true
            return cut.side
        }
    }
}

/// One incarnation of a process: when it is killed, all that it does
/// afterwards comes to nothing. A class, because its ports share its end.
final class Life: Sendable {
    struct Ended: Error {}

    private let ended = Mutex(false)
    private let asked = Mutex(false)

    var isAlive: Bool { !ended.withLock { $0 } }
    func kill() { ended.withLock { $0 = true } }

    /// Whether the device has asked the store for transactions, and heard.
    var hasAsked: Bool { asked.withLock { $0 } }
    func noteAsked() { asked.withLock { $0 = true } }
}

/// Rung whenever something happened, so that a run can look again. A class,
/// because ports ring it and the run waits for it.
final class Bell: Sendable {
    struct NothingHappened: Error {}

    private let patience: Duration
    private let state = Mutex(0)

    init(patience: Duration) {
        self.patience = patience
    }

    var rung: Int { state.withLock { $0 } }

    func ring() { state.withLock { $0 += 1 } }

    /// Returns when it was rung since; throws when it stays silent for long.
    func next(since rung: Int) async throws {
        guard await becomes(within: patience, so: { self.rung != rung }) else {
            throw NothingHappened()
        }
    }
}
