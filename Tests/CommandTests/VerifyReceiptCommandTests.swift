// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Servers that still post receipts to verifyReceipt, with libraries of others.
@Suite(.timeLimit(.minutes(5))) struct VerifyReceiptCommandTests {
    @Test func `two libraries and an oracle verify receipts`() async throws {
        let rig = try Rig()
        try Data(ServerAPICommandTests.file.utf8).write(
            to: URL(fileURLWithPath: rig.path("Press.storekit")))

        let outcome = try await rig.run(
            "shopkeeper", "exec", "Press.storekit", "--bundle-id", "com.example.press", "--",
            try Rig.python(), try PackageRoot.path() + "/Tests/Peers/exec_verify_receipt.py")

        #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
        let checks = try JSONDecoder().decode(
            [String: Bool].self, from: Data(outcome.output.utf8))
        #expect(checks.count == 13)
    }
}
