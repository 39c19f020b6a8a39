// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A socket on loopback that takes one connection and treats it as told.
final class RawServer: Sendable {
    enum Manner: Sendable {
        /// Hangs up before reading.
        case closeAtOnce
        /// Reads the request, then hangs up.
        case closeAfterReading
        /// Reads the request, then resets the connection.
        case resetAfterReading
        /// Says these bytes before it has read anything.
        case speakFirst(String)
        /// Reads the request, and says nothing until the connection is closed.
        case staySilent
        /// Reads the request and answers with these bytes.
        case answer(String)
        /// Answers the first request with these bytes, keeps the connection, and
        /// hangs up on every later request, on this connection or the next.
        case answerOnceThenHangUp(String)
    }

    let port: UInt16
    private let listener: Int32
    private let request = Mutex("")
    let done = Diary()

    var url: String { "http://127.0.0.1:\(port)/realms/x" }
    var received: String { request.withLock { $0 } }

    init(_ manner: Manner) throws {
        (listener, port) = try Loopback.listen()
        Thread.detachNewThread { [self] in serve(manner) }
    }

    deinit { close(listener) }

    private func serve(_ manner: Manner) {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        switch manner {
        case .closeAtOnce: break
        case .closeAfterReading: readRequest(connection)
        case .resetAfterReading:
            readRequest(connection)
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(
                connection, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        case .speakFirst(let text):
            say(text, connection)
            readRequest(connection)
        case .staySilent:
            readRequest(connection)
            done.write("heard")
            var byte: UInt8 = 0
            while read(connection, &byte, 1) > 0 {}
        case .answer(let text):
            readRequest(connection)
            say(text, connection)
        case .answerOnceThenHangUp(let text):
            readRequest(connection)
            say(text, connection)
            Thread.detachNewThread { [self] in hangUpOnNext() }
            readRequest(connection)
        }
        close(connection)
        done.write("done")
    }

    /// Takes one more connection.
    private func hangUpOnNext() {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        readRequest(connection)
        close(connection)
    }

    private func say(_ text: String, _ connection: Int32) {
        let bytes = Array(text.utf8)
        _ = write(connection, bytes, bytes.count)
    }

    private func readRequest(_ connection: Int32) {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !text.contains("\r\n\r\n") || (text.contains("PUT") && !text.hasSuffix("}")) {
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { break }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        let all = text
        request.withLock { $0 = all }
    }
}
