// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import Synchronization

/// Starts threads of our own. libpq blocks its thread, and Swift has only as
/// many cooperative threads as there are cores.
enum PlainThread {
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.start()
    }
}

/// Whether something was closed, such as a schema's storage, or a call that was
/// cancelled.
final class ClosedFlag: Sendable {
    private let state = Mutex(false)

    func close() { state.withLock { $0 = true } }

    var isClosed: Bool { state.withLock { $0 } }

    func check() throws {
        if isClosed {
            throw StorageFault(.unavailable, "the storage was closed")
        }
    }
}
