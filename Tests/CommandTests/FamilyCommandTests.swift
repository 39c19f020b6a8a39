// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Families by the program, read by Apple's library.
@Suite(.timeLimit(.minutes(5))) struct FamilyCommandTests {
    private let rig: Rig

    init() throws {
        rig = try Rig()
        try Data(Self.file.utf8).write(to: URL(fileURLWithPath: rig.path("Press.storekit")))
    }

    private static let file = """
        {"products": [{"productID": "pro", "type": "NonConsumable", "displayPrice": "4.99",
          "localizations": [], "referenceName": "Pro"},
          {"productID": "credits", "type": "Consumable", "displayPrice": "0.99",
          "localizations": [], "referenceName": "Credits"}],
         "subscriptionGroups": [{"id": "press", "name": "Press", "localizations": [], "subscriptions": [
          {"productID": "paper", "type": "RecurringSubscription", "displayPrice": "4.99",
           "groupNumber": 1, "recurringSubscriptionPeriod": "P1M", "subscriptionGroupID": "press"}]}]}

        """

    @Test func `Apple's library reads what a family shares and loses`() async throws {
        let outcome = try await rig.run(
            "shopkeeper", "exec", "Press.storekit", "--bundle-id", "com.example.press", "--",
            try Rig.python(), try PackageRoot.path() + "/Tests/Peers/exec_family.py")

        #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
        let checks = try JSONDecoder().decode(
            [String: Bool].self, from: Data(outcome.output.utf8))
        #expect(checks.count == 10)
    }

    @Test func `each verb says what is refused, and shows the family`() async throws {
        let store = try await rig.serve("Press.storekit", "--bundle-id", "com.example.press")
        defer { store.kill(SIGTERM) }
        for name in ["kid", "aunt"] {
            _ = try await rig.run("shopkeeper", "customer", "create", name)
        }

        let alone = try await rig.run("shopkeeper", "family", "show", "kid")
        let shared = try await rig.run("shopkeeper", "family", "share", "customer", "kid")
        let other = try await rig.run("shopkeeper", "family", "share", "aunt", "kid")
        let stopped = try await rig.run("shopkeeper", "family", "stop", "kid", "--purchases")
        let resumed = try await rig.run("shopkeeper", "family", "share", "kid")
        let dissolved = try await rig.run("shopkeeper", "family", "stop", "customer")
        let history = try await rig.run("shopkeeper", "history", "kid")

        #expect(alone.status == 1 && alone.errors.contains("not in this family"))
        #expect(shared.status == 0 && shared.output.contains("organiser"))
        #expect(other.status == 1 && other.errors.contains("in another family"))
        #expect(stopped.output.contains("shares nothing"))
        #expect(!resumed.output.contains("shares nothing"))
        #expect(dissolved.status == 0 && dissolved.output.contains("dissolved"))
        #expect(history.output.contains("Joined the family"))
    }
}
