// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import PurchaseKitTesting
import Shop
import StoreWire
import Synchronization
import Testing

/// Ask to Buy from the tap to the answer, as an app sees it.
@Suite(.timeLimit(.minutes(5))) struct ApprovalScenarioTests {
    private func waiting() async throws -> (shop: TestShop, device: TestDevice) {
        let shop = try await TestShop.monkeys()
        try await shop.addCustomer("kid", asksToBuy: true)
        let device = try await shop.device(customer: "kid")
        try await device.buy("credits.5", quantity: 2)
        _ = try await device.heard.first(.deferred)
        return (shop, device)
    }

    private func only(_ shop: TestShop) async throws -> PurchaseRecord {
        try #require(try await shop.waitingPurchases().first)
    }

    @Test func `an approved payment goes on by itself`() async throws {
        let (shop, device) = try await waiting()
        #expect(try await shop.records().isEmpty)

        let record = try await shop.approve(try await only(shop))

        let bought = try await device.heard.first(.purchased)
        #expect(bought.transactionIdentifier == record.transactionId)
        #expect(bought.payment.quantity == 2)
        #expect(device.heard.transactions(.deferred) == [bought])
        #expect(device.heard.transactions(.purchasing) == [bought])
        device.queue.finishTransaction(bought)
        try await device.heard.removed()
        #expect(try await shop.records().count == 1)
        await shop.close()
    }

    /// Otherwise both could be paid.
    @Test func `a payment that waits cannot be replaced by another`() async throws {
        let shop = try await TestShop.monkeys()
        try await shop.addCustomer("kid", asksToBuy: true)
        let spy = Mutex<SpyingTransport?>(nil)
        let device = try await shop.device(customer: "kid") { ports in
            let transport = SpyingTransport(ports.transport)
            spy.withLock { $0 = transport }
            ports.transport = transport
        }
        try await device.buy("credits.5")
        _ = try await device.heard.first(.deferred)
        let transport = try #require(spy.withLock { $0 })
        var call = try #require(transport.lastPurchase)
        guard case .purchase(let waiting) = call.route else { return }
        var request = try JSONDecoder().decode(
            PurchaseRequest.self, from: Data(call.body ?? []))
        request.replaces = waiting
        call.route = .purchase(id: UUID().uuidString.lowercased())
        call.body = Array(try JSONEncoder().encode(request))

        let reply = try await transport.send(call)

        #expect(reply.status == 409)
        let error = try JSONDecoder().decode(WireError.self, from: Data(reply.body))
        #expect(error.code == "replacedNotRefused")
        #expect(try await shop.waitingPurchases().count == 1)
        #expect(try await shop.records().isEmpty)
        await shop.close()
    }

    @Test func `a declined payment fails`() async throws {
        let (shop, device) = try await waiting()

        try await shop.decline(try await only(shop))

        let failed = try await device.heard.first(.failed)
        #expect((failed.error as? SKError)?.code == .unknown)
        #expect(failed.error?.localizedDescription.contains("declined") == true)
        #expect(device.heard.transactions(.deferred) == [failed])
        #expect(try await shop.records().isEmpty)
        await shop.close()
    }

    @Test func `a payment without an answer fails after a day`() async throws {
        let (shop, device) = try await waiting()

        try await shop.clock.advance(seconds: 24 * 3600)

        let failed = try await device.heard.first(.failed)
        #expect(failed.error?.localizedDescription.contains("in time") == true)
        #expect(try await shop.waitingPurchases().isEmpty)
        await shop.close()
    }

    /// The approval lands while the app does not run: the payment is known
    /// again as the one that was asked for.
    @Test func `an answer finds an app that was started again`() async throws {
        for isApproved in [true, false] {
            let (shop, device) = try await waiting()
            await device.device.close()
            let purchase = try await only(shop)
            if isApproved {
                try await shop.approve(purchase)
            } else {
                try await shop.decline(purchase)
            }

            await device.restart()

            let told = try await device.heard.first(isApproved ? .purchased : .failed)
            #expect(told.payment.productIdentifier == "credits.5")
            #expect(told.payment.quantity == 2)
            #expect(try await shop.records().count == (isApproved ? 1 : 0))
            await shop.close()
        }
    }

    @Test func `a store that was started again still waits`() async throws {
        let (shop, device) = try await waiting()

        try await shop.restart()
        try await shop.approve(try await only(shop))

        _ = try await device.heard.first(.purchased)
        #expect(try await shop.records().count == 1)
        await shop.close()
    }

    @Test func `a payment asks by itself where it says so`() async throws {
        let shop = try await TestShop.monkeys()
        let device = try await shop.device()
        try await device.buy("credits.5", simulatesAskToBuy: true)
        let deferred = try await device.heard.first(.deferred)

        try await shop.approve(try await only(shop))

        #expect(deferred.payment.simulatesAskToBuyInSandbox)
        #expect(try await device.heard.first(.purchased) === deferred)
        await shop.close()
    }

    /// Seen to while the app runs, or while it does not; and whether or not
    /// the app has finished the failure by then.
    @Test(arguments: [true, false], [true, false])
    func `an interrupted payment fails, and what was seen to arrives as another transaction`(
        isRunning: Bool, finishesFirst: Bool
    ) async throws {
        let shop = try await TestShop.monkeys()
        try await shop.changeCustomer(interruptsPurchases: true)
        let device = try await shop.device()
        try await device.buy("credits.5", quantity: 2)
        let failed = try await device.heard.first(.failed)
        #expect((failed.error as? SKError)?.code == .unknown)
        #expect(failed.error?.localizedDescription.contains("interrupted") == true)
        if finishesFirst {
            device.queue.finishTransaction(failed)
            try await device.heard.removed()
        }

        if !isRunning { await device.device.close() }
        let record = try await shop.approve(try await only(shop))
        if !isRunning { await device.restart() }

        let bought = try await device.heard.first(.purchased)
        #expect(bought !== failed)
        #expect(bought.transactionIdentifier == record.transactionId)
        #expect(bought.payment.productIdentifier == "credits.5" && bought.payment.quantity == 2)
        #expect(device.heard.transactions(.deferred).isEmpty)
        #expect(try await shop.records().count == 1)
        await shop.close()
    }

    /// What a customer may do changes while the app runs, which need not be
    /// started again to notice.
    @Test(arguments: [true, false])
    func `a customer who was forbidden to buy asks as soon as that is allowed`(
        isForbiddenAtFirst: Bool
    ) async throws {
        let shop = try await TestShop.monkeys()
        try await shop.addCustomer("kid", canMakePayments: !isForbiddenAtFirst)
        let device = try await shop.device(customer: "kid")
        _ = try await device.products("credits.5")
        try await shop.changeCustomer("kid", canMakePayments: false)

        try await device.buy("credits.5")
        let refused = try await device.heard.first(.failed)
        #expect((refused.error as? SKError)?.code == .paymentNotAllowed)
        #expect(!device.device.canMakePayments)

        try await shop.changeCustomer("kid", canMakePayments: true, asksToBuy: true)
        try await device.buy("credits.5")
        let deferred = try await device.heard.first(.deferred)
        #expect(device.device.canMakePayments)
        try await shop.approve(try await only(shop))
        #expect(try await device.heard.first(.purchased) === deferred)
        #expect(try await shop.records().count == 1)
        await shop.close()
    }
}

/// Remembers the last payment that was sent. A class, as the test looks in.
private final class SpyingTransport: StoreTransport {
    private let transport: any StoreTransport
    private let last = Mutex<DeviceCall?>(nil)

    var lastPurchase: DeviceCall? { last.withLock { $0 } }

    init(_ transport: any StoreTransport) {
        self.transport = transport
    }

    func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply {
        if case .purchase = call.route { last.withLock { $0 = call } }
        return try await transport.send(call)
    }
}
