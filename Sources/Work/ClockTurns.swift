// SPDX-License-Identifier: Apache-2.0

import Commerce
import Synchronization

/// The turns of the clocks whose inner work is done: one task of a process at a time
/// does a clock's. Two would draw numbers for the same pieces, and which of them sells
/// would depend on which is faster. A class, because tasks share it.
package final class ClockTurns: Sendable {
    private let turns = Mutex<[ClockID: JumpTurn]>([:])

    package init() {}

    func turn(of clock: ClockID) -> JumpTurn {
        turns.withLock { turns in
            if let turn = turns[clock] { return turn }
            let turn = JumpTurn()
            turns[clock] = turn
            return turn
        }
    }
}
