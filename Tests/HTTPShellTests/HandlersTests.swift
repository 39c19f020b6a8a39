// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import HTTPShell
import Hummingbird
import Live
import Logging
import StoreWire
import TestSupport
import Testing
import WireErrors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A server with two handlers beside each other.
@Suite(.timeLimit(.minutes(2))) struct HandlersTests {
    struct Broken: Error {}

    /// Answers below its prefix, and explains its own error.
    struct Pages: RequestHandler {
        let prefix: String

        func match(_ call: Call) throws -> MatchedRequest? {
            let path = call.request.uri.path
            guard path.hasPrefix(prefix) else { return nil }
            guard call.request.method == .get else {
                throw RequestMistake.wrongMethod(allowed: ["GET"])
            }
            return MatchedRequest(pattern: prefix) {
                if path.hasSuffix("/broken") { throw Broken() }
                if path.hasSuffix("/stopping") { throw CancellationError() }
                return .bytes(Array(prefix.utf8), type: "text/plain")
            }
        }

        func explain(_ error: any Error) -> ErrorAnswer? {
            guard error is Broken else { return nil }
            return ErrorAnswer(
                response: .bytes(
                    Array("\(prefix) is broken".utf8), type: "text/html", status: 500),
                code: "broken")
        }
    }

    @Test(arguments: [
        ("GET", "/a/1", 200, "/a"), ("GET", "/b/1", 200, "/b"),
        ("GET", "/a/broken", 500, "/a is broken"), ("GET", "/b/broken", 500, "/b is broken"),
    ])
    func `the first handler that knows an address answers`(
        method: String, path: String, status: Int, text: String
    ) async throws {
        let reply = try await ask(method, path)

        #expect(reply.status == status)
        #expect(reply.text == text)
    }

    @Test(arguments: [
        ("GET", "/c", 404, "unknownPath"), ("POST", "/b/1", 405, "wrongMethod"),
        ("GET", "/a/stopping", 503, "stopping"),
    ])
    func `the shell explains what every server may meet`(
        method: String, path: String, status: Int, code: String
    ) async throws {
        let reply = try await ask(method, path)

        #expect(reply.status == status)
        let error = try JSONDecoder().decode(WireError.self, from: Data(reply.text.utf8))
        #expect(error.code == code)
        #expect(code == "wrongMethod" || "\(error)".contains("playground"))
    }

    /// Asks a server of its own.
    private func ask(_ method: String, _ path: String) async throws -> (status: Int, text: String) {
        var configuration = try ShellConfiguration(port: 0)
        configuration.stopsOnSignals = false
        let shell = HTTPShell(
            handlers: [Pages(prefix: "/a"), Pages(prefix: "/b")],
            words: ErrorWords(
                subject: "playground", addresses: "/a and /b of the playground",
                askAgain: "ask the playground again"),
            configuration: configuration,
            ports: ShellPorts(
                sleep: Live.sleep, monotonic: Live.monotonic,
                randomness: .seeded(1)),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let (ready, told) = AsyncStream.makeStream(of: Int.self)
        let running = Task {
            defer { told.finish() }
            try await shell.run(onReady: { told.yield($0.main) }, close: {})
        }
        let port = await ready.first { _ in true } ?? 0
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
        request.httpMethod = method
        let (data, response) = try await URLSession.shared.data(for: request)
        running.cancel()
        try await running.value
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        return (status, String(decoding: data, as: UTF8.self))
    }
}
