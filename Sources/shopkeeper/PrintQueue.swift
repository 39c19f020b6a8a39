// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Prints what a server reports, on a thread of its own: a reader that stops
/// reading, such as a paused terminal, delays no request. Lines that the reader is
/// too far behind for are dropped.
final class PrintQueue: Sendable {
    /// The events of a store, on standard output.
    static let events = PrintQueue("events")
    /// The log of a server, on standard error.
    static let log = PrintQueue("log")

    private static let linesMax = 1000

    private let waiting = Mutex(0)
    private let printer: DispatchQueue
    private let lines = DispatchGroup()

    private init(_ label: String) { printer = DispatchQueue(label: label) }

    /// Calls `write` after the earlier calls, or never.
    func add(_ write: @escaping @Sendable () -> Void) {
        let hasRoom = waiting.withLock { count in
            guard count < Self.linesMax else { return false }
            count += 1
            return true
        }
        guard hasRoom else { return }
        printer.async(group: lines) { [self] in
            write()
            waiting.withLock { $0 -= 1 }
        }
    }

    /// Waits until everything is printed. Returns false if the reader has read
    /// nothing for a second.
    static func drain() -> Bool {
        let ends = [events, log].map { $0.lines.wait(timeout: .now() + .seconds(1)) }
        return ends.allSatisfy { $0 == .success }
    }
}
