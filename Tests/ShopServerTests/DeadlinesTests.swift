// SPDX-License-Identifier: Apache-2.0

import Commerce
import HTTPShell
import Live
import Testing

/// Time-outs on one timer: never early, up to an eighth late, and no timer
/// where nobody waits.
@Suite(.timeLimit(.minutes(5))) struct DeadlinesTests {
    private struct Sleep: Sendable {
        let length: Duration
        private let waker: AsyncStream<Void>.Continuation

        init(_ length: Duration, _ waker: AsyncStream<Void>.Continuation) {
            (self.length, self.waker) = (length, waker)
        }

        func end() { waker.finish() }
    }

    private let ports: ShellPorts
    private let sleeps: AsyncStream<Sleep>

    init() {
        let (sleeps, begun) = AsyncStream.makeStream(of: Sleep.self)
        self.sleeps = sleeps
        ports = ShellPorts(
            sleep: { length in
                let (ended, waker) = AsyncStream.makeStream(of: Void.self)
                begun.yield(Sleep(length, waker))
                for await _ in ended {}
            }, monotonic: Live.monotonic, randomness: .seeded(1))
    }

    /// A request that ends when it is cancelled.
    private func late(_ limit: Duration) -> Task<Void, any Error> {
        Task { [ports] in
            try await ports.deadline(limit, or: .timedOut) {
                for await _ in AsyncStream.makeStream(of: Void.self).stream {}
                try Task.checkCancellation()
            }
        }
    }

    @Test func `what takes too long is cancelled, at most an eighth late`() async throws {
        let late = late(.seconds(8))
        var ticks = sleeps.makeAsyncIterator()
        // The first may fall into a tick that is nearly over: nine are eight whole ones.
        for _ in 1...9 {
            let tick = try #require(await ticks.next())
            #expect(tick.length == .seconds(1))
            tick.end()
        }
        await #expect(throws: RequestMistake.timedOut) { try await late.value }
    }

    @Test func `requests of one length share a timer, which ends with them`() async throws {
        for number in 1...100 {
            let answer = try await ports.deadline(.seconds(8), or: .timedOut) { number }
            #expect(answer == number)
        }
        var ticks = sleeps.makeAsyncIterator()
        try #require(await ticks.next()).end()
        // Of another length, so that the next to be heard of is its own.
        let other = late(.seconds(16))
        let tick = try #require(await ticks.next())
        #expect(tick.length == .seconds(2))
        other.cancel()
        _ = await other.result
    }

    @Test func `each length of time has its own end`() async throws {
        let (short, long) = (late(.seconds(8)), late(.seconds(80)))
        var count = 0
        for await tick in sleeps where tick.length == .seconds(1) {
            tick.end()
            count += 1
            if count == 9 { break }
        }
        await #expect(throws: RequestMistake.timedOut) { try await short.value }
        long.cancel()
        // Cancelled by who asked, which is no time-out.
        await #expect(throws: CancellationError.self) { try await long.value }
    }
}
