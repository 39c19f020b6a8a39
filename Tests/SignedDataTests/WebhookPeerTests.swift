// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignedData
import TestSupport
import Testing

/// The specification's own library judges a webhook's signature. Where it is missing
/// this test fails: `make test` installs it.
@Suite(.timeLimit(.minutes(5))) struct WebhookPeerTests {
    @Test func `the library of Standard Webhooks accepts a message, and nothing else`()
        async throws
    {
        let python =
            ProcessInfo.processInfo.environment["SHOPKEEPER_PYTHON"]
            ?? Command.packageRoot.appendingPathComponent(".venv/bin/python").path
        let script = Command.packageRoot.appendingPathComponent("Tests/Peers/webhooks.py").path
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let body = #"{"type":"purchase.booked","data":{"account":"blöb ✓"}}"#
        // The library compares the date with the machine's clock.
        let now = Int64(Date().timeIntervalSince1970)
        let signature = try WebhookSecret(secret).signature(
            id: "msg_1", timestampSeconds: now, body: Array(body.utf8))

        let outcome = try await Command.inFolder { folder in
            let file = folder.appendingPathComponent("body")
            try Data(body.utf8).write(to: file)
            return try await Command.run(
                "/bin/sh",
                [
                    "-c", "exec \"$0\" \"$@\" < body", python, script, secret, "msg_1", "\(now)",
                    signature,
                ], in: folder)
        }

        try #require(outcome.status == 0, "the library did not run: \(outcome.errors)")
        #expect(outcome.output.trimmingCharacters(in: .whitespacesAndNewlines) == "true")
    }
}
