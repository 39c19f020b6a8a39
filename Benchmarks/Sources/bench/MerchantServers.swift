// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A merchant's servers on loopback: one that answers every POST with 200 and
/// counts them, unless it is told to keep silent, and one that takes connections and never says a word.
final class MerchantServers: Sendable {
    let livelyPort: UInt16
    let deadPort: UInt16
    private struct State {
        var asked = 0
        var delivered = 0
        var isSilent = false
    }

    private let state = Mutex(State())

    /// How many were answered.
    var count: Int { state.withLock(\.delivered) }
    /// How many came, answered or not.
    var asked: Int { state.withLock(\.asked) }
    /// Whether those who come from now on wait for ever.
    var isSilent: Bool {
        get { state.withLock(\.isSilent) }
        set { state.withLock { $0.isSilent = newValue } }
    }

    init() throws {
        let lively = try Self.listen()
        let dead = try Self.listen()
        (livelyPort, deadPort) = (lively.port, dead.port)
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(lively.descriptor, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread { self.serve(connection) }
            }
        }
        Thread.detachNewThread {
            while accept(dead.descriptor, nil, nil) >= 0 {}
        }
    }

    private func serve(_ connection: Int32) {
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
            guard Self.isWhole(bytes) else { continue }
            bytes = []
            let answers = state.withLock { state in
                state.asked += 1
                if !state.isSilent { state.delivered += 1 }
                return !state.isSilent
            }
            guard answers else { continue }
            _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
        }
        close(connection)
    }

    /// A head, and as many bytes of body as it announces.
    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return false }
        let line = text[..<end.lowerBound].split(separator: "\r\n")
            .first { $0.lowercased().hasPrefix("content-length:") }
        let announced = line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
        return text[end.upperBound...].utf8.count >= announced
    }

    private static func listen() throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && Glibc.listen(descriptor, 128) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isListening else { throw ClientFailure("no socket on loopback") }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }
}
