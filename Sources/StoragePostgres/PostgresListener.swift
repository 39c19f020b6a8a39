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

/// Sends words between the processes of one database, over LISTEN and NOTIFY on
/// a connection of its own. Words are sent outside transactions, several at
/// once, because a NOTIFY in a transaction makes commits queue. They are hints:
/// a listener that may have missed some receives `missed` and reads again.
/// Words that could not be sent are kept until there is a connection again.
///
/// A heartbeat detects a network that went silent: after some silence the
/// server is asked a short question.
///
/// `@unchecked`: the lock guards what changes. Only the thread uses the
/// connection.
final class PostgresListener: @unchecked Sendable {
    private static let retryMilliseconds = 1000

    private struct State {
        var words = PostgresWords()
        var streams: [String: [Int: AsyncStream<Wake>.Continuation]] = [:]
        var nextStream = 0
        var isRunning = false
        var isClosed = false
        /// The writing end of the pipe that wakes the thread.
        var bell: Int32 = -1
    }

    private let conninfo: String
    private let options: PostgresOptions
    private let state = Mutex(State())

    init(conninfo: String, options: PostgresOptions) {
        self.conninfo = conninfo
        self.options = options
    }

    /// Sends a word to every listening process, including this one.
    func tell(_ word: String, schema: String) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.words.add(word, schema: schema)
            start(&state)
            Self.ring(state)
        }
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
        let streams = state.withLock { state in
            state.isClosed = true
            defer { state.streams = [:] }
            Self.ring(state)
            return state.streams.values.flatMap(\.values)
        }
        for stream in streams { stream.finish() }
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

    /// Wakes the thread. Called with the lock held: once the thread has closed
    /// the pipe, its number may be another file's. Does not block.
    private static func ring(_ state: borrowing State) {
        guard state.bell >= 0 else { return }
        var byte: UInt8 = 1
        _ = write(state.bell, &byte, 1)
    }

    // MARK: The thread

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func listen(_ ear: Int32) {
        while !isClosed {
            do {
                try converse(try connect(), ear)
            } catch {
                rest(ear)
            }
        }
        state.withLock { state in
            _ = Foundation.close(ear)
            _ = Foundation.close(state.bell)
            state.bell = -1
        }
    }

    /// Listeners from before the reconnection may have missed words.
    private func connect() throws -> PostgresConnection {
        let connection = try PostgresConnection(conninfo, options)
        try connection.ask(
            "LISTEN \(PostgresWords.channel)", within: options.heartbeatAnswerMilliseconds)
        for stream in state.withLock({ $0.streams.values.flatMap(\.values) }) {
            stream.yield(.missed)
        }
        return connection
    }

    /// Sends and receives until the storage is closed or the connection is
    /// lost.
    private func converse(_ connection: PostgresConnection, _ ear: Int32) throws {
        while !isClosed {
            try say(connection)
            try hear(connection)
            var sources = [
                pollfd(fd: ear, events: Int16(POLLIN), revents: 0),
                pollfd(fd: PQsocket(connection.handle), events: Int16(POLLIN), revents: 0),
            ]
            if poll(&sources, 2, Int32(options.heartbeatMilliseconds)) == 0 {
                try connection.ask("SELECT 1", within: options.heartbeatAnswerMilliseconds)
            }
            empty(ear)
        }
    }

    /// Keeps words until the server has accepted them, because sending one
    /// twice does no harm.
    private func say(_ connection: PostgresConnection) throws {
        let words = state.withLock { $0.words }
        for payload in words.payloads {
            try connection.ask(
                PostgresWords.notify(payload), within: options.heartbeatAnswerMilliseconds)
        }
        state.withLock { $0.words.remove(words) }
    }

    private func hear(_ connection: PostgresConnection) throws {
        guard PQconsumeInput(connection.handle) == 1 else { throw connection.lost }
        while let notification = PQnotifies(connection.handle) {
            defer { PQfreemem(notification) }
            let heard = PostgresWords.read(String(cString: notification.pointee.extra))
            let streams = state.withLock { Array($0.streams[heard.schema, default: [:]].values) }
            for stream in streams { for wake in heard.wakes { stream.yield(wake) } }
        }
    }

    /// Waits until it is time to try again, or the storage is closed.
    private func rest(_ ear: Int32) {
        let end = Deadline.after(milliseconds: Self.retryMilliseconds)
        while !isClosed, !end.isPast {
            var source = pollfd(fd: ear, events: Int16(POLLIN), revents: 0)
            _ = poll(&source, 1, Int32(clamping: end.millisecondsLeft))
            guard !isClosed else { return }
            // Words can wait. New ones must not keep this thread awake.
            _ = poll(nil, 0, min(20, Int32(clamping: end.millisecondsLeft)))
            empty(ear)
        }
    }

    private func empty(_ ear: Int32) {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(ear, &bytes, bytes.count) > 0 {}
    }
}
