// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Subscriptions by the program: bought, moved through time and read by Apple's
/// library.
@Suite(.timeLimit(.minutes(5))) struct SubscriptionCommandTests {
    private let rig: Rig

    init() throws {
        rig = try Rig()
        try Data(Self.file.utf8).write(to: URL(fileURLWithPath: rig.path("Press.storekit")))
    }

    private static let file = """
        {"subscriptionGroups": [{"id": "press", "name": "Press", "localizations": [], "subscriptions": [
          {"productID": "all", "type": "RecurringSubscription", "displayPrice": "9.99",
           "groupNumber": 1, "recurringSubscriptionPeriod": "P1M", "subscriptionGroupID": "press"},
          {"productID": "paper", "type": "RecurringSubscription", "displayPrice": "4.99",
           "groupNumber": 2, "recurringSubscriptionPeriod": "P1M", "subscriptionGroupID": "press",
           "introductoryOffer": {"internalID": "0A0B0C0D", "paymentMode": "free",
             "subscriptionPeriod": "P1W"}}]}]}

        """

    @Test func `Apple's library reads each step of a subscription's life`() async throws {
        let outcome = try await rig.run(
            "shopkeeper", "exec", "Press.storekit", "--bundle-id", "com.example.press", "--",
            try Rig.python(), try PackageRoot.path() + "/Tests/Peers/exec_subscription.py")

        #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
        let checks = try JSONDecoder().decode(
            [String: Bool].self, from: Data(outcome.output.utf8))
        #expect(checks.count == 16)
    }

    @Test func `each verb refuses what it cannot do, and says what can be done`() async throws {
        let store = try await rig.serve(
            "Press.storekit", "--bundle-id", "com.example.press")
        defer { store.kill(SIGTERM) }
        let bought = try await rig.object("buy", "all")
        let id = try #require(bought["transactionId"] as? String)

        let shown = try await rig.run("shopkeeper", "subscription", "show", id)
        let nobody = try await rig.run("shopkeeper", "subscription", "show", "7")
        let far = try await rig.run("shopkeeper", "subscription", "extend", id, "--days", "91")
        let lower = try await rig.run(
            "shopkeeper", "subscription", "raise-price", id, "--price", "1", "--from", "now")
        let raised = try await rig.run(
            "shopkeeper", "subscription", "raise-price", id, "--price", "12.99", "--from",
            "now+1mo")
        let agreed = try await rig.run("shopkeeper", "subscription", "consent", id)
        let later = try await rig.run("shopkeeper", "buy", "paper")
        let past = try await rig.run("shopkeeper", "buy", "all", "--at", "now")
        let expired = try await rig.run("shopkeeper", "subscription", "expire", id)
        let again = try await rig.run("shopkeeper", "subscription", "renew", id)

        #expect(shown.status == 0 && shown.output.contains("active"))
        #expect(later.output.hasPrefix("paper follows all at the end of its period."))
        #expect(past.status == 0, "\(past.output)\(past.errors)")
        #expect(nobody.status == 1 && nobody.errors.contains("There is no such subscription"))
        #expect(far.errors.contains("1 to 90") && far.status != 0)
        #expect(lower.errors.contains("The price is not higher"))
        #expect(raised.output.contains("if the customer consents"))
        #expect(agreed.output.contains("consented to the higher price"))
        #expect(expired.output.contains("Expired"))
        #expect(again.errors.contains("The subscription has ended") && again.status == 1)
    }
}
