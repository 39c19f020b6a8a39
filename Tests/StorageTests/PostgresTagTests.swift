// SPDX-License-Identifier: Apache-2.0

import Storage
import TestSupport
import Testing

@testable import StoragePostgres

/// After an error that never reached the transaction, the server answers
/// COMMIT with success: its tag alone says that it rolled back.
@Suite(.timeLimit(.minutes(5))) struct PostgresTagTests {
    /// A jar put by a transaction, and then an error that nobody hears of.
    private func put(_ storage: PostgresRig, checksCommitTag: Bool) async throws {
        try await storage.database.run(schema: storage.schema) { runner in
            var runner = runner
            runner.checksCommitTag = checksCommitTag
            let connection = runner.connection
            try runner.write { writing in
                try writing.execute(Shelf.insert, Shelf.values(1, "a"))
                _ = try connection.answers()
                try connection.send("SELECT 1 / 0")
                #expect(throws: StatementFailed.self) { try connection.answers() }
            }
        }
    }

    @Test func `a COMMIT that was answered with ROLLBACK is a fault`() async throws {
        let rig = try await PostgresRig()
        let met = try await fault { try await put(rig, checksCommitTag: true) }

        #expect(met?.code == .engine)
        #expect(met?.description.contains("rolled a transaction back") == true)
        #expect(try await rig.truth.count() == 0)
        // The connection goes on.
        try await rig.shelf.putJar(1, "b")
        #expect(try await rig.truth.count() == 1)
        await rig.close()
    }

    @Test func `unread, the tag would let what is lost pass for kept`() async throws {
        let rig = try await PostgresRig()
        let met = try await fault { try await put(rig, checksCommitTag: false) }

        #expect(met == nil)
        #expect(try await rig.truth.count() == 0)
        await rig.close()
    }
}
