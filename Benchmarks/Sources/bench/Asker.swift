// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A merchant's server that calls with a token, on one connection or on several.
struct Asker {
    let port: UInt16
    let token: String

    func get(_ path: String) -> [UInt8] {
        Array(
            ("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(token)\r\n\r\n")
                .utf8)
    }

    /// `isOpen`: whether no token is shown.
    func post(_ path: String, _ body: [UInt8], isOpen: Bool = false) -> [UInt8] {
        let shown = isOpen ? "" : "Authorization: Bearer \(token)\r\n"
        return Array(
            ("POST \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                + shown + "Content-Length: \(body.count)\r\n\r\n").utf8) + body
    }

    func post(_ path: String, _ body: some Encodable) throws -> [UInt8] {
        post(path, [UInt8](try JSONEncoder().encode(body)))
    }

    func ask(_ request: [UInt8]) throws -> [UInt8] {
        let socket = try Client.connect(port)
        defer { close(socket) }
        var reader = AnswerReader(socket: socket)
        try Client.send(socket, request)
        return try reader.successBody()
    }

    /// Seconds for all, one after another.
    func seconds(_ request: [UInt8], _ count: Int) throws -> Double {
        try each(Array(repeating: request, count: count)).reduce(0, +)
    }

    /// Seconds for all, on so many connections.
    func seconds(_ requests: [[UInt8]], connections: Int) throws -> Double {
        let each = requests.count / connections
        return try Client(
            port: port, connections: connections, requestsPerConnection: each
        ) { requests[$0 * each + $1] }.run()
    }

    /// How long one request waits, on one connection.
    func waits(_ request: [UInt8], _ count: Int) throws -> String {
        try waits(Array(repeating: request, count: count))
    }

    /// How long one of these waits, on one connection.
    func waits(_ requests: [[UInt8]]) throws -> String {
        let sorted = try each(requests).sorted()
        let (half, most) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
        return String(
            format: "%.0f a second on one connection, p50 %.2f ms, p99 %.2f ms",
            Double(sorted.count) / sorted.reduce(0, +), half * 1000, most * 1000)
    }

    private func each(_ requests: [[UInt8]]) throws -> [Double] {
        let socket = try Client.connect(port)
        defer { close(socket) }
        var reader = AnswerReader(socket: socket)
        return try requests.map { request in
            let start = ContinuousClock.now
            try Client.send(socket, request)
            try reader.expectSuccess()
            return (ContinuousClock.now - start).inSeconds
        }
    }
}
