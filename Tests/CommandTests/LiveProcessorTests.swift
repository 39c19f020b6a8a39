// SPDX-License-Identifier: Apache-2.0

import Commerce
import Shop
import TestSupport
import Testing

@testable import shopkeeper

/// What of a processor's answers is believed.
@Suite(.timeLimit(.minutes(5))) struct LiveProcessorTests {
    private static let key = "realm/7/com.example.app/p1"

    private func processor(answering body: String) throws -> (LiveProcessor, ScriptedPeer) {
        let peer = try ScriptedPeer(.answer(ScriptedPeer.response("200 OK", body)))
        var processor = try LiveProcessor(url: "http://127.0.0.1:\(peer.port)")
        processor.timeoutMilliseconds = Patience.milliseconds
        return (processor, peer)
    }

    @Test(arguments: ["captured", "voided"])
    func `a capture and a void are done when the answer confirms them`(state: String) async throws {
        let (processor, peer) = try processor(
            answering: #"{"key":"\#(Self.key)","state":"\#(state)"}"#)

        if state == "captured" { try await processor.capture(Self.key) }
        if state == "voided" { try await processor.void(Self.key) }

        #expect(peer.connections == 1)
    }

    private static let refund = RefundCharge(
        key: key, refund: "2000000000001000.1",
        total: Money(
            Amount(milliunits: 990), Currency(code: "USD") ?? Storefront.all[0].currency))

    @Test(arguments: ["refunded", "takenBack"])
    func `a refund and its return are done when the answer confirms them`(
        state: String
    ) async throws {
        let (processor, peer) = try processor(
            answering: #"{"key":"\#(Self.key)","refund":"2000000000001000.1","state":"\#(state)"}"#)

        // A refund that was taken back before is made no more.
        try await processor.refund(Self.refund)
        if state == "takenBack" { try await processor.takeBack(Self.refund) }

        #expect(peer.connections > 0)
    }

    @Test(arguments: [
        #"{"key":"KEY","state":"refunded"}"#,
        #"{"key":"KEY","refund":"2000000000001000.2","state":"refunded"}"#,
        #"{"key":"another","refund":"2000000000001000.1","state":"refunded"}"#,
        #"{"key":"KEY","refund":"2000000000001000.1","state":"captured"}"#,
    ])
    func `another answer is never taken for a refund's`(body: String) async throws {
        let (processor, peer) = try processor(
            answering: body.replacing("KEY", with: Self.key))

        await #expect(throws: LiveProcessor.Unclear.self) {
            try await processor.refund(Self.refund)
        }
        await #expect(throws: LiveProcessor.Unclear.self) {
            try await processor.takeBack(Self.refund)
        }
        #expect(peer.connections > 0)
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
