// SPDX-License-Identifier: Apache-2.0

import Outbound
import Synchronization
import TestSupport
import Testing

/// Answers that are not held in memory.
@Suite(.timeLimit(.minutes(5)))
struct StreamTests {
    final class Sink: Sendable {
        let state = Mutex<(begun: [Int], ranges: [String?], bytes: Int)>(([], [], 0))
        let limit: Int

        init(limit: Int = .max) { self.limit = limit }

        var stream: OutboundStream {
            OutboundStream(
                statuses: [200, 206],
                begin: { status, headers in
                    self.state.withLock {
                        $0.begun.append(status)
                        $0.ranges.append(headers["content-range"])
                    }
                    return true
                },
                take: { bytes in
                    self.state.withLock {
                        $0.bytes += bytes.count
                        return $0.bytes <= self.limit
                    }
                })
        }
    }

    private let client = OutboundClient(policy: .open)

    @Test func `a long body goes into the stream, beyond the limit for others`() async throws {
        let body = String(repeating: "x", count: 300_000)
        let peer = try ScriptedPeer(
            .answer(
                ScriptedPeer.response(
                    "206 Partial Content", body, headers: "Content-Range: bytes 5-9/10\r\n")))
        let sink = Sink()
        var request = OutboundRequest("GET", peer.url)
        request.bodyBytesMax = 10
        request.stallSeconds = 20

        let response = try await client.send(request, into: sink.stream)

        #expect(response.status == 206)
        #expect(response.body == [])
        let found = sink.state.withLock { $0 }
        #expect(found.begun == [206])
        #expect(found.ranges == ["bytes 5-9/10"])
        #expect(found.bytes == 300_000)
    }

    @Test func `a refusal is in the answer, and the stream gets nothing`() async throws {
        let peer = try ScriptedPeer(.answer(ScriptedPeer.response("403 Forbidden", "no")))
        let sink = Sink()

        let response = try await client.send(
            OutboundRequest("GET", peer.url), into: sink.stream)

        #expect(response.status == 403)
        #expect(response.body == Array("no".utf8))
        #expect(sink.state.withLock { $0.begun } == [])
    }

    @Test func `a stream that takes no more ends the call`() async throws {
        let body = String(repeating: "x", count: 300_000)
        let peer = try ScriptedPeer(.answer(ScriptedPeer.response("200 OK", body)))

        let found = await #expect(throws: OutboundFault.self) {
            try await client.send(
                OutboundRequest("GET", peer.url), into: Sink(limit: 1000).stream)
        }

        #expect(found?.code == .cancelled)
    }
}
