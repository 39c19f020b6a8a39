// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Ledger
@testable import shopkeeper

/// The ledger's calls over real sockets.
@Suite(.timeLimit(.minutes(5))) struct LiveStoreDoorTests {
    private static let long = String(repeating: "a", count: 100_000)

    private func status(_ receiver: StoreCall.Receiver, _ body: String) async throws -> Int? {
        let peer = try ScriptedPeer(.answer(ScriptedPeer.response("200 OK", body)))
        let call = StoreCall(
            receiver, "POST", peer.url, headers: [:], timeoutMilliseconds: 60_000,
            answerBytesMax: 65_536)
        return try? await LiveStoreDoor.door(isProduction: false).send(call).status
    }

    @Test func `a merchant's server acknowledges with its status, whatever it says`()
        async throws
    {
        #expect(try await status(.merchant, "thanks") == 200)
        #expect(try await status(.merchant, Self.long) == 200)
    }

    @Test func `a store's answer is used only if all of it came`() async throws {
        #expect(try await status(.store, "{}") == 200)
        #expect(try await status(.store, Self.long) == nil)
    }
}
