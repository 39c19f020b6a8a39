// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import HTTPShell

/// Alarms of one length share a task that sleeps.
@Suite(.timeLimit(.minutes(5))) struct AlarmsTests {
    private struct Sleep: Sendable {
        let length: Duration
        let end: @Sendable () -> Void
    }

    private let sleeps: AsyncStream<Sleep>
    private let begun: AsyncStream<Sleep>.Continuation

    init() {
        (sleeps, begun) = AsyncStream.makeStream()
    }

    private func alarms(_ now: @escaping @Sendable () -> Duration = { .zero }) -> Alarms {
        Alarms(
            sleep: { [begun] length in
                let (ended, waker) = AsyncStream.makeStream(of: Void.self)
                begun.yield(Sleep(length: length) { waker.finish() })
                for await _ in ended {}
            }, monotonic: now)
    }

    @Test func `each is called once, in its order, by one sleeper`() async throws {
        let now = Shared(Duration.zero)
        let alarms = alarms { now.value }
        let (called, call) = AsyncStream.makeStream(of: Int.self)
        for number in 1...3 {
            _ = alarms.set(.seconds(50)) { call.yield(number) }
            now.value += .seconds(10)
        }
        var ticks = sleeps.makeAsyncIterator()
        var calls = called.makeAsyncIterator()
        for (number, length) in [(1, 50), (2, 10), (3, 10)] {
            let sleep = try #require(await ticks.next())
            #expect(sleep.length == .seconds(length))
            now.value = .seconds(40 + number * 10)
            sleep.end()
            #expect(await calls.next() == number)
        }
        // The sleeper has ended: the next alarm starts another.
        _ = alarms.set(.seconds(50)) { call.yield(4) }
        let sleep = try #require(await ticks.next())
        #expect(sleep.length == .seconds(50))
        sleep.end()
        #expect(await calls.next() == 4)
    }

    @Test func `one that was removed is not called, and holds up no other`() async throws {
        let alarms = alarms()
        let (called, call) = AsyncStream.makeStream(of: Int.self)
        let first = alarms.set(.seconds(7)) { call.yield(1) }
        _ = alarms.set(.seconds(7)) { call.yield(2) }
        var ticks = sleeps.makeAsyncIterator()
        let sleep = try #require(await ticks.next())
        alarms.remove(first)
        sleep.end()
        try #require(await ticks.next()).end()
        var calls = called.makeAsyncIterator()
        #expect(await calls.next() == 2)
    }

    @Test func `one that was called and is removed late removes no later one`() async throws {
        let alarms = alarms()
        let (called, call) = AsyncStream.makeStream(of: Int.self)
        var ticks = sleeps.makeAsyncIterator()
        var calls = called.makeAsyncIterator()
        let first = alarms.set(.seconds(7)) { call.yield(1) }
        try #require(await ticks.next()).end()
        #expect(await calls.next() == 1)
        await until("its sleeper has ended") { !alarms.isRunning(.seconds(7)) }

        _ = alarms.set(.seconds(7)) { call.yield(2) }
        alarms.remove(first)
        try #require(await ticks.next()).end()

        #expect(await calls.next() == 2)
    }

    @Test func `each length has a sleeper of its own`() async throws {
        let alarms = alarms()
        let (called, call) = AsyncStream.makeStream(of: Int.self)
        _ = alarms.set(.seconds(50)) { call.yield(50) }
        _ = alarms.set(.seconds(7)) { call.yield(7) }
        for await sleep in sleeps where sleep.length == .seconds(7) {
            sleep.end()
            break
        }
        var calls = called.makeAsyncIterator()
        #expect(await calls.next() == 7)
    }
}

/// A value that a test sets while the tested code reads it.
private final class Shared<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
