// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

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
        guard connected == 0 else {
            close(socket)
            throw SocketError(call: "connect", number: errno)
        }
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
    func receive(until isEnough: @escaping @Sendable (String) -> Bool = { _ in false }) async
        -> String
    {
        await withCheckedContinuation { done in
            // A thread of its own: reading blocks.
            Thread.detachNewThread {
                var all: [UInt8] = []
                var part = [UInt8](repeating: 0, count: 65_536)
                while true {
                    let count = recv(self.socket, &part, part.count, 0)
                    guard count > 0 else { break }
                    all += part[..<count]
                    if isEnough(String(decoding: all, as: UTF8.self)) { break }
                }
                done.resume(returning: String(decoding: all, as: UTF8.self))
            }
        }
    }
}
