// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// The journal with its server and a store, as three programs.
@Suite(.timeLimit(.minutes(5))) struct JournalSampleTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    private func exec(_ script: String) async throws -> ChildProcess.Outcome {
        let folder = try PackageRoot.path() + "/Samples/Journal"
        return try await rig.run(
            "shopkeeper", "exec", folder + "/Journal.storekit", "--bundle-id",
            "com.example.journal", "--", folder + "/run", "sh", "-c", script)
    }

    /// The store delivers what was bought elsewhere a moment after the launch, and the
    /// app for scripts ends soon: it is asked until the delivery was earlier.
    @Test func `a year is bought and used, and what was lost is used at the next launch`()
        async throws
    {
        let outcome = try await exec(
            """
            journal show; journal button
            journal enable > first
            journal enable > second
            JOURNAL_URL=http://127.0.0.1:1 journal enable; echo "away $?"
            shopkeeper buy com.example.journal.comments12 --unfinished > /dev/null
            until [ "$(journal button)" = "Use a paid year" ]; do :; done
            journal button
            journal enable garden > third
            journal button
            journal enable moon; echo "unknown $?"
            journal button
            shopkeeper transaction list --json | grep -c '"productId"'
            wc -l < first; cmp -s first second; echo "same $?"
            """)

        let button = "Buy a year for $9.99\n"
        #expect(
            outcome.output == "travels\tclosed\n" + button + "away 69\n" + "Use a paid year\n"
                + button + "unknown 1\n" + "Use a paid year\n" + "4\n" + "1\n" + "same 1\n",
            "\(outcome.errors)")
        #expect(outcome.status == 0)
    }

    @Test func `wrong arguments and missing settings are reported`() async throws {
        let app = try await rig.run("journal", "sing")
        let server = try await rig.run("journal-server")

        #expect(app.status == 64)
        #expect(app.errors.contains("usage:"))
        #expect(server.status == 64)
        #expect(server.errors.contains("SHOPKEEPER_ROOT"))
    }
}
