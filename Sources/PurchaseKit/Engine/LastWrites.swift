// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Lets a process that exits write what its app has already asked for: a
/// finish that was called right before `exit` or the end of `main` is on disk
/// before the process is gone. Bounded, so that a disk that hangs does not
/// hold up an exit. A process that is killed, or ends by `_exit`, waits for
/// nothing: its transactions are delivered again at the next launch.
///
/// One for the process, because that is what exits.
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

    /// Runs `body` on a queue; an exit waits for it.
    static func run(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        _ = registered
        queue.async(group: underWay, execute: body)
    }
}
