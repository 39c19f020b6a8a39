// SPDX-License-Identifier: Apache-2.0

import Storage
import TestSupport
import Testing

@testable import StoragePostgres

/// What one process knows to be durable, while its connections may lead to
/// different servers.
@Suite(.unforgiven) struct PostgresProofTests {
    /// What a transaction saw; its own number, if it wrote.
    private func sight(_ snapshot: String, own: UInt64? = nil) throws -> PostgresSight {
        try PostgresSight(
            Row(
                columns: ["snapshot": 0, "own": 1],
                values: [.text(snapshot), own.map { .text("\($0)") } ?? .null]))
    }

    /// How many commits a caller makes before it is answered.
    private func commits(for snapshot: String, _ turn: PostgresProof.Turn) throws -> Int {
        var count = 0
        try turn.wait(
            for: try #require(try sight(snapshot).snapshot), until: .after(milliseconds: 1000),
            check: {}, commit: { count += 1 })
        return count
    }

    @Test func `what a durable commit saw needs no other commit`() throws {
        let proof = PostgresProof()
        let turn = proof.turn()
        #expect(try commits(for: "10:10:", turn) == 1)

        turn.add(try sight("10:10:", own: 10))

        #expect(try commits(for: "11:11:", turn) == 0)
        #expect(try commits(for: "12:12:", turn) == 1)
        proof.forget()
        #expect(try commits(for: "11:11:", proof.turn()) == 1)
    }

    @Test func `a commit on the server before proves nothing of the next one`() throws {
        let proof = PostgresProof()
        let before = proof.turn()
        proof.forget()

        before.add(try sight("10:10:", own: 10))

        #expect(try commits(for: "11:11:", proof.turn()) == 1)
    }

    @Test func `a read on the server before is not proven by the next one's commits`() throws {
        let proof = PostgresProof()
        let before = proof.turn()
        proof.forget()

        let after = proof.turn()
        after.add(try sight("20:20:", own: 20))

        #expect(try commits(for: "11:11:", after) == 0)
        #expect(try commits(for: "11:11:", before) == 1)
    }
}
