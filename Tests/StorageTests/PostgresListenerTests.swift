// SPDX-License-Identifier: Apache-2.0

import Storage
import StoragePostgres
import TestSupport
import Testing

/// Words between processes, over connections that fail.
@Suite(.timeLimit(.minutes(5))) struct PostgresListenerTests {
    private static let quick = PostgresOptions(
        connections: 1, heartbeatMilliseconds: 200, heartbeatAnswerMilliseconds: 400)

    /// The next of these in a stream; other words are passed over.
    private func heard(
        _ wake: Wake, _ stream: inout AsyncStream<Wake>.Iterator
    ) async -> Bool {
        while let next = await stream.next() { if next == wake { return true } }
        return false
    }

    @Test func `words from while the server is away are sent when it is back`() async throws {
        let rig = try await PostgresRig(Self.quick)
        var truth = rig.truth.wakes().makeAsyncIterator()
        #expect(await heard(.missed, &truth))
        rig.shelf.wake("before")
        #expect(await heard(.word("before"), &truth))

        rig.proxy.obey { $0.isToServer ? .cutBefore : .pass }
        rig.shelf.wake("one")
        rig.shelf.wake("two")
        // It was tried, and tried again.
        await until("a fourth connection", seen: "\(rig.proxy.connections)") {
            rig.proxy.connections >= 4
        }
        rig.proxy.pass()

        #expect(await heard(.word("one"), &truth))
        #expect(await heard(.word("two"), &truth))
        await rig.close()
    }

    @Test func `a silent network is noticed, and listeners read again`() async throws {
        let rig = try await PostgresRig(Self.quick)
        var wakes = rig.shelf.wakes().makeAsyncIterator()
        #expect(await heard(.missed, &wakes))
        rig.truth.wake("before")
        #expect(await heard(.word("before"), &wakes))

        rig.proxy.obey { $0.type == nil ? .pass : .silence }
        // The heartbeat's question goes unanswered; so does the next greeting.
        let connections = rig.proxy.connections
        await until("another connection") { rig.proxy.connections != connections }
        rig.proxy.release()

        #expect(await heard(.missed, &wakes))
        rig.truth.wake("after")
        #expect(await heard(.word("after"), &wakes))
        await rig.close()
    }

    @Test func `an idle line is asked, and kept while it answers`() async throws {
        let rig = try await PostgresRig(Self.quick)
        var wakes = rig.shelf.wakes().makeAsyncIterator()
        #expect(await heard(.missed, &wakes))
        rig.proxy.pass()
        let connections = rig.proxy.connections

        // Three questions and their answers.
        await until("15 messages", seen: "\(rig.proxy.messages)") { rig.proxy.messages >= 15 }

        #expect(rig.proxy.connections == connections)
        await rig.close()
    }

    @Test func `more words than are kept become one: read again`() async throws {
        let rig = try await PostgresRig(Self.quick)
        var wakes = rig.truth.wakes().makeAsyncIterator()
        #expect(await heard(.missed, &wakes))
        rig.proxy.obey { $0.isToServer ? .cutBefore : .pass }

        for number in 0..<6000 { rig.shelf.wake("word\(number)") }
        rig.proxy.pass()

        #expect(await heard(.missed, &wakes))
        await rig.close()
    }
}
