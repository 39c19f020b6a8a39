// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One blocking connection that speaks the device protocol as bytes.
final class Connection {
    private var reader: AnswerReader
    private let socket: Int32

    init(port: UInt16) throws {
        socket = try Client.connect(port)
        reader = AnswerReader(socket: socket)
    }

    deinit { close(socket) }

    /// Sends a request; its answer is left for ``answer()``.
    func send(_ method: String, _ path: String, token: String?, body: String? = nil) throws {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1"]
        if let token { lines.append("Authorization: Bearer \(token)") }
        if let body {
            lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
        }
        let text = lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
        try Client.send(socket, Array(text.utf8))
    }

    /// The body of the next answer; throws when it is not a 200.
    func answer() throws -> [UInt8] { try reader.successBody() }

    func ask(
        _ method: String, _ path: String, token: String?, body: String? = nil
    ) throws -> [UInt8] {
        try send(method, path, token: token, body: body)
        return try answer()
    }

    /// A new device's session token; without a customer, the realm's own.
    func signIn(
        customer: String? = nil, bundleID: String = "com.example.app"
    ) throws -> String {
        let uuid = UUID().uuidString.lowercased()
        let name = customer.map { #","customer":"\#($0)""# } ?? ""
        let body =
            #"{"bundleId":"\#(bundleID)","deviceUUID":"\#(uuid)","appVersion":"1.0"\#(name)}"#
        struct Answer: Decodable { let token: String }
        let answer = try ask("POST", "/device/v1/sessions", token: nil, body: body)
        return try JSONDecoder().decode(Answer.self, from: Data(answer)).token
    }

    /// Buys a coin.
    func buy(_ token: String, at path: String = "/device/v1/purchases/") throws {
        let id = UUID().uuidString.lowercased()
        _ = try ask(
            "PUT", path + id, token: token,
            body:
                #"{"productId":"com.example.coins","quantity":1,"unitPrice":990,"currency":"USD"}"#
        )
    }

    /// The customer's revision, once every page up to it was read.
    func revision(_ token: String) throws -> Int64 {
        struct Answer: Decodable { let revision: Int64 }
        var revision: Int64 = 0
        while true {
            let answer = try ask(
                "GET", "/device/v1/transactions?since=\(revision)&wait=0", token: token)
            let page = try JSONDecoder().decode(Answer.self, from: Data(answer)).revision
            if page == revision { return page }
            revision = page
        }
    }
}

/// How long things took, and how often they took long.
struct Latencies {
    private(set) var seconds: [Double] = []

    mutating func add(_ more: [Double]) { seconds += more }

    func percentile(_ share: Double) -> Double {
        let sorted = seconds.sorted()
        guard !sorted.isEmpty else { return 0 }
        return sorted[min(Int(Double(sorted.count) * share), sorted.count - 1)]
    }

    var line: String {
        String(
            format: "p50 %.2f ms, p99 %.2f ms, p99.9 %.2f ms (n %d)", percentile(0.5) * 1e3,
            percentile(0.99) * 1e3, percentile(0.999) * 1e3, seconds.count)
    }
}
