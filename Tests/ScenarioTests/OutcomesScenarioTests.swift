// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import PurchaseKit
import PurchaseKitTesting
import Shop
import SignedData
import StoreKit
import StoreWire
import TestSupport
import Testing

/// Every outcome of a payment, provoked by a command, over real HTTP: on a good network,
/// and on one that loses, cuts and garbles what it carries.
@Suite(.timeLimit(.minutes(5))) struct OutcomesScenarioTests {
    enum Network: CaseIterable {
        case good, faulty

        func disturb(_ wire: TestWire) {
            guard self == .faulty else { return }
            for fault in [.requestLost, .answerLost, .cutOff, .garbage] as [TestWire.Fault] {
                wire.fail(.purchase, fault)
            }
            for fault in [.garbage, .unavailable, .answerLost, .cutOff] as [TestWire.Fault] {
                wire.fail(.transactions, fault)
            }
            wire.fail(.receipt, .answerLost)
            wire.fail(.receipt, .requestLost)
            wire.fail(.purchase, .doubled)
            wire.fail(.finish, .answerLost)
        }
    }

    private func served(
        _ network: Network, _ body: (ServedShop) async throws -> Void
    ) async throws {
        let shop = try await TestShop.monkeys()
        try await ServedShop.with(shop) { served in
            try await served.command(
                "POST", "/operator/v1/customers", CreateCustomerRequest(name: "kid"))
            network.disturb(shop.wire)
            try await body(served)
        }
    }

    private func change(_ served: ServedShop, _ change: ChangeCustomerRequest) async throws {
        let kid = try await served.number("kid")
        try await served.command("PATCH", "/operator/v1/customers/\(kid)", change)
    }

    private func sales(_ served: ServedShop) async throws -> [TransactionRecord] {
        try await served.ask("/operator/v1/transactions", as: TransactionRecords.self).transactions
    }

    private func answer(_ served: ServedShop, _ answer: String) async throws {
        let all = try await served.ask(
            "/operator/v1/purchases?state=waiting", as: PurchaseRecords.self)
        let id = try #require(all.purchases.first).purchaseId
        try await served.command(
            "PUT", "/operator/v1/purchases/\(id)/approval", AnswerApprovalRequest(answer: answer))
    }

    /// Buys and finishes, which shows that the store and the device are well.
    private func buys(_ product: String, _ device: TestDevice, count: Int = 1) async throws {
        try await device.buy(product)
        let sold = try await device.heard.all(.purchased, count: count)[count - 1]
        device.queue.finishTransaction(sold)
    }

    // MARK: What the customer and the settings decide

    @Test(arguments: Network.allCases)
    func `cancelled, and bought the next time`(network: Network) async throws {
        try await served(network) { served in
            let device = try await served.device(
                customer: "kid", sheet: TestSheet([.cancel], otherwise: .confirm))
            try await device.buy("credits.5")
            let failed = try await device.heard.first(.failed)
            #expect((failed.error as? SKError)?.code == .paymentCancelled)
            device.queue.finishTransaction(failed)
            try await buys("credits.5", device)
            #expect(try await sales(served).count == 1)
        }
    }

    @Test(arguments: Network.allCases)
    func `declined by a rule of customer, product, amount and attempt`(
        network: Network
    ) async throws {
        try await served(network) { served in
            let kid = try await served.number("kid")
            try await served.command(
                "PUT", "/control/v1/faults/payments",
                SetFaultRequest(value: "customer=\(kid) product=credits.5 amount=1.98 attempt=2"))
            let device = try await served.device(customer: "kid")
            try await buys("credits.5", device)
            try await device.buy("credits.5", quantity: 2)

            let failed = try await device.heard.first(.failed)
            #expect((failed.error as? SKError)?.storeRefusal?.code == "declined")
            device.queue.finishTransaction(failed)
            // The third attempt is not named by the rule.
            try await device.buy("credits.5", quantity: 2)
            _ = try await device.heard.all(.purchased, count: 2)
            #expect(try await sales(served).count == 2)
        }
    }

    @Test(arguments: Network.allCases)
    func `not allowed, and bought when it is`(network: Network) async throws {
        try await served(network) { served in
            try await change(served, ChangeCustomerRequest(canMakePayments: false))
            let device = try await served.device(customer: "kid")
            try await device.buy("credits.5")
            let failed = try await device.heard.first(.failed)
            #expect((failed.error as? SKError)?.code == .paymentNotAllowed)
            #expect(device.sheet.shown.isEmpty)
            try await change(served, ChangeCustomerRequest(canMakePayments: true))
            try await buys("credits.5", device)
        }
    }

    @Test(arguments: Network.allCases)
    func `interrupted, and resolved as a new purchase`(network: Network) async throws {
        try await served(network) { served in
            try await change(served, ChangeCustomerRequest(interruptsPurchases: true))
            let device = try await served.device(customer: "kid")
            try await device.buy("credits.5", quantity: 3)
            let failed = try await device.heard.first(.failed)
            #expect((failed.error as? SKError)?.code == .unknown)

            try await answer(served, "approved")

            let sold = try await device.heard.first(.purchased)
            #expect(sold !== failed && sold.payment.quantity == 3)
            #expect(try await sales(served).count == 1)
        }
    }

    @Test(arguments: Network.allCases, ["approved", "declined", "never"])
    func `deferred, and answered or not`(network: Network, word: String) async throws {
        try await served(network) { served in
            try await change(served, ChangeCustomerRequest(asksToBuy: true))
            let device = try await served.device(customer: "kid")
            try await device.buy("credits.5")
            let deferred = try await device.heard.first(.deferred)

            if word == "never" {
                try await served.command(
                    "POST", "/control/v1/clock",
                    MoveClockRequest(advanceMilliseconds: ApprovalAnswer.limitMilliseconds))
            } else {
                try await answer(served, word)
            }

            let end = try await device.heard.first(word == "approved" ? .purchased : .failed)
            #expect(end === deferred)
            #expect(try await sales(served).count == (word == "approved" ? 1 : 0))
        }
    }

    // MARK: Storefronts

    private final class Decider: NSObject, SKPaymentQueueDelegate, Sendable {
        /// Nil never answers in time.
        let answer: Bool?
        let gate = DispatchSemaphore(value: 0)

        init(_ answer: Bool?) { self.answer = answer }

        func paymentQueue(
            _ paymentQueue: SKPaymentQueue, shouldContinue transaction: SKPaymentTransaction,
            in newStorefront: SKStorefront
        ) -> Bool {
            if answer == nil { gate.wait() }
            return answer ?? true
        }
    }

    @Test(arguments: Network.allCases, [true, false, nil])
    func `a storefront that changes during a purchase, with the delegate's answer or none`(
        network: Network, answer: Bool?
    ) async throws {
        try await served(network) { served in
            // The delegate must not hold the main queue, which other tests use.
            var options = TestDevice.Options()
            options.callbackQueue = DispatchQueue(label: "delegate")
            let device = try await served.device(customer: "kid", options: options)
            let decider = Decider(answer)
            defer { decider.gate.signal() }
            device.queue.delegate = decider
            _ = try await device.products("credits.5")
            try await change(served, ChangeCustomerRequest(storefront: "JPN"))

            let payment = SKMutablePayment()
            payment.productIdentifier = "credits.5"
            _ = device.heard
            device.queue.add(payment)

            if answer == true {
                _ = try await device.heard.first(.purchased)
                #expect(device.sheet.shown.map(\.isPriceChanged) == [false, true])
                #expect(try await sales(served).first?.payload.storefront == "JPN")
            } else {
                if answer == nil {
                    // The late answer counts for nothing.
                    await until("a failure in the file") {
                        (try? String(
                            contentsOf: device.folder.appendingPathComponent("queue.json"),
                            encoding: .utf8
                        ).contains("\"failed\"")) == true
                    }
                    decider.gate.signal()
                }
                let failed = try await device.heard.first(.failed)
                #expect((failed.error as? SKError)?.code == .storeProductNotAvailable)
                #expect(try await sales(served).isEmpty)
            }
        }
    }

    // MARK: What is lost

    @Test(arguments: Network.allCases)
    func `entitlements that are revoked`(network: Network) async throws {
        try await served(network) { served in
            let device = try await served.device(customer: "kid")
            try await buys("pro", device)
            let sold = try #require(try await sales(served).first?.payload.transactionId)

            try await served.command(
                "PUT", "/operator/v1/transactions/\(sold)/refund",
                DecideRefundRequest(state: "granted"))

            #expect(try await device.heard.revoked() == ["pro"])
        }
    }

    @Test(arguments: Network.allCases)
    func `a family's loss`(network: Network) async throws {
        try await served(network) { served in
            try await served.command(
                "PATCH", "/operator/v1/apps/\(Goods.bundleID)/products/pro",
                ["isFamilyShareable": true])
            try await served.command(
                "POST", "/operator/v1/customers", CreateCustomerRequest(name: "mum"))
            let (mum, kid) = (try await served.number("mum"), try await served.number("kid"))
            let (buyer, member) = (
                try await served.device(customer: "mum"), try await served.device(customer: "kid")
            )
            _ = member.heard
            _ = try await member.products("pro")
            let family = "/operator/v1/customers/\(mum)/family/members/\(kid)"
            try await served.command("PUT", family)
            try await buys("pro", buyer)
            _ = try await member.heard.first(.purchased)

            try await served.command("DELETE", family)

            #expect(try await member.heard.revoked() == ["pro"])
        }
    }

    // MARK: The session and the service

    @Test(arguments: Network.allCases)
    func `a session that ends during a purchase`(network: Network) async throws {
        try await served(network) { served in
            let kid = try await served.number("kid")
            let device = try await served.device(customer: "kid")
            _ = try await device.products("credits.5")
            try await served.command("DELETE", "/operator/v1/customers/\(kid)/sessions")
            try await device.buy("credits.5")
            _ = try await device.heard.first(.purchased)
            #expect(try await sales(served).count == 1)
        }
    }

    @Test(arguments: Network.allCases)
    func `a password that is not right is 5020, and a changed one signs in`(
        _ network: Network
    ) async throws {
        try await served(network) { served in
            // The device gives no password, as if the customer had forgotten it.
            try await change(served, ChangeCustomerRequest(password: "a long one"))
            let device = try await served.device(customer: "kid")
            _ = device.heard
            let payment = SKMutablePayment()
            payment.productIdentifier = "credits.5"
            // A sign-in without an answer is the network's fault, not the password's.
            if network == .faulty {
                served.shop.wire.fail(.signIn, .answerLost)
                device.queue.add(payment)
                let unanswered = try await device.heard.first(.failed)
                #expect((unanswered.error as? SKError)?.code == .unknown)
                device.queue.finishTransaction(unanswered)
            }
            device.queue.add(payment)

            let failures = network == .faulty ? 2 : 1
            let failed = try await device.heard.all(.failed, count: failures)[failures - 1]
            #expect((failed.error as NSError?)?.code == 5020)
            #expect(try await sales(served).isEmpty)
        }
    }

    @Test(arguments: Network.allCases)
    func `a store that fails without a reason is 5002, until the command is taken back`(
        _ network: Network
    ) async throws {
        try await served(network) { served in
            let fault = "/control/v1/faults/devices"
            let signedIn = try await served.device(customer: "kid")
            try await buys("credits.5", signedIn)
            try await served.command("PUT", fault, SetFaultRequest(value: "500"))

            // A device that is signed in, and one that is not.
            let fresh = try await served.device(customer: "kid")
            for device in [signedIn, fresh] {
                let payment = SKMutablePayment()
                payment.productIdentifier = "credits.5"
                _ = device.heard
                device.queue.add(payment)
                let failed = try await device.heard.first(.failed)
                #expect((failed.error as NSError?)?.code == 5002)
                #expect(failed.error as? SKError == nil)
                device.queue.finishTransaction(failed)
                let asked = await #expect(throws: (any Error).self) {
                    try await device.products("credits.5")
                }
                #expect((asked as NSError?)?.code == 5002)
            }
            try await served.command("DELETE", fault)

            try await buys("credits.5", signedIn, count: 2)
            #expect(try await sales(served).count == 2)
        }
    }
}
