// SPDX-License-Identifier: Apache-2.0

import Foundation
import Outbound
import TestSupport
import Testing

/// What a sandbox's client does with every kind of server.
@Suite(.timeLimit(.minutes(5)))
struct ClientTests {
    let client = OutboundClient(policy: .open)

    private func fault(_ request: OutboundRequest) async -> OutboundFault? {
        do throws(OutboundFault) {
            let response = try await client.send(request)
            Issue.record("answered \(response.status)")
            return nil
        } catch { return error }
    }

    @Test func `a body is posted and the answer comes back`() async throws {
        let peer = try ScriptedPeer(
            .answer(ScriptedPeer.response("202 Accepted", "thanks", headers: "X-Some: thing\r\n")))
        var request = OutboundRequest(
            "POST", peer.url, headers: [.init("Content-Type", "application/json")])
        request.body = Array(#"{"a":"\#(String(repeating: "b", count: 100_000))"}"#.utf8)

        let response = try await client.send(request)

        #expect(response.status == 202)
        #expect(response.headers["x-some"] == "thing")
        #expect(response.body == Array("thanks".utf8))
        let heard = try #require(peer.requests.first)
        #expect(heard.hasPrefix("POST /x HTTP/1.1\r\n"))
        #expect(heard.contains("Content-Type: application/json\r\n"))
        #expect(!heard.contains("Expect:"))
        #expect(heard.hasSuffix(String(decoding: request.body, as: UTF8.self)))
    }

    @Test func `other methods, with and without a body`() async throws {
        let peer = try ScriptedPeer(.answer(ScriptedPeer.response("200 OK", "{}")))

        for method in ["GET", "POST", "PUT", "DELETE"] {
            #expect(try await client.send(OutboundRequest(method, peer.url)).status == 200)
        }

        let starts = peer.requests.map { $0.prefix { $0 != "\r\n" } }
        #expect(starts == ["GET", "POST", "PUT", "DELETE"].map { "\($0) /x HTTP/1.1" })
        #expect(peer.requests[1].contains("Content-Length: 0"))
    }

    @Test func `a redirect is an answer and is not followed`() async throws {
        let target = try ScriptedPeer(.answer(ScriptedPeer.response("200 OK")))
        let peer = try ScriptedPeer(
            .answer(ScriptedPeer.response("302 Found", headers: "Location: \(target.url)\r\n")))

        let response = try await client.send(OutboundRequest("POST", peer.url))

        #expect(response.status == 302)
        #expect(target.connections == 0)
    }

    @Test func `connections are kept for later calls`() async throws {
        let peer = try ScriptedPeer(.answerAgain(ScriptedPeer.response("200 OK", "a")))

        for _ in 0..<5 { _ = try await client.send(OutboundRequest("POST", peer.url)) }

        #expect(peer.requests.count == 5)
        #expect(peer.connections == 1)
    }

    @Test func `silence ends when the time is over`() async throws {
        let peer = try ScriptedPeer(.silence)
        var request = OutboundRequest("POST", peer.url, body: [1, 2, 3])
        request.timeoutMilliseconds = 100

        let fault = await fault(request)

        #expect(fault?.code == .timedOut)
        #expect(fault?.mayHaveBeenSent == true && fault?.status == nil)
    }

    @Test func `an endless answer is given up, and its status reported`() async throws {
        let peer = try ScriptedPeer(
            .answerThenSilence("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"))
        var request = OutboundRequest("POST", peer.url)
        request.timeoutMilliseconds = 100

        let fault = await fault(request)

        #expect(fault?.code == .timedOut)
        #expect(fault?.status == 200)
    }

    @Test func `an answer is read only so far`() async throws {
        let long = String(repeating: "a", count: 2000)
        let peer = try ScriptedPeer(.answer(ScriptedPeer.response("200 OK", long)))
        var request = OutboundRequest("POST", peer.url)
        request.bodyBytesMax = 1999

        let fault = await fault(request)
        request.bodyBytesMax = 2000
        let response = try await client.send(request)

        #expect(fault?.code == .answerTooLarge && fault?.status == 200)
        #expect(response.body.count == 2000)
    }

    @Test func `a head without end is given up`() async throws {
        let line = "X-Long: " + String(repeating: "a", count: 8000) + "\r\n"
        let peer = try ScriptedPeer(
            .answer("HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 20) + "\r\n"))

        let fault = await fault(OutboundRequest("POST", peer.url))
        #expect(fault?.code == .answerTooLarge && fault?.status == nil)
    }

    @Test func `each way of not answering has its code`() async throws {
        let cases: [(ScriptedPeer.Manner, OutboundFault.Code)] = [
            (.readThenHangUp, .noAnswer),
            (.answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .cutShort),
            (.answer("220 smtp.example.com ready\r\n"), .invalidAnswer),
            (
                .answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab"),
                .invalidAnswer
            ),
            (.answer("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"), .invalidAnswer),
            (.readThenReset, .socket), (.answer("HTTP/1.1 200 OK\r\n"), .cutShort),
            (.answer("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nCont"), .cutShort),
        ]
        for (manner, code) in cases {
            let peer = try ScriptedPeer(manner)
            let fault = await fault(OutboundRequest("POST", peer.url, body: [1]))
            #expect(fault?.code == code)
            #expect(fault?.mayHaveBeenSent == true)
        }
    }

    @Test func `a request that was never sent is reported as such`() async throws {
        let port = try Loopback.closedPort()
        let cases: [(String, OutboundFault.Code)] = [
            ("http://127.0.0.1:\(port)/", .notConnected),
            ("http://nowhere.invalid/", .hostNotFound),
        ]
        for (url, code) in cases {
            let fault = await fault(OutboundRequest("POST", url))
            #expect(fault?.code == code && fault?.mayHaveBeenSent == false)
        }
    }

    @Test func `a cancelled call ends`() async throws {
        let peer = try ScriptedPeer(.silence)
        let (client, url) = (client, peer.url)
        let call = Task { () -> OutboundFault? in
            do throws(OutboundFault) {
                _ = try await client.send(OutboundRequest("POST", url))
                return nil
            } catch { return error }
        }

        call.cancel()

        #expect(await call.value?.code == .cancelled)
    }

    @Test func `a closed client ends its calls and takes no more`() async throws {
        let peer = try ScriptedPeer(.silence)
        let other = OutboundClient(policy: .open)
        let url = peer.url
        let call = Task { try await other.send(OutboundRequest("POST", url)) }

        other.close()

        await #expect(throws: OutboundFault.self) { try await call.value }
        await #expect(throws: OutboundFault.self) {
            try await other.send(OutboundRequest("POST", url))
        }
    }

    @Test func `a hundred silent servers do not hold up one that answers`() async throws {
        let silent = try ScriptedPeer(.silence)
        let lively = try ScriptedPeer(.answerAgain(ScriptedPeer.response("200 OK")))
        let (client, dead) = (client, silent.url)

        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask { _ = try? await client.send(OutboundRequest("POST", dead)) }
            }
            for _ in 0..<20 {
                let answer = try? await client.send(OutboundRequest("POST", lively.url))
                #expect(answer?.status == 200)
            }
            group.cancelAll()
        }
    }
}
