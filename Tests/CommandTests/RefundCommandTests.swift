// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Refunds by the program, read by Apple's library.
@Suite(.timeLimit(.minutes(5))) struct RefundCommandTests {
    private let rig: Rig

    init() throws {
        rig = try Rig()
        try Data(Self.file.utf8).write(to: URL(fileURLWithPath: rig.path("Press.storekit")))
    }

    private static let file = """
        {"products": [{"productID": "pro", "type": "NonConsumable", "displayPrice": "4.99",
          "localizations": [], "referenceName": "Pro"}],
         "subscriptionGroups": [{"id": "press", "name": "Press", "localizations": [], "subscriptions": [
          {"productID": "paper", "type": "RecurringSubscription", "displayPrice": "4.99",
           "groupNumber": 1, "recurringSubscriptionPeriod": "P1M", "subscriptionGroupID": "press"}]}]}

        """

    @Test func `Apple's library reads each step of a refund`() async throws {
        let outcome = try await rig.run(
            "shopkeeper", "exec", "Press.storekit", "--bundle-id", "com.example.press", "--",
            try Rig.python(), try PackageRoot.path() + "/Tests/Peers/exec_refund.py")

        #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
        let checks = try JSONDecoder().decode(
            [String: Bool].self, from: Data(outcome.output.utf8))
        #expect(checks.count == 12)
    }

    @Test func `each verb refuses what it cannot do, and says what can be done`() async throws {
        let store = try await rig.serve("Press.storekit", "--bundle-id", "com.example.press")
        defer { store.kill(SIGTERM) }
        let bought = try await rig.object("buy", "pro")
        let id = try #require(bought["transactionId"] as? String)

        let nobody = try await rig.run("shopkeeper", "refund", "7")
        let none = try await rig.run("shopkeeper", "refund", id, "--decline")
        let part = try await rig.run("shopkeeper", "refund", id, "--prorated")
        let both = try await rig.run("shopkeeper", "refund", id, "--prorated", "--decline")
        let early = try await rig.run("shopkeeper", "reverse", id)
        let reason = try await rig.run("shopkeeper", "revoke", id, "--reason", "mood")
        let granted = try await rig.run("shopkeeper", "refund", id)
        let again = try await rig.run("shopkeeper", "refund", id)
        let listed = try await rig.run("shopkeeper", "refunds")

        #expect(nobody.status == 1 && nobody.errors.contains("There is no such transaction"))
        #expect(none.status == 1 && none.errors.contains("did not ask"))
        #expect(part.status == 1 && part.errors.contains("not sold for a time"))
        #expect(both.status == 64)
        #expect(early.status == 1 && early.errors.contains("not refunded or revoked"))
        #expect(reason.status == 1 && reason.errors.contains("issueWithApp"))
        #expect(granted.status == 0 && granted.output.contains("4.99 USD"))
        #expect(again.status == 0 && again.output.contains("Nothing changed"))
        #expect(listed.output.contains("granted") && listed.output.contains("4.99 USD"))
    }
}
