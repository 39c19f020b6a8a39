// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

struct SocketError: Error {
    let call: String
    let number: Int32
}

/// A socket without any manners, for bytes that no HTTP library would send.
/// A class, so that it is closed once.
final class RawConnection: Sendable {
    private let socket: Int32

    init(port: Int) throws {
        #if canImport(Glibc)
            socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            socket = Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard socket >= 0 else { throw SocketError(call: "socket", number: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var limit = timeval(tv_sec: Patience.seconds, tv_usec: 0)
        setsockopt(
            socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // `deinit` closes the socket, also of a connection that throws here.
        guard connected == 0 else { throw SocketError(call: "connect", number: errno) }
    }

    deinit { close(socket) }

    func send(_ bytes: some Collection<UInt8>) throws {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { throw SocketError(call: "send", number: errno) }
            rest = rest.dropFirst(sent)
        }
    }

    func send(_ text: String) throws { try send(text.utf8) }

    /// Says that nothing more will be sent.
    func finish() { shutdown(socket, Int32(SHUT_WR)) }

    /// Everything that comes until the server closes, or `isEnough`.
    func receive(
        until isEnough: @escaping @Sendable (String) -> Bool = { _ in false },
        at place: SourceLocation = .here()
    ) async -> String {
        let inbox = Inbox()
        // A thread of its own: reading blocks.
        Thread.detachNewThread { [self] in
            var part = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = recv(socket, &part, part.count, 0)
                guard count > 0 else { break }
                inbox.state.withLock { $0.bytes += part[..<count] }
                if isEnough(inbox.text) { break }
            }
            inbox.state.withLock { $0.isWhole = true }
        }
        let what = "an answer that is whole, or the connection's end"
        let isWhole = await TestSupport.until(what, seen: inbox.text, at: place) {
            inbox.state.withLock { $0.isWhole }
        }
        // Ends the thread, which would read on.
        if !isWhole { shutdown(socket, Int32(SHUT_RDWR)) }
        return inbox.text
    }

    /// What a thread has read so far. A class, because test and thread share it.
    private final class Inbox: Sendable {
        let state = Mutex<(bytes: [UInt8], isWhole: Bool)>(([], false))

        var text: String { String(decoding: state.withLock { $0.bytes }, as: UTF8.self) }
    }
}
