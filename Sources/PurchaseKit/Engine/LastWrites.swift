// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Lets a process that exits write what its app has already requested: a finish
/// that was called right before `exit` or the end of `main` is on disk before
/// the process ends. The wait is limited, so that a hanging disk does not block
/// the exit. A process that is killed or calls `_exit` does not wait. Its
/// transactions are delivered again at the next launch.
///
/// One for each process, because it concerns the exit of the process.
enum LastWrites {
    /// How long an exit waits for the device's queues.
    private static let waitMilliseconds = 1000

    private static let underWay = DispatchGroup()
    private static let registered: Void = {
        atexit {
            _ = LastWrites.underWay.wait(
                timeout: .now() + .milliseconds(LastWrites.waitMilliseconds))
        }
    }()

    /// Runs `body` on a queue. An exit waits for it.
    static func run(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        _ = registered
        queue.async(group: underWay, execute: body)
    }
}
