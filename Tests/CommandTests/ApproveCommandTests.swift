// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import TestSupport
import Testing

/// `purchase list --waiting`, `approve` and `decline`, as processes.
@Suite(.timeLimit(.minutes(5))) struct ApproveCommandTests {
    let rig: Rig

    init() throws {
        rig = try Rig()
    }

    /// A payment of a customer who asks to buy, sent as a device sends it.
    private func ask(_ device: DeviceClient, _ id: String) async throws {
        let asked = try await device.purchase(id)
        #expect(asked.state == "waiting" && asked.waitingFor == "approval")
    }

    @Test func `an approval is answered once and shown`() async throws {
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }
        _ = try await rig.object("customer", "create", "kid", "--asks-to-buy")
        _ = try await rig.object("customer", "create", "sis", "--asks-to-buy")
        let device = try await DeviceClient(rig.path(".shopkeeper"), customer: "kid")
        let other = try await DeviceClient(rig.path(".shopkeeper"), customer: "sis")
        let (first, second) = (UUID().uuidString.lowercased(), UUID().uuidString.lowercased())
        try await ask(device, first)
        try await ask(other, second)

        let waiting = try await rig.list("purchase", "list", "--waiting")
        let approved = try await rig.object("approve", first)
        let again = try await rig.object("approve", first)
        let declined = try await rig.object("decline", second)
        let late = try await rig.run("shopkeeper", "approve", second)
        let plain = try await rig.run("shopkeeper", "decline", second)

        #expect(Set(waiting.compactMap { $0["purchaseId"] as? String }) == [first, second])
        #expect(approved["state"] as? String == "sold")
        #expect(approved["approval"] as? String == "approved")
        #expect(again["transactionId"] as? String == approved["transactionId"] as? String)
        #expect(declined["state"] as? String == "refused")
        #expect(late.status == 1 && late.errors.contains("declined"), "\(late.errors)")
        #expect(plain.status == 0 && plain.output.contains("refused: approvalDeclined"))
        #expect(try await rig.list("purchase", "list", "--waiting").isEmpty)
        #expect(try await device.purchase(first).state == "sold")
        #expect(try await other.purchase(second).refusal?.code == "approvalDeclined")
        #expect(try await rig.list("transaction", "list").count == 1)
    }

    @Test func `what cannot be answered has an exit code`() async throws {
        let nobody = UUID().uuidString
        let none = try await rig.run("shopkeeper", "approve", nobody)
        let store = try await rig.serve()
        defer { store.kill(SIGTERM) }

        let odd = try await rig.run("shopkeeper", "decline", "not-a-uuid", "--json")
        let unknown = try await rig.run("shopkeeper", "approve", nobody, "--json")

        #expect(none.status == 69)
        #expect(odd.status == 64 && odd.errors.contains("uuidInvalid"))
        #expect(unknown.status == 1 && unknown.errors.contains("purchaseNotFound"))
    }
}
