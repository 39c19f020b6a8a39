// SPDX-License-Identifier: Apache-2.0

import Shop
import TestSupport
import Testing

@testable import shopkeeper

/// What of a processor's answers is believed.
@Suite(.timeLimit(.minutes(5))) struct LiveProcessorTests {
    private static let key = "realm/7/com.example.app/p1"

    private func processor(answering body: String) throws -> (LiveProcessor, ScriptedPeer) {
        let peer = try ScriptedPeer(.answer(ScriptedPeer.response("200 OK", body)))
        return (try LiveProcessor(url: "http://127.0.0.1:\(peer.port)"), peer)
    }

    @Test(arguments: ["captured", "voided"])
    func `a capture and a void are done when the answer confirms them`(state: String) async throws {
        let (processor, peer) = try processor(
            answering: #"{"key":"\#(Self.key)","state":"\#(state)"}"#)

        if state == "captured" { try await processor.capture(Self.key) }
        if state == "voided" { try await processor.void(Self.key) }

        #expect(peer.connections == 1)
    }

    /// A processor that answers a charge twice leaves its second answer on the
    /// connection, where the capture of the same key would read it.
    @Test(arguments: [
        #"{"key":"KEY","state":"approved","reference":"r"}"#, #"{"key":"KEY"}"#,
        #"{"key":"KEY","state":"declined"}"#, #"{"key":"another","state":"captured"}"#,
        #"{"key":"another","state":"voided"}"#,
    ])
    func `another answer is never taken for a capture's or a void's`(body: String) async throws {
        let (processor, peer) = try processor(
            answering: body.replacing("KEY", with: Self.key))

        await #expect(throws: LiveProcessor.Unclear.self) {
            try await processor.capture(Self.key)
        }
        await #expect(throws: LiveProcessor.Unclear.self) { try await processor.void(Self.key) }
        #expect(peer.connections > 0)
    }
}
