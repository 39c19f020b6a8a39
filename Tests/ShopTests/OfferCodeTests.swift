// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import Testing

@testable import Shop
@testable import Work

/// Codes: made, redeemed, limited and switched off.
@Suite(.timeLimit(.minutes(5))) struct OfferCodeTests {
    @Test func `a shared code is redeemed once by each customer, up to its limit`() async throws {
        let world = try await OfferWorld(buying: nil)
        let made = try await world.codes(code: "spring-26", limit: 2)
        #expect(made.map(\.code) == ["SPRING26"])
        let customers = try await world.others(3)

        let first = try await world.redeem(" Spring-26", by: customers[0], 1)
        #expect(first.state == "sold")
        #expect(try await world.redeem(" Spring-26", by: customers[0], 1).state == "sold")
        #expect(
            try await world.redeem("SPRING26", by: customers[0], 2).refusal?.code
                == "offerCodeInvalid")
        #expect(try await world.redeem("SPRING26", by: customers[1], 1).state == "sold")
        #expect(
            try await world.redeem("SPRING26", by: customers[2], 1).refusal?.code
                == "offerCodeInvalid")

        let listed = try await world.list()
        #expect(listed.map(\.redemptions) == [2] && listed.map(\.redemptionsMax) == [2])
        let sold = try world.world.verified(first.signedTransaction)
        #expect(sold.offerType == 3 && sold.offerIdentifier == "spring" && sold.price == 0)
    }

    /// So that the redemption sheet can say so before there is a payment.
    @Test func `the price of a code that its customer has used is not told`() async throws {
        let world = try await OfferWorld(buying: nil)
        _ = try await world.codes(code: "SPRING", limit: 9)
        let customers = try await world.others(2)
        func told(_ session: DeviceSession) async throws -> Int64? {
            try await world.world.realm.purchases.quote(
                OfferQuoteRequest(offer: OfferRequest(kind: "code", code: "SPRING")), session
            ).priceNow
        }

        #expect(try await told(customers[0]) == 0)
        #expect(try await world.redeem("SPRING", by: customers[0], 1).state == "sold")
        let refusal = try await #require(throws: Refusal.self) { try await told(customers[0]) }
        #expect(refusal.error.code == "offerCodeInvalid")
        // A payment that failed has used nothing.
        let failed = try await world.redeem("SPRING", by: customers[1], 1, price: 17)
        #expect(failed.state == "refused")
        #expect(try await told(customers[1]) == 0)
    }

    @Test func `codes of a batch are for one customer each`() async throws {
        let world = try await OfferWorld(buying: nil)
        let made = try await world.codes(count: 3)
        #expect(Set(made.map(\.code)).count == 3 && Set(made.map(\.batch)).count == 1)
        let customers = try await world.others(2)

        #expect(try await world.redeem(made[0].code, by: customers[0], 1).state == "sold")
        let second = try await world.redeem(made[0].code, by: customers[1], 1)
        #expect(second.refusal?.code == "offerCodeInvalid")
        // One offer, one code: another code of the same offer is none for the customer.
        let again = try await world.redeem(made[1].code, by: customers[0], 2)
        #expect(again.refusal?.code == "offerCodeInvalid")

        let off = try await world.deactivate(made[0].batch)
        #expect(off == 3)
        #expect(
            try await world.redeem(made[2].code, by: customers[1], 3).refusal?.code
                == "offerCodeInvalid")
        #expect(try await world.deactivate(made[0].batch) == 0)
    }

    /// Keys are drawn from the system's generator in between, and change nothing.
    @Test func `a seeded realm draws the same codes again`() async throws {
        func drawn(seed: Int64?, keys: Int) async throws -> [[OfferCodeRecord]] {
            let world = try await OfferWorld(buying: nil, seed: seed)
            for _ in 0..<keys {
                _ = try await world.world.realm.merchant.createServerKey(
                    bundleID: TestWorld.bundleID.value)
            }
            return [
                try await world.codes(count: 2), try await world.codes(code: "SPRING", limit: 1),
                try await world.codes(count: 2),
            ]
        }
        let once = try await drawn(seed: 5, keys: 0)
        #expect(try await drawn(seed: 5, keys: 1) == once)
        #expect(Set(once.joined().map(\.code)).count == 5)
        #expect(Set(once.map { $0[0].batch }).count == 3)
        let other = try await drawn(seed: 6, keys: 0)
        let unseeded = try await [drawn(seed: nil, keys: 0), drawn(seed: nil, keys: 1)]
        let all = [once, other] + unseeded
        #expect(Set(all.map { $0[0][0].code }).count == 4)
    }

    @Test func `sixteen customers at once redeem no more than there are`() async throws {
        let world = try await OfferWorld(buying: nil)
        _ = try await world.codes(code: "FIVE", limit: 5)
        let customers = try await world.others(16)

        let states = try await withThrowingTaskGroup(of: String.self) { group in
            for customer in customers {
                group.addTask { try await world.redeem("FIVE", by: customer, 1).state }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(states.count { $0 == "sold" } == 5)
        #expect(try await world.list().map(\.redemptions) == [5])
    }

    @Test func `a payment that fails gives its code back`() async throws {
        let world = try await OfferWorld(buying: nil)
        _ = try await world.codes(code: "ONE", limit: 1)
        let customers = try await world.others(2)
        let wrong = try await world.redeem("ONE", by: customers[0], 1, price: 1)
        #expect(wrong.refusal?.code == "priceChanged" && wrong.product?.priceNow == 0)
        // The same customer need not wait until it is released.
        #expect(try await world.redeem("ONE", by: customers[0], 2, price: 2).state == "refused")

        try await world.work()

        #expect(try await world.list().map(\.redemptions) == [0])
        #expect(try await world.redeem("ONE", by: customers[1], 1).state == "sold")
    }

    @Test func `a payment that waits for approval keeps its code`() async throws {
        let world = try await OfferWorld(buying: nil)
        _ = try await world.codes(code: "ONE", limit: 1)
        let customers = try await world.others(2)
        let waiting = try await world.redeem("ONE", by: customers[0], 1, asksToBuy: true)
        #expect(waiting.state == "waiting")
        #expect(try await world.redeem("ONE", by: customers[1], 2).state == "refused")
        _ = try await world.deactivate("ONE")

        let answered = try await world.world.realm.purchases.answerApproval(
            purchaseID(1),
            AnswerApprovalRequest(
                answer: "approved", customerId: customers[0].customer.description),
            TestWorld.context)

        #expect(answered.state == "sold")
        #expect(try await world.lastTransaction().offerIdentifier == "spring")
    }

    @Test func `a payment that nobody approves gives its code back`() async throws {
        let world = try await OfferWorld(buying: nil)
        _ = try await world.codes(code: "ONE", limit: 1)
        let customers = try await world.others(2)
        let waiting = try await world.redeem("ONE", by: customers[0], 1, asksToBuy: true)
        #expect(waiting.state == "waiting")

        try await world.world.jump(Period(2, .day))
        try await world.work()

        #expect(try await world.list().map(\.redemptions) == [0])
        #expect(try await world.redeem("ONE", by: customers[1], 1).state == "sold")
    }

    @Test func `a code expires by the realm's clock`() async throws {
        let world = try await OfferWorld(buying: nil)
        let now = world.world.wall.clock.now
        _ = try await world.codes(code: "SOON", expires: now.adding(seconds: 86_400))
        let customers = try await world.others(2)
        #expect(try await world.redeem("SOON", by: customers[0], 1).state == "sold")

        try await world.world.jump(Period(1, .day))

        #expect(
            try await world.redeem("SOON", by: customers[1], 1).refusal?.code
                == "offerCodeInvalid")
    }

    @Test func `a cleared history gives the codes back`() async throws {
        let world = try await OfferWorld(buying: nil)
        _ = try await world.codes(code: "ONE", limit: 1)
        let customer = try await world.others(1)[0]
        #expect(try await world.redeem("ONE", by: customer, 1).state == "sold")

        _ = try await world.world.realm.customers.clearHistory(
            ofCustomer: customer.customer.description, TestWorld.context)

        #expect(try await world.redeem("ONE", by: customer, 2).state == "sold")
    }

    @Test func `a payment that was lost on its way frees its code after an hour`() async throws {
        let world = try await OfferWorld(buying: nil)
        _ = try await world.codes(code: "ONE", limit: 1)
        let customer = try await world.others(1)[0]
        let question = OfferQuestion(
            offer: .code(text: "ONE"), product: "news", username: nil, appTransactionID: 1,
            claimant: OfferClaim.Claimant(
                customer: customer.customer, bundleID: TestWorld.bundleID,
                purchaseID: PurchaseID(purchaseID(9))))
        let evidence = try await world.world.realm.offers.evidence(
            for: question, isClaiming: true)
        #expect(evidence == .proven(.code, name: "spring"))
        #expect(try await world.redeem("ONE", by: customer, 1).state == "refused")

        world.world.wall.advance(seconds: 3601)

        #expect(try await world.redeem("ONE", by: customer, 2).state == "sold")
    }

    @Test func `what cannot be made is refused`() async throws {
        let world = try await OfferWorld(buying: nil)
        let app = TestWorld.bundleID.value
        func refusal(_ request: CreateOfferCodesRequest, _ app: String) async throws -> String {
            let refused = try await #require(throws: Refusal.self) {
                try await world.world.realm.offers.createCodes(
                    request, bundleID: app, TestWorld.context)
            }
            #expect(refused.error.field != nil && refused.error.remedy != nil)
            return refused.error.code
        }
        let good = CreateOfferCodesRequest(productId: "news", offer: "spring")
        func changed(_ change: (inout CreateOfferCodesRequest) -> Void) -> CreateOfferCodesRequest {
            var request = good
            change(&request)
            return request
        }
        #expect(try await refusal(good, "com.example.none") == "bundleIdUnknown")
        #expect(try await refusal(changed { $0.code = "ö" }, app) == "offerCodeInvalid")
        #expect(try await refusal(changed { $0.count = 0 }, app) == "countInvalid")
        #expect(try await refusal(changed { $0.count = 1001 }, app) == "countInvalid")
        #expect(
            try await refusal(
                changed {
                    $0.code = "A"
                    $0.count = 1
                }, app) == "countInvalid")
        #expect(try await refusal(changed { $0.redemptionsMax = 2 }, app) == "limitInvalid")
        #expect(
            try await refusal(
                changed {
                    $0.code = "A"
                    $0.redemptionsMax = 0
                }, app) == "limitInvalid")
        let now = world.world.wall.clock.now
        #expect(try await refusal(changed { $0.expiresDate = now }, app) == "dateInvalid")
        #expect(try await refusal(changed { $0.productId = "none" }, app) == "productIdUnknown")
        #expect(try await refusal(changed { $0.offer = "none" }, app) == "offerUnknown")
        #expect(try await refusal(changed { $0.productId = "credits.5" }, app) == "offerUnknown")
        _ = try await world.codes(code: "A")
        #expect(try await refusal(changed { $0.code = "a" }, app) == "codeExists")
        let unknown = try await #require(throws: Refusal.self) {
            try await world.deactivate("B")
        }
        #expect(unknown.error.code == "offerCodeUnknown")
    }
}

