// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

/// The switches of a catalogue file that the store obeys.
@Suite(.timeLimit(.minutes(5))) struct SettingsTests {
    private func world(
        _ settings: SandboxSettings, environment: Environment = .sandbox,
        processor: ScriptedProcessor? = nil
    ) async throws -> TestWorld {
        let world = try await TestWorld.open(
            processor: processor, realm: "other", environment: environment)
        try await world.realm.catalogue.importCatalogue(
            CatalogueImport(TestWorld.catalogue(), settings: settings),
            app: AppDescription(bundleID: TestWorld.bundleID), TestWorld.context)
        return world
    }

    private func failing(_ kind: SimulatedError.Kind, _ index: Int) -> SandboxSettings {
        SandboxSettings(errors: [SimulatedError(call: .purchase, kind: kind, index: index)])
    }

    @Test func `with Ask to Buy on, every purchase waits`() async throws {
        let world = try await world(SandboxSettings(asksToBuy: true))

        let asked = try await world.buy("credits.5", purchaseID(1))
        let approved = try await world.realm.purchases.answerApproval(
            purchaseID(1), AnswerApprovalRequest(answer: "approved", customerId: nil),
            TestWorld.context)

        #expect(asked.state == "waiting")
        #expect(asked.waitingFor == "approval")
        #expect(approved.state == "sold")
    }

    @Test func `an interrupted purchase waits for attention, and is sold after it`() async throws {
        let world = try await world(SandboxSettings(interruptsPurchases: true))

        let asked = try await world.buy("credits.5", purchaseID(1))
        let listed = try await world.realm.purchases.listPurchases(state: "waiting").purchases
        let resolved = try await world.realm.purchases.answerApproval(
            purchaseID(1), AnswerApprovalRequest(answer: "approved", customerId: nil),
            TestWorld.context)
        let again = try await world.buy("credits.5", purchaseID(1))

        #expect(asked.waitingFor == "attention")
        #expect(listed.map(\.waitingFor) == ["attention"])
        #expect([resolved.state, again.state] == ["sold", "sold"])
    }

    @Test(arguments: [
        (SimulatedError.Kind.purchase, 0, "quantityOutOfRange"), (.purchase, 1, "unknownProduct"),
        (.purchase, 2, "purchasesNotAllowed"), (.purchase, 6, "simulated"),
        (.generic, 2, "simulated"), (.generic, 4, "unknownProduct"),
    ])
    func `a payment that is configured to fail does, and stays failed`(
        kind: SimulatedError.Kind, index: Int, code: String
    ) async throws {
        let world = try await world(failing(kind, index))

        let failed = try await world.buy("credits.5", purchaseID(1))
        try await world.realm.catalogue.importCatalogue(
            CatalogueImport(TestWorld.catalogue(), settings: SandboxSettings()),
            app: AppDescription(bundleID: TestWorld.bundleID), TestWorld.context)
        let again = try await world.buy("credits.5", purchaseID(1))
        let other = try await world.buy("credits.5", purchaseID(2))

        #expect(failed.refusal?.code == code)
        #expect(again.refusal?.code == code)
        #expect(other.state == "sold")
    }

    @Test func `loading products that is configured to fail does`() async throws {
        let world = try await world(
            SandboxSettings(errors: [
                SimulatedError(call: .loadProducts, kind: .generic, index: 2)
            ]))

        let session = try await world.session()
        let refusal = try await refusal {
            try await world.realm.catalogue.products(
                ProductsRequest(ids: ["credits.5"]), session, TestWorld.context)
        }

        #expect(refusal.error.code == "simulatedError")
        #expect(refusal.error.message.contains("Load Products fail: networkError"))
    }

    @Test func `production obeys none of them`() async throws {
        var settings = failing(.generic, 0)
        settings.asksToBuy = true
        settings.interruptsPurchases = true
        let world = try await world(
            settings, environment: .production, processor: ScriptedProcessor([]))

        let shelf = try await world.realm.loadShelf()

        #expect(shelf.apps[TestWorld.bundleID]?.settings == SandboxSettings())
    }

    @Test func `devices receive whether dialogs are disabled now`() async throws {
        let world = try await world(SandboxSettings(disablesDialogs: true))
        func told() async throws -> [Bool?] {
            let session = try await world.session()
            let products = try await world.realm.catalogue.products(
                ProductsRequest(ids: ["credits.5"]), session, TestWorld.context)
            return [try await world.signIn().disablesDialogs, products.disablesDialogs]
        }

        #expect(try await told() == [true, true])
        try await world.realm.catalogue.importCatalogue(
            CatalogueImport(TestWorld.catalogue(), settings: SandboxSettings()),
            app: AppDescription(bundleID: TestWorld.bundleID), TestWorld.context)
        #expect(try await told() == [nil, nil])
    }

    @Test func `settings are returned, with those that have no effect yet`() async throws {
        let world = try await world(
            SandboxSettings(
                timeRate: .everyMinute, failsRenewals: true, hasGracePeriod: true,
                errors: [
                    SimulatedError(call: .purchase, kind: .purchase, index: 1),
                    SimulatedError(call: .sync, kind: .generic, index: 2),
                ]))

        let settings = try await world.realm.catalogue.settings(bundleID: TestWorld.bundleID.value)
        let next = try await world.restarted().realm

        #expect(settings.timeRate == 1002)
        #expect(settings.failsRenewals && settings.hasGracePeriod && !settings.asksToBuy)
        #expect(settings.errors.map(\.error) == ["productUnavailable", "networkError"])
        #expect(
            settings.unobeyed.map { $0.prefix { $0 != ":" } } == [
                "_storeKitErrors"
            ])
        #expect(settings.unobeyed.last?.contains("App Store Sync") == true)
        #expect(try await next.catalogue.settings(bundleID: TestWorld.bundleID.value) == settings)
    }

    @Test func `production has no settings`() async throws {
        let world = try await world(
            SandboxSettings(disablesDialogs: true), environment: .production,
            processor: ScriptedProcessor([]))

        let refusal = try await refusal {
            try await world.realm.catalogue.settings(bundleID: TestWorld.bundleID.value)
        }

        #expect(refusal.error.code == "sandboxOnly")
        let settings = try await world.realm.loadShelf().apps[TestWorld.bundleID]?.settings
        #expect(settings?.disablesDialogs == false)
    }
}
