// SPDX-License-Identifier: Apache-2.0

import Shop
import StoreWire
import TestSupport
import Testing

@testable import shopkeeper

/// How an attempt over real sockets is told in Apple's words.
@Suite(.timeLimit(.minutes(5))) struct LiveCourierTests {
    private let courier = LiveCourier()

    private func delivery(to url: String, isProduction: Bool = false) async -> Delivery {
        await courier.deliver(
            Parcel(url: url, body: Array("{}".utf8), id: "u-1", isProduction: isProduction))
    }

    private static func text(
        _ charset: String, _ body: String = "thanks", status: String = "200 OK"
    ) -> String {
        ScriptedPeer.response(
            status, body, headers: "Content-Type: text/plain; Charset=\(charset)\r\n")
    }

    @Test func `every end has its word`() async throws {
        let long = String(repeating: "a", count: 100_000)
        let line = "X-Long: " + String(repeating: "a", count: 8000) + "\r\n"
        let cases: [(ScriptedPeer.Manner, SendAttemptResult, Int?)] = [
            (.answer(ScriptedPeer.response("200 OK")), .success, 200),
            (.answer(ScriptedPeer.response("206 Partial", "thanks")), .success, 206),
            // However much a server says, its head is an answer.
            (.answer(ScriptedPeer.response("200 OK", long)), .success, 200),
            (.answer(ScriptedPeer.response("207 Multi")), .unsuccessfulStatus, 207),
            (
                .answer(ScriptedPeer.response("301 Moved", headers: "Location: /y\r\n")),
                .unsuccessfulStatus, 301
            ),
            (.answer(ScriptedPeer.response("503 Away")), .unsuccessfulStatus, 503),
            // To itself: the peer's path is /x.
            (
                .answer(ScriptedPeer.response("308 Moved", headers: "Location: /x\r\n")),
                .circularRedirect, 308
            ),
            (
                .answer(ScriptedPeer.response("308 Moved", headers: "Location: /x?a\r\n")),
                .unsuccessfulStatus, 308
            ),
            (.answer(Self.text("utf-8")), .success, 200),
            (.answer(Self.text("\"ISO-8859-15\"")), .success, 200),
            (.answer(Self.text("x-moon")), .unsupportedCharset, 200),
            (.answer(Self.text("x-moon", status: "500 Away")), .unsuccessfulStatus, 500),
            // There is nothing to read.
            (.answer(Self.text("x-moon", "")), .success, 200),
            (.readThenReset, .socketIssue, nil),
            (.readThenHangUp, .noResponse, nil),
            (.answer("hello\r\n"), .invalidResponse, nil),
            (
                .answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab"),
                .invalidResponse, 200
            ),
            (.answer("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"), .invalidResponse, 101),
            // A head that does not end is no answer.
            (
                .answer("HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 20)),
                .invalidResponse, nil
            ),
            (.answer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na"), .prematureClose, 200),
        ]
        for (manner, result, status) in cases {
            let peer = try ScriptedPeer(manner)
            let delivery = await delivery(to: peer.url)
            #expect(delivery.result == result && delivery.status == status, "\(delivery)")
        }
    }

    @Test func `what is posted is JSON with the notification's id`() async throws {
        let peer = try ScriptedPeer(.answer(ScriptedPeer.response("200 OK")))

        _ = await delivery(to: peer.url)

        let request = try #require(peer.requests.first)
        #expect(request.contains("Content-Type: application/json\r\n"))
        #expect(request.contains("X-Request-Id: u-1\r\n"))
        #expect(request.hasSuffix("\r\n\r\n{}"))
    }

    @Test func `a production realm's courier calls no private address`() async throws {
        let peer = try ScriptedPeer(.answer(ScriptedPeer.response("200 OK")))

        for host in ["127.0.0.1", "localhost"] {
            let delivery = await delivery(
                to: "https://\(host):\(peer.port)/", isProduction: true)
            #expect(delivery.result == .noResponse)
        }
        #expect(await delivery(to: peer.url, isProduction: true).result == .other)
        #expect(peer.connections == 0)
    }

    @Test func `a missing TLS is reported as such`() async throws {
        let peer = try ScriptedPeer(.hangUp)

        #expect(await delivery(to: "https://127.0.0.1:\(peer.port)/").result == .tlsIssue)
    }
}
