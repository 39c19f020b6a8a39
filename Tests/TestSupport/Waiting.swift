// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Testing

/// Waits until a condition is true. Returns whether it became true.
///
/// Every wait of a test has this form. It ends when its task is cancelled, for
/// example by a suite's time limit, and when ``Patience/long`` is over. Then
/// the test fails with a sentence about what was awaited and what was seen
/// instead, and its task is cancelled, so that the test's later waits end at
/// once.
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

/// Whether a condition becomes true before `patience` is over or the task is
/// cancelled. It reports no failure: for tests of what must not change.
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

/// Returns the first element of a stream that satisfies the condition. Nil if
/// the stream ended without one, or if the wait failed, which also fails the
/// test.
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
    /// Blocks a plain thread until a test releases it. It ends like ``until``,
    /// with a sentence about what was awaited. Returns whether it was released.
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
    /// The same, with the lock held, until a condition is true.
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

/// Yields to other tasks this many times.
public func giveWay(times: Int) async {
    for _ in 0..<times { await Task.yield() }
}

/// A pause that ends at once, for ports that sleep. It yields to other tasks
/// and throws if cancelled.
@Sendable public func noPause(_ duration: Duration) async throws {
    try Task.checkCancellation()
    await Task.yield()
}

/// A pause that ends only when cancelled.
public func untilCancelled() async {
    let never = AsyncStream<Void> { _ in }
    for await _ in never {}
}

extension Task where Failure == any Error {
    /// The task's value. Cancelling the test also cancels the task, which
    /// `value` does not do.
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
    /// The source location of the caller, as a default argument.
    public static func here(
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column
    ) -> SourceLocation {
        SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    }
}

/// Fails the waiting test and cancels its task.
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

/// Short at first, because most waits are short. Then longer, because waiting
/// tests share two cores with what they wait for.
private func pause(_ turn: Int) async {
    if turn < 32 { return await Task.yield() }
    try? await Task.sleep(for: .milliseconds(min(1 + turn / 100, 10)))
}
