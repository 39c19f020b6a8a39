// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A load of requests on loopback from a process of its own: blocking
/// sockets, one thread a connection, one request under way on each.
struct Client {
    let port: UInt16
    let connections: Int
    let requestsPerConnection: Int
    /// The bytes of a connection's n-th request.
    let request: @Sendable (_ connection: Int, _ number: Int) -> [UInt8]

    /// Seconds for all; throws when any answer is not a 200.
    func run() throws -> Double {
        let sockets = try (0..<connections).map { _ in try Self.connect(port) }
        defer { sockets.forEach { close($0) } }
        let failures = Failures()
        let elapsed = seconds {
            let group = DispatchGroup()
            for (index, socket) in sockets.enumerated() {
                group.enter()
                Thread.detachNewThread {
                    self.drive(socket, index, failures)
                    group.leave()
                }
            }
            group.wait()
        }
        if let failure = failures.first { throw failure }
        return elapsed
    }

    private func drive(_ socket: Int32, _ index: Int, _ failures: Failures) {
        var reader = AnswerReader(socket: socket)
        for number in 0..<requestsPerConnection {
            do {
                try Self.send(socket, request(index, number))
                try reader.expectSuccess()
            } catch {
                failures.add(error)
                return
            }
        }
    }

    static func connect(_ port: UInt16) throws -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var on: Int32 = 1
        setsockopt(
            socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw ClientFailure("cannot connect to port \(port)") }
        return socket
    }

    static func send(_ socket: Int32, _ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, 0)
            }
            guard count > 0 else { throw ClientFailure("the connection was closed while sending") }
            sent += count
        }
    }
}

struct ClientFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

private final class Failures: @unchecked Sendable {
    private let lock = NSLock()
    private var all: [any Error] = []
    var first: (any Error)? { lock.withLock { all.first } }
    func add(_ error: any Error) { lock.withLock { all.append(error) } }
}

/// Reads answers with a `Content-Length` off a connection.
struct AnswerReader {
    let socket: Int32
    private var buffer: [UInt8] = []

    init(socket: Int32) {
        self.socket = socket
    }

    mutating func expectSuccess() throws { _ = try successBody() }

    mutating func successBody() throws -> [UInt8] {
        let head = try readHead()
        let text = String(decoding: head, as: UTF8.self).lowercased()
        guard let field = text.range(of: "content-length: "),
            let length = Int(text[field.upperBound...].prefix { $0.isNumber })
        else { throw ClientFailure("an answer without a length: \(text.prefix(200))") }
        while buffer.count < length { try fill() }
        let body = buffer.prefix(length)
        buffer.removeFirst(length)
        guard text.hasPrefix("http/1.1 200") else {
            throw ClientFailure(
                "\(text.prefix(40)) \(String(decoding: body, as: UTF8.self).prefix(300))")
        }
        return Array(body)
    }

    private mutating func readHead() throws -> [UInt8] {
        while true {
            if let end = Self.headEnd(buffer) {
                let head = Array(buffer[..<end])
                buffer.removeFirst(end)
                return head
            }
            try fill()
        }
    }

    private static func headEnd(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        for index in 0...(bytes.count - 4)
        where bytes[index] == 13 && bytes[index + 1] == 10 && bytes[index + 2] == 13
            && bytes[index + 3] == 10
        {
            return index + 4
        }
        return nil
    }

    private mutating func fill() throws {
        var chunk = [UInt8](repeating: 0, count: 16_384)
        let count = recv(socket, &chunk, chunk.count, 0)
        guard count > 0 else { throw ClientFailure("the connection was closed while reading") }
        buffer.append(contentsOf: chunk[..<count])
    }
}
