// SPDX-License-Identifier: Apache-2.0

import Storage
import TestSupport
import Testing

/// Writes that may find nothing to write.
@Suite(.timeLimit(.minutes(5))) struct EndingTests {
    @Test(arguments: Engine.allCases)
    func `a write that is left gives its answer and writes nothing`(engine: Engine) async throws {
        let shelf = try await engine.open()

        let left = try await shelf.writeOrLeave { writing -> Ending<Int> in
            try writing.execute(Shelf.insert, Shelf.values(1, "a"))
            return .leave(7)
        }
        let committed = try await shelf.writeOrLeave { writing -> Ending<Int> in
            try writing.execute(Shelf.insert, Shelf.values(2, "b"))
            return .commit(8)
        }

        guard case .leave(7) = left, case .commit(8) = committed else {
            Issue.record("\(left), \(committed)")
            return
        }
        #expect(left.map { $0 + 1 }.answer == 8)
        #expect(try await shelf.count() == 1)
    }
}
