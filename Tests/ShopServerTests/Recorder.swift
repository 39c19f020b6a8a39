// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

/// Keeps what happened, and lets a test wait for it instead of for a time.
/// A class, because server and test share it.
final class Recorder<Element: Sendable>: Sendable {
    private let state = Mutex<[Element]>([])

    var elements: [Element] { state.withLock { $0 } }

    func append(_ element: Element) { state.withLock { $0.append(element) } }

    /// The first element of that kind, now or later. Throws when it does not
    /// come, which fails the test by itself.
    @discardableResult
    func first(
        at place: SourceLocation = .here(), where isWanted: (Element) -> Bool
    ) async throws -> Element {
        let what = "a \(Element.self) that the test wants"
        await until(what, seen: "\(elements)", at: place) { elements.contains(where: isWanted) }
        guard let found = elements.first(where: isWanted) else { throw CancellationError() }
        return found
    }
}

/// Time that passes only where a test says so: a wait of one of the durations
/// in `over` ends at once, one of `held` with ``end()``, every other one when
/// its task is cancelled.
struct TestTime: Sendable {
    let over: Set<Duration>
    let held: Duration?
    let waits = Recorder<Duration>()
    private let ends: AsyncStream<Void>
    private let ending: AsyncStream<Void>.Continuation

    init(over: Set<Duration> = [], held: Duration? = nil) {
        self.over = over
        self.held = held
        (ends, ending) = AsyncStream.makeStream()
    }

    func end() { ending.yield() }

    func sleep(_ duration: Duration) async throws {
        waits.append(duration)
        if over.contains(duration) { return }
        if duration == held { for await _ in ends { return } }
        await untilCancelled()
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
