// SPDX-License-Identifier: Apache-2.0

import Foundation
import Live
import StoreWire
import TestSupport
import Testing

@testable import Outbound
@testable import PurchaseKit

/// What a broken connection is taken for, and that nothing a peer sends ends
/// the process.
@Suite(.timeLimit(.minutes(5)))
struct HTTPTransportTests {
    let call = DeviceCall(
        route: .purchase(id: "p"), body: Array("{}".utf8), token: "t", requestID: "r",
        ifNoneMatch: "\"1\"")

    func failure(_ url: String) async throws -> TransportFailure? {
        let transport = HTTPTransport(storeURL: try #require(URL(string: url)))
        do throws(TransportFailure) {
            _ = try await transport.send(call)
            return nil
        } catch {
            return error
        }
    }

    func isNotSent(_ failure: TransportFailure?) -> Bool {
        if case .notSent = failure { true } else { false }
    }

    func isUnknown(_ failure: TransportFailure?) -> Bool {
        if case .unknown = failure { true } else { false }
    }

    @Test func `a refused connection was not sent`() async throws {
        let port = try Loopback.closedPort()
        let failure = try await failure("http://127.0.0.1:\(port)")
        guard case .notSent(let error) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(error.code == .cannotConnectToHost)
    }

    @Test func `a host that does not exist was not sent`() async throws {
        let failure = try await failure("http://nowhere.invalid:4780")
        #expect(isNotSent(failure), "\(String(describing: failure))")
    }

    @Test func `what may have been sent is unknown, whatever went wrong`() {
        for code in [OutboundFault.Code.tls, .notConnected, .hostNotFound, .urlRefused] {
            let certain = HTTPTransport.failure(OutboundFault(code, ""))
            let open = HTTPTransport.failure(OutboundFault(code, "", mayHaveBeenSent: true))

            #expect(isNotSent(certain))
            #expect(isUnknown(open))
        }
    }

    @Test func `a failed TLS handshake was not sent`() async throws {
        let server = try RawServer(.speakFirst("HTTP/1.1 200 OK\r\n\r\n"))
        let failure = try await failure("https://127.0.0.1:\(server.port)")
        #expect(failure == .notSent(URLError(.secureConnectionFailed)))
    }

    /// A request with a body that meets a connection kept from before, which
    /// the peer closes: noticed at once, long before the call's time is over.
    @Test func `a kept connection that is closed without an answer is noticed at once`()
        async throws
    {
        let server = try RawServer(.answerOnceThenHangUp(Self.ok))
        let transport = HTTPTransport(
            storeURL: try #require(URL(string: server.url)), answerMilliseconds: 60_000)
        #expect(try await transport.send(call).status == 200)

        let outcome = await transport.outcome(of: call)

        guard case .failure(.unknown(let error)) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(error?.code == .networkConnectionLost)
    }

    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

    /// What other readers of HTTP end a process on, or hold it until its time is
    /// over.
    @Test(arguments: [
        "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nCont", "HTTP/1.1 20",
        "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "\0\u{1}\r\n\r\n",
    ])
    func `an invalid answer is unknown and does no harm`(answer: String) async throws {
        let server = try RawServer(.answer(answer))
        let failure = try await failure(server.url)
        #expect(isUnknown(failure), "\(String(describing: failure))")
    }

    @Test(arguments: [
        "302 Found\r\nLocation: http://127.0.0.1:1/", "301 Moved\r\nLocation: //",
        "401 No\r\nWWW-Authenticate: Basic realm=\"a\"", "407 No\r\nProxy-Authenticate: Basic",
    ])
    func `a redirect and a question for a password are answers, and are not followed`(
        head: String
    ) async throws {
        let server = try RawServer(.answer("HTTP/1.1 \(head)\r\nContent-Length: 0\r\n\r\n"))
        let transport = HTTPTransport(storeURL: try #require(URL(string: server.url)))
        #expect(try await transport.send(call).status == Int(head.prefix(3)))
    }

    @Test func `words from a store cannot become headers`() async throws {
        let server = try RawServer(.answer(Self.ok))
        let transport = HTTPTransport(storeURL: try #require(URL(string: server.url)))
        let smuggling = DeviceCall(
            route: .receipt, token: "t\r\nX-Other: 1", requestID: "r")
        guard case .failure = await transport.outcome(of: smuggling) else {
            Issue.record("a token with a line break was sent")
            return
        }
    }

    @Test func `a connection closed at once is unknown`() async throws {
        let server = try RawServer(.closeAtOnce)
        let failure = try await failure(server.url)
        #expect(isUnknown(failure), "\(String(describing: failure))")
    }

    @Test func `a connection closed after the request is unknown`() async throws {
        let server = try RawServer(.closeAfterReading)
        let failure = try await failure(server.url)
        #expect(isUnknown(failure), "\(String(describing: failure))")
        #expect(server.received.hasPrefix("PUT "))
    }

    @Test func `a connection reset after the request is unknown`() async throws {
        let server = try RawServer(.resetAfterReading)
        let failure = try await failure(server.url)
        #expect(isUnknown(failure), "\(String(describing: failure))")
    }

    @Test func `an answer cut short is unknown`() async throws {
        let server = try RawServer(.answer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"))
        let failure = try await failure(server.url)
        #expect(isUnknown(failure), "\(String(describing: failure))")
    }

    @Test func `a call carries path, token, request id, condition and body`() async throws {
        let server = try RawServer(
            .answer("HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\nETag: \"2\"\r\n\r\n{}"))
        let transport = HTTPTransport(storeURL: try #require(URL(string: server.url + "/")))

        let reply = try await transport.send(call)

        #expect(reply == DeviceReply(status: 409, body: Array("{}".utf8), etag: "\"2\""))
        await server.done.wait(for: "done")
        let lines = server.received.components(separatedBy: "\r\n")
        #expect(lines.first == "PUT /realms/x/device/v1/purchases/p HTTP/1.1")
        let headers = Set(lines.map { $0.lowercased() })
        #expect(headers.contains("authorization: bearer t"))
        #expect(headers.contains("x-request-id: r"))
        #expect(headers.contains("if-none-match: \"1\""))
        #expect(headers.contains("content-type: application/json"))
        #expect(lines.last == "{}")
    }

    @Test func `a call without a body names no type of one`() async throws {
        let server = try RawServer(.answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
        let transport = HTTPTransport(storeURL: try #require(URL(string: server.url)))

        _ = try await transport.send(DeviceCall(route: .receipt, requestID: "r"))

        await server.done.wait(for: "done")
        let received = server.received.lowercased()
        for header in ["content-type:", "authorization:", "if-none-match:"] {
            #expect(!received.contains(header))
        }
    }

    @Test func `a receipt that has not changed is a status, not an error`() async throws {
        let server = try RawServer(.answer("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n"))
        let transport = HTTPTransport(storeURL: try #require(URL(string: server.url)))

        let reply = try await transport.send(
            DeviceCall(route: .receipt, token: "t", requestID: "r", ifNoneMatch: "\"1\""))

        #expect(reply.status == 304)
    }

    /// A server that takes the request and never says a word more.
    @Test func `a call ends when its time is over`() async throws {
        let silent = try RawServer(.staySilent)
        let transport = HTTPTransport(
            storeURL: try #require(URL(string: silent.url)), answerMilliseconds: 200)

        let outcome = await transport.outcome(of: call)

        #expect(outcome == .failure(.unknown(URLError(.timedOut))))
    }

    @Test func `a call that waits for changes may take as much longer`() async throws {
        let silent = try RawServer(.staySilent)
        let transport = HTTPTransport(
            storeURL: try #require(URL(string: silent.url)), answerMilliseconds: 100)
        let waiting = DeviceCall(
            route: .transactions(since: 0, waitSeconds: 1), body: nil, token: "t",
            requestID: "r", ifNoneMatch: nil)
        let began = Live.monotonic()

        let outcome = await transport.outcome(of: waiting)

        #expect(outcome == .failure(.unknown(URLError(.timedOut))))
        #expect(Live.monotonic() - began > .seconds(1))
    }

    @Test func `a cancelled call ends at once, even without an answer`() async throws {
        let silent = try RawServer(.staySilent)
        let transport = HTTPTransport(storeURL: try #require(URL(string: silent.url)))
        let calling = Task { await transport.outcome(of: call) }
        await silent.done.wait(for: "heard")

        calling.cancel()

        guard case .failure(.unknown(let error)) = await calling.value else {
            Issue.record("a cancelled call ended well")
            return
        }
        #expect(error?.code == .cancelled)
    }
}

extension HTTPTransport {
    fileprivate func outcome(of call: DeviceCall) async -> Result<DeviceReply, TransportFailure> {
        do throws(TransportFailure) { return .success(try await send(call)) } catch {
            return .failure(error)
        }
    }
}
