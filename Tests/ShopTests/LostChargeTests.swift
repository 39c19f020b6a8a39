// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// A store was restored from a copy that is older than a charge, and the device sends the
/// charged payment again. It is sold, or its sum goes back.
@Suite(.timeLimit(.minutes(5))) struct LostChargeTests {
    /// Why the payment is not sold after the restore.
    enum Cause: CaseIterable, Sendable {
        /// An earlier purchase was finished after the copy was made.
        case unfinished
        /// Another device was faster.
        case owned
        /// The customer may no longer buy.
        case forbidden
        /// The customer now asks a parent, who declines.
        case declined
        /// Another payment for the product waits for a parent.
        case joined
    }

    private let price = Money(
        Amount(milliunits: 990), Currency(code: "USD") ?? Storefront.all[0].currency)
    private let once = Money(
        Amount(milliunits: 4990), Currency(code: "USD") ?? Storefront.all[0].currency)

    @Test(arguments: BackupEngine.allCases, Cause.allCases)
    func `a payment whose charge was lost is not kept without a sale`(
        engine: BackupEngine, cause: Cause
    ) async throws {
        let processor = ScriptedProcessor([])
        let (here, there) = (try await BackupPlace(engine), try await BackupPlace(engine))
        let product = cause == .owned ? "pro" : "credits.5"
        let first = try await here.open(isNew: true, processor: processor)
        let old = try await first.realm(named: Store.defaultRealm)
        try await old.catalogue.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: TestWorld.bundleID))
        let session = try await session(in: old)
        if cause == .unfinished { #expect(try await buy(product, 1, old, session) == "sold") }
        let archive = try await here.backup("copy")
        try await old.finishQuietly(
            "credits.5", of: session.customer, before: purchaseID(2))
        #expect(try await buy(product, 2, old, session) == "sold")
        try await old.keeping.workOnce()
        await first.close()
        let charged = processor.charged.count

        _ = try await there.restore(archive)
        let second = try await there.open(processor: processor)
        let new = try await second.realm(named: Store.defaultRealm)
        let state = try await again(product, cause, new)
        try await new.keeping.workOnce()
        await second.close()

        #expect(["sold", "refused", "waiting"].contains(state))
        let newlyCharged = cause == .owned ? 1 : 0
        #expect(processor.charged.count == charged - 1 + newlyCharged)
        #expect(processor.calls.filter { $0 == "void" } == ["void"])
    }

    /// Does what keeps the payment from being sold, and sends it again.
    private func again(_ product: String, _ cause: Cause, _ realm: Realm) async throws -> String {
        let session = try await session(in: realm)
        let customer = session.customer.description
        switch cause {
        case .unfinished: break
        case .owned: #expect(try await buy(product, 3, realm, session) == "sold")
        case .forbidden:
            _ = try await realm.customers.changeCustomer(
                customer, ChangeCustomerRequest(canMakePayments: false), TestWorld.context)
        case .declined, .joined:
            _ = try await realm.customers.changeCustomer(
                customer, ChangeCustomerRequest(asksToBuy: true), TestWorld.context)
            if cause == .joined {
                #expect(try await buy(product, 3, realm, session) == "waiting")
            }
        }
        let state = try await buy(product, 2, realm, session)
        guard cause == .declined else { return state }
        #expect(state == "waiting")
        return try await realm.purchases.answerApproval(
            purchaseID(2), AnswerApprovalRequest(answer: "declined"), TestWorld.context
        ).state
    }

    private func session(in realm: Realm) async throws -> DeviceSession {
        let token = try await realm.customers.signIn(
            SignInRequest(appVersion: "1", deviceUUID: TestWorld.deviceUUID), TestWorld.context
        ).token
        return try await realm.customers.session(token: token)
    }

    private func buy(
        _ product: String, _ number: Int, _ realm: Realm, _ session: DeviceSession
    ) async throws -> String {
        try await realm.purchases.purchase(
            purchaseID(number),
            PurchaseRequest(
                productId: product, quantity: 1,
                unitPrice: (product == "credits.5" ? price : once).amount.milliunits,
                currency: "USD"),
            session, TestWorld.context
        ).state
    }
}
