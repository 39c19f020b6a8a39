// SPDX-License-Identifier: Apache-2.0

import CPostgres
import Foundation
import Storage
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Words between the processes of one database, over LISTEN and NOTIFY on a
/// connection of their own. They are said outside transactions, several at
/// once, since a NOTIFY in a transaction makes commits queue; and they are
/// hints: whoever may have missed some is told so and reads again.
///
/// `@unchecked`: what changes is guarded by the lock; the connection is the
/// thread's alone.
final class PostgresListener: @unchecked Sendable {
    private static let channel = "shopkeeper"
    /// Below the 8,000 bytes that a notification may have.
    private static let payloadBytesMax = 7000
    private static let retryMilliseconds: Int32 = 1000

    private struct State {
        var words: [String: Set<String>] = [:]
        var streams: [String: [Int: AsyncStream<Wake>.Continuation]] = [:]
        var nextStream = 0
        var isRunning = false
        var isClosed = false
        /// The end of the pipe that wakes the thread.
        var bell: Int32 = -1
    }

    private let conninfo: String
    private let options: PostgresOptions
    private let state = Mutex(State())

    init(conninfo: String, options: PostgresOptions) {
        self.conninfo = conninfo
        self.options = options
    }

    /// Says a word to every process that listens, this one too.
    func tell(_ word: String, schema: String) {
        let bell = state.withLock { state -> Int32 in
            guard !state.isClosed else { return -1 }
            state.words[schema, default: []].insert(word)
            start(&state)
            return state.bell
        }
        ring(bell)
    }

    func wakes(schema: String) -> AsyncStream<Wake> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Wake.self, bufferingPolicy: .bufferingNewest(1024))
        state.withLock { state in
            guard !state.isClosed else { return continuation.finish() }
            state.nextStream += 1
            let number = state.nextStream
            state.streams[schema, default: [:]][number] = continuation
            continuation.onTermination = { [weak self] _ in self?.forget(number, schema) }
            start(&state)
        }
        return stream
    }

    func close() {
        let (bell, streams) = state.withLock { state in
            state.isClosed = true
            defer { state.streams = [:] }
            return (state.bell, state.streams.values.flatMap(\.values))
        }
        for stream in streams { stream.finish() }
        ring(bell)
    }

    private func forget(_ number: Int, _ schema: String) {
        state.withLock { $0.streams[schema]?[number] = nil }
    }

    private func start(_ state: inout State) {
        guard !state.isRunning else { return }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        state.isRunning = true
        state.bell = ends[1]
        let ear = ends[0]
        PlainThread.start("postgres.listen") { self.listen(ear) }
    }

    private func ring(_ bell: Int32) {
        guard bell >= 0 else { return }
        var byte: UInt8 = 1
        _ = write(bell, &byte, 1)
    }

    // MARK: The thread

    private func listen(_ ear: Int32) {
        var connection: PostgresConnection?
        while !state.withLock({ $0.isClosed }) {
            do {
                let open = try connection ?? connect()
                connection = open
                try say(open)
                try hear(open)
                wait(ear, open)
            } catch {
                connection = nil
                wait(ear, nil)
            }
        }
        state.withLock { state in
            Glibc.close(ear)
            Glibc.close(state.bell)
            state.bell = -1
        }
    }

    /// Whoever listened before may have missed something.
    private func connect() throws -> PostgresConnection {
        let connection = try PostgresConnection(conninfo, options)
        try connection.command("LISTEN \(Self.channel)")
        for stream in state.withLock({ $0.streams.values.flatMap(\.values) }) {
            stream.yield(.missed)
        }
        return connection
    }

    private func say(_ connection: PostgresConnection) throws {
        let words = state.withLock { state in
            defer { state.words = [:] }
            return state.words
        }
        for (schema, words) in words {
            var payload = schema
            for word in words.sorted() {
                if payload.utf8.count + word.utf8.count + 1 > Self.payloadBytesMax {
                    try notify(payload, connection)
                    payload = schema
                }
                payload += "\n" + word
            }
            try notify(payload, connection)
        }
    }

    private func notify(_ payload: String, _ connection: PostgresConnection) throws {
        let text = payload.replacing("'", with: "''")
        try connection.command("SELECT pg_notify('\(Self.channel)', E'\(escaped(text))')")
    }

    private func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }

    private func hear(_ connection: PostgresConnection) throws {
        guard PQconsumeInput(connection.handle) == 1 else { throw connection.lost }
        while let notification = PQnotifies(connection.handle) {
            defer { PQfreemem(notification) }
            let payload = String(cString: notification.pointee.extra)
            let lines = payload.split(separator: "\n").map(String.init)
            guard let schema = lines.first else { continue }
            let streams = state.withLock { Array($0.streams[schema, default: [:]].values) }
            for stream in streams { for word in lines.dropFirst() { stream.yield(.word(word)) } }
        }
    }

    /// Until there is something to hear or to say, or, without a connection,
    /// until it is time to try again.
    private func wait(_ ear: Int32, _ connection: PostgresConnection?) {
        var sources = [pollfd(fd: ear, events: Int16(POLLIN), revents: 0)]
        if let connection {
            sources.append(
                pollfd(fd: PQsocket(connection.handle), events: Int16(POLLIN), revents: 0))
        }
        _ = poll(
            &sources, nfds_t(sources.count), connection == nil ? Self.retryMilliseconds : -1)
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(ear, &bytes, bytes.count) > 0 {}
    }
}
