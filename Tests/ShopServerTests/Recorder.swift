// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import Synchronization

/// Keeps what happened, and lets a test wait for it instead of for a time.
/// A class, because server and test share it.
final class Recorder<Element: Sendable>: Sendable {
    private struct Waiter {
        let isWanted: @Sendable (Element) -> Bool
        let found: CheckedContinuation<Element, Never>
    }

    private let state = Mutex<(elements: [Element], waiters: [Waiter])>(([], []))

    var elements: [Element] { state.withLock { $0.elements } }

    func append(_ element: Element) {
        let woken = state.withLock { state in
            state.elements.append(element)
            let woken = state.waiters.filter { $0.isWanted(element) }
            state.waiters.removeAll { $0.isWanted(element) }
            return woken
        }
        for waiter in woken { waiter.found.resume(returning: element) }
    }

    /// The first element of that kind, now or later.
    func first(where isWanted: @escaping @Sendable (Element) -> Bool) async -> Element {
        await withCheckedContinuation { found in
            let present = state.withLock { state -> Element? in
                if let present = state.elements.first(where: isWanted) { return present }
                state.waiters.append(Waiter(isWanted: isWanted, found: found))
                return nil
            }
            if let present { found.resume(returning: present) }
        }
    }
}

/// Time that passes only where a test says so: a wait of one of the durations
/// in `over` ends at once, every other one when its task is cancelled.
struct TestTime: Sendable {
    let over: Set<Duration>
    let waits = Recorder<Duration>()

    init(over: Set<Duration> = []) {
        self.over = over
    }

    func sleep(_ duration: Duration) async throws {
        waits.append(duration)
        if over.contains(duration) { return }
        let (never, _) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
        throw CancellationError()
    }
}

/// One line of a log, with all its words.
struct LogLine: Sendable {
    let level: Logger.Level
    let message: String
    let metadata: [String: String]
}

struct RecordingLogHandler: LogHandler {
    let lines: Recorder<LogLine>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(_ lines: Recorder<LogLine>) {
        self.lines = lines
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
        lines.append(
            LogLine(
                level: event.level, message: "\(event.message)",
                metadata: all.mapValues { "\($0)" }))
    }
}
