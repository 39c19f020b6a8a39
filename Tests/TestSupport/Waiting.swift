// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Testing

/// Waits until something is so, and returns whether it came to be.
///
/// Every wait of a test has this form. It ends when its task is cancelled, as
/// a suite's time limit does, and when ``Patience/long`` is over. Then the test
/// fails with a sentence that names what was awaited and what was seen instead,
/// and its task is cancelled, so that the test's later waits end at once.
///
///     await until("the store has sold twice", seen: "\(store.sales)") { store.sales == 2 }
@discardableResult
public func until(
    _ what: String, seen: @autoclosure () -> String = "",
    isolation: isolated (any Actor)? = #isolation,
    at place: SourceLocation = .here(), _ isSo: () async throws -> Bool
) async rethrows -> Bool {
    let began = ContinuousClock.now
    if try await becomes(so: isSo) { return true }
    reportVainWait(for: what, seen: seen(), since: began, at: place)
    return false
}

/// Whether something comes to be so before `patience` is over and the task is
/// cancelled. It reports nothing: for tests of what must stay as it is.
public func becomes(
    within patience: Duration = Patience.long, isolation: isolated (any Actor)? = #isolation,
    so isSo: () async throws -> Bool
) async rethrows -> Bool {
    let end = ContinuousClock.now + patience
    var turn = 0
    while true {
        if try await isSo() { return true }
        guard !Task.isCancelled, ContinuousClock.now < end else { return false }
        await pause(turn)
        turn += 1
    }
}

/// The first element of a stream that is wanted; nil when the stream ended
/// without one, or when the wait was in vain, which fails the test.
public func first<Element: Sendable>(
    of stream: AsyncStream<Element>, _ what: String, at place: SourceLocation = .here(),
    where isWanted: @escaping @Sendable (Element) -> Bool = { _ in true }
) async -> Element? {
    let began = ContinuousClock.now
    let found = await withTaskGroup(of: Element??.self) { group in
        group.addTask {
            for await element in stream where isWanted(element) { return .some(element) }
            return Task.isCancelled ? nil : .some(nil)
        }
        group.addTask {
            try? await Task.sleep(for: Patience.long)
            return nil
        }
        defer { group.cancelAll() }
        return await group.next() ?? nil
    }
    guard let found else {
        reportVainWait(for: what, seen: "", since: began, at: place)
        return nil
    }
    return found
}

extension DispatchSemaphore {
    /// Holds a plain thread until a test lets it go on. It ends as ``until`` does:
    /// with a sentence that names what was awaited. Returns whether it was let go.
    @discardableResult
    public func wait(
        for what: String, within patience: Int = Patience.seconds,
        at place: SourceLocation = .here()
    ) -> Bool {
        let began = ContinuousClock.now
        if wait(timeout: .now() + .seconds(patience)) == .success { return true }
        reportVainWait(for: what, seen: "", since: began, at: place)
        return false
    }
}

extension NSCondition {
    /// The same, with the lock held, until something is so.
    @discardableResult
    public func wait(
        for what: String, within patience: Int = Patience.seconds,
        at place: SourceLocation = .here(), until isSo: () -> Bool
    ) -> Bool {
        let began = ContinuousClock.now
        let end = Date(timeIntervalSinceNow: TimeInterval(patience))
        while !isSo() {
            guard wait(until: end) || isSo() else {
                reportVainWait(for: what, seen: "", since: began, at: place)
                return false
            }
        }
        return true
    }
}

/// Lets other tasks go first, so many times.
public func giveWay(times: Int) async {
    for _ in 0..<times { await Task.yield() }
}

/// A pause that is over at once, for ports that wait: it gives way to others
/// and heeds cancellation.
@Sendable public func noPause(_ duration: Duration) async throws {
    try Task.checkCancellation()
    await Task.yield()
}

/// A pause that only cancellation ends.
public func untilCancelled() async {
    let never = AsyncStream<Void> { _ in }
    for await _ in never {}
}

extension Task where Failure == any Error {
    /// Its value. A test that is cancelled cancels the task as well, which
    /// `value` does not.
    public var joined: Success {
        get async throws {
            try await withTaskCancellationHandler {
                try await value
            } onCancel: {
                cancel()
            }
        }
    }
}

extension SourceLocation {
    /// Where it is written, as a default argument is.
    public static func here(
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) -> SourceLocation {
        SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    }
}

/// Fails the test that waits, and cancels its task.
func reportVainWait(
    for what: String, seen: String, since began: ContinuousClock.Instant,
    at place: SourceLocation
) {
    let seconds = (ContinuousClock.now - began).components.seconds
    let end = Task.isCancelled ? "The wait was cancelled" : "The wait was in vain"
    let sight = seen.isEmpty ? "" : " Seen: \(seen)"
    Issue.record(
        "\(end) after \(seconds) s. Awaited: \(what).\(sight)", sourceLocation: place)
    withUnsafeCurrentTask { $0?.cancel() }
}

/// Short at first, for most waits are short; then longer, for those who wait
/// share two cores with what they wait for.
private func pause(_ turn: Int) async {
    if turn < 32 { return await Task.yield() }
    try? await Task.sleep(for: .milliseconds(min(1 + turn / 100, 10)))
}
