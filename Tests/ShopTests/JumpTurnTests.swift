// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Work

/// The turn that the tasks of a process take to run what a jump waits for.
@Suite(.timeLimit(.minutes(5))) struct JumpTurnTests {
    @Test func `a turn that is taken is passed on, and is free after the last`() async throws {
        let turn = JumpTurn()
        let (entries, entry) = AsyncStream.makeStream(of: Int.self)

        #expect(turn.isEntered() && !turn.isEntered())
        // Each runs until it waits for its turn.
        for number in 1...2 {
            Task.immediate {
                await turn.enter()
                entry.yield(number)
            }
        }
        turn.leave()
        let one = await first(of: entries, "the first that waited")
        #expect(!turn.isEntered())
        turn.leave()
        let two = await first(of: entries, "the second that waited")
        #expect(!turn.isEntered())
        turn.leave()

        #expect(one == 1 && two == 2)
        #expect(turn.isEntered())
    }
}
