// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import TestSupport
import Testing

/// Waits of plain threads end, and say what they awaited.
@Suite struct WaitingTests {
    private static func names(_ what: String, _ issue: Issue) -> Bool {
        "\(issue)".contains("Awaited: \(what).")
    }

    @Test func `a wait at a gate that stays closed ends with a sentence`() {
        withKnownIssue {
            #expect(!DispatchSemaphore(value: 0).wait(for: "nobody", within: 0))
        } matching: {
            Self.names("nobody", $0)
        }
        let open = DispatchSemaphore(value: 0)
        open.signal()
        #expect(open.wait(for: "somebody", within: 0))
    }

    @Test func `a wait for a condition that never holds ends with a sentence`() {
        let condition = NSCondition()
        condition.lock()
        withKnownIssue {
            #expect(!condition.wait(for: "never", within: 0) { false })
        } matching: {
            Self.names("never", $0)
        }
        #expect(condition.wait(for: "now", within: 0) { true })
        condition.unlock()
    }
}