extension OfferWorld {
    func codes(
        code: String? = nil, count: Int? = nil, limit: Int64? = nil, expires: Timestamp? = nil
    ) async throws -> [OfferCodeRecord] {
        try await world.realm.offers.createCodes(
            CreateOfferCodesRequest(
                productId: "news", offer: "spring", code: code, count: count,
                redemptionsMax: limit, expiresDate: expires),
            bundleID: TestWorld.bundleID.value, TestWorld.context
        ).codes
    }

    func list() async throws -> [OfferCodeRecord] {
        try await world.realm.offers.codes(ofApp: TestWorld.bundleID.value).codes
    }

    @discardableResult
    func deactivate(_ code: String) async throws -> Int {
        try await world.realm.offers.deactivateCodes(
            code, bundleID: TestWorld.bundleID.value, TestWorld.context
        ).deactivated
    }

    /// Sessions of other customers.
    func others(_ count: Int) async throws -> [DeviceSession] {
        var sessions: [DeviceSession] = []
        for number in 0..<count {
            let name = "other\(number)"
            _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: name))
            sessions.append(try await world.session(customer: name))
        }
        return sessions
    }

    func redeem(
        _ code: String, by session: DeviceSession, _ id: Int, price: Int64 = 0,
        asksToBuy: Bool = false
    ) async throws -> PurchaseResponse {
        try await world.realm.purchases.purchase(
            purchaseID(id),
            PurchaseRequest(
                productId: "news", quantity: 1, unitPrice: price, currency: "USD",
                simulatesAskToBuyInSandbox: asksToBuy ? true : nil,
                offer: OfferRequest(kind: "code", code: code)),
            session, TestWorld.context)
    }

    /// Does all errands that are due.
    func work() async throws { _ = try await world.realm.keeping.workOnce() }
}
