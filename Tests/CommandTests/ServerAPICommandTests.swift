// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A merchant's server that asks the store with Apple's own client.
@Suite(.timeLimit(.minutes(5))) struct ServerAPICommandTests {
    static let file = """
        {"products": [
          {"productID": "pro", "type": "NonConsumable", "displayPrice": "4.99",
           "localizations": [], "referenceName": "Pro"},
          {"productID": "coins", "type": "Consumable", "displayPrice": "0.99",
           "localizations": [], "referenceName": "Coins"}],
         "subscriptionGroups": [{"id": "press", "name": "Press", "localizations": [], "subscriptions": [
          {"productID": "paper", "type": "RecurringSubscription", "displayPrice": "4.99",
           "groupNumber": 1, "recurringSubscriptionPeriod": "P1W", "subscriptionGroupID": "press"}]}]}

        """

    @Test func `Apple's client pages, filters, extends and is refused`() async throws {
        let rig = try Rig()
        try Data(Self.file.utf8).write(to: URL(fileURLWithPath: rig.path("Press.storekit")))

        let outcome = try await rig.run(
            "shopkeeper", "exec", "Press.storekit", "--bundle-id", "com.example.press", "--",
            try Rig.python(), try PackageRoot.path() + "/Tests/Peers/exec_server_api.py")

        #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
        let checks = try JSONDecoder().decode(
            [String: Bool].self, from: Data(outcome.output.utf8))
        #expect(checks.count == 25)
    }
}
