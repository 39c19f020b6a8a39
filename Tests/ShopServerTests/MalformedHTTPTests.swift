// SPDX-License-Identifier: Apache-2.0

import Foundation
import ShopServer
import Testing

/// Bytes that no library sends.
@Suite(.timeLimit(.minutes(5))) struct MalformedHTTPTests {
    @Test(arguments: [
        "hello\r\n\r\n", "GET\r\n\r\n", "GET /health HTTP/9.9\r\n\r\n",
        "GET /health HTTP/1.1\r\nNo colon\r\n\r\n",
        "POST /device/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        "POST /device/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
            + "Content-Length: 4\r\n\r\nabcd",
        "POST /device/v1/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "XYZ\r\nabc\r\n0\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: \(String(repeating: "a", count: 200_000))\r\n\r\n",
        "\u{0}\u{1}\u{2}\r\n\r\n",
    ])
    func `what is no HTTP is refused, and the server goes on`(bytes: String) async throws {
        try await TestServer.with { server in
            let connection = try RawConnection(port: server.port)
            // The server may hang up while this is being sent.
            try? connection.send(bytes)
            connection.finish()

            let answer = await connection.receive()

            // A first word that is no method is one that the server does not know.
            let isRefused = ["HTTP/1.1 4", "HTTP/1.1 501"].contains { answer.hasPrefix($0) }
            #expect(answer.isEmpty || isRefused, "\(answer.prefix(200))")
            try await server.expectItSells()
        }
    }

    @Test func `a body that ends early is not used`() async throws {
        try await TestServer.with { server in
            let connection = try RawConnection(port: server.port)
            try connection.send(
                "POST /device/v1/sessions HTTP/1.1\r\nHost: localhost\r\n"
                    + "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n"
                    + "{\"deviceUUID\":\"0f0f0f0f-1111-4222-8333-444444444444\"}")
            connection.finish()

            let answer = await connection.receive()

            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 400"), "\(answer)")
            #expect(!server.lines.elements.contains { $0.message == "signed in" })
        }
    }

    @Test func `a body that never comes is waited for no longer than its time`() async throws {
        let time = TestTime(over: [.seconds(3) / 8])
        try await TestServer.with(time: time, configure: { $0.bodyTimeout = .seconds(3) }) {
            server in
            let connection = try RawConnection(port: server.port)
            try connection.send(
                "POST /device/v1/sessions HTTP/1.1\r\nHost: localhost\r\n"
                    + "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{")

            let answer = await connection.receive { $0.contains("bodyTimedOut") }

            #expect(answer.hasPrefix("HTTP/1.1 408"))
            #expect(answer.contains("\"code\":\"bodyTimedOut\""))
        }
    }

    @Test func `a body without an announced length has the same limit`() async throws {
        try await TestServer.with(configure: { $0.bodyBytesMax = 1000 }) { server in
            let connection = try RawConnection(port: server.port)
            let chunk = "400\r\n" + String(repeating: "a", count: 1024) + "\r\n"
            try connection.send(
                "POST /device/v1/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                    + "Content-Type: application/json\r\n\r\n" + chunk + chunk + "0\r\n\r\n")

            let answer = await connection.receive { $0.contains("bodyTooLarge") }

            #expect(answer.hasPrefix("HTTP/1.1 413"))
        }
    }

    @Test func `two requests in one breath get two answers`() async throws {
        try await TestServer.with { server in
            let connection = try RawConnection(port: server.port)
            try connection.send(
                "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /ready? HTTP/1.1\r\nHost: localhost\r\n\r\n"
            )

            let answer = await connection.receive { $0.contains("\"ready\"") }

            #expect(answer.contains("{\"status\":\"ok\"}"))
            #expect(answer.contains("{\"status\":\"ready\"}"))
        }
    }

    /// A client that does not keep its connection waits for the end of it.
    @Test(arguments: [
        "GET /health HTTP/1.0\r\n\r\n", "GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n",
        "GET /health HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Close\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: x, close\r\n\r\n",
        "POST /device/v1/sessions HTTP/1.0\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}",
    ])
    func `the connection ends after the answer where it is not to be kept`(
        request: String
    ) async throws {
        try await TestServer.with { server in
            let connection = try RawConnection(port: server.port)
            try connection.send(request)

            let answer = await connection.receive()

            #expect(answer.hasPrefix("HTTP/1.1 "), "\(answer)")
            #expect(answer.lowercased().contains("connection: close"), "\(answer)")
        }
    }

    @Test func `HTTP 1,0 keeps its connection where that is asked for`() async throws {
        try await TestServer.with { server in
            let connection = try RawConnection(port: server.port)
            let head = "HTTP/1.0\r\nHost: localhost\r\nConnection: Keep-Alive\r\n\r\n"
            try connection.send("GET /health \(head)")
            let first = await connection.receive { $0.contains("\"ok\"") }
            try connection.send("GET /ready \(head)")
            let second = await connection.receive { $0.contains("\"ready\"") }

            #expect(first.lowercased().contains("connection: keep-alive"), "\(first)")
            #expect(second.contains("{\"status\":\"ready\"}"))
        }
    }

    @Test func `nothing behind a last request is answered`() async throws {
        try await TestServer.with { server in
            let connection = try RawConnection(port: server.port)
            try connection.send(
                "GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n"
                    + "GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n")

            let answer = await connection.receive()

            #expect(answer.contains("\"ok\"") && !answer.contains("\"ready\""), "\(answer)")
        }
    }
}
