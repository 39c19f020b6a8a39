// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An HTTP server on loopback that treats each connection as the test
/// specifies. It uses a plain thread for each.
public final class ScriptedPeer: Sendable {
    public enum Manner: Sendable {
        /// Reads the request and answers with these bytes.
        case answer(String)
        /// The same, and then reads the next request on the same connection.
        case answerAgain(String)
        /// Closes the connection without reading.
        case hangUp
        /// Reads the request, then closes the connection.
        case readThenHangUp
        /// Reads the request, then resets the connection.
        case readThenReset
        /// Reads the request and sends nothing until the client has gone.
        case silence
        /// Reads the request, and answers with these bytes after
        /// ``ScriptedPeer/answerNow()``.
        case answerWhenTold(String)
        /// Answers with these bytes, and then sends nothing until the client
        /// has gone.
        case answerThenSilence(String)
    }

    public let port: UInt16
    /// Each request, with head and body, after it was read.
    public let heardRequests: AsyncStream<String>
    private let tell: AsyncStream<String>.Continuation
    private let listener: Int32
    private let go = DispatchSemaphore(value: 0)
    private let manners: [Manner]
    private let heard = Mutex<(connections: Int, requests: [String])>((0, []))

    public var url: String { "http://127.0.0.1:\(port)/x" }
    public var requests: [String] { heard.withLock { $0.requests } }
    public var connections: Int { heard.withLock { $0.connections } }

    /// One manner for each connection, in order. The last one also applies to
    /// all later connections.
    public init(_ manners: Manner...) throws {
        precondition(!manners.isEmpty, "a peer has manners")
        (listener, port) = try Loopback.listen()
        (heardRequests, tell) = AsyncStream.makeStream(of: String.self)
        self.manners = manners
        let listener = listener
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                guard let self else {
                    close(connection)
                    return
                }
                Thread.detachNewThread { self.serve(connection) }
            }
        }
    }

    /// Lets one waiting connection answer.
    public func answerNow() { go.signal() }

    deinit {
        tell.finish()
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    public static func response(
        _ status: String, _ body: String = "", headers: String = ""
    ) -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)"
    }

    private func serve(_ connection: Int32) {
        let index = heard.withLock { heard in
            defer { heard.connections += 1 }
            return min(heard.connections, manners.count - 1)
        }
        switch manners[index] {
        case .hangUp: break
        case .readThenHangUp: _ = readRequest(connection)
        case .readThenReset:
            _ = readRequest(connection)
            var now = linger(l_onoff: 1, l_linger: 0)
            setsockopt(
                connection, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        case .silence: if readRequest(connection) { readToEnd(connection) }
        case .answer(let text): if readRequest(connection) { say(text, connection) }
        case .answerWhenTold(let text):
            if readRequest(connection) {
                go.wait(for: "the word to answer")
                say(text, connection)
            }
        case .answerThenSilence(let text):
            if readRequest(connection) { say(text, connection) }
            readToEnd(connection)
        case .answerAgain(let text): while readRequest(connection) { say(text, connection) }
        }
        close(connection)
    }

    private func say(_ text: String, _ connection: Int32) {
        let bytes = Array(text.utf8)
        _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    private func readToEnd(_ connection: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while read(connection, &buffer, buffer.count) > 0 {}
    }

    /// Reads a head, and as many bytes of body as it announces.
    private func readRequest(_ connection: Int32) -> Bool {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !isWhole(String(decoding: bytes, as: UTF8.self)) {
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { return false }
            bytes += buffer[..<count]
        }
        let text = String(decoding: bytes, as: UTF8.self)
        heard.withLock { $0.requests.append(text) }
        tell.yield(text)
        return true
    }

    private func isWhole(_ text: String) -> Bool {
        guard let end = text.range(of: "\r\n\r\n") else { return false }
        let line = text[..<end.lowerBound].split(separator: "\r\n")
            .first { $0.lowercased().hasPrefix("content-length:") }
        let announced = line?.split(separator: ":").last.flatMap {
            Int($0.trimmingCharacters(in: .whitespaces))
        }
        return text[end.upperBound...].utf8.count >= announced ?? 0
    }
}
