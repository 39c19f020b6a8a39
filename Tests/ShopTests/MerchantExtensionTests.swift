// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

/// A merchant's server extends one subscription, once under an identifier.
@Suite(.timeLimit(.minutes(5))) struct MerchantExtensionTests {
    private let world: TestWorld
    private let merchant: Merchant
    private let id: String

    init() async throws {
        world = try await TestWorld.openWithSubscriptions()
        merchant = try await world.merchant()
        id = try await world.sell("news", 1, try await world.session())
    }

    private func extend(
        _ identifier: String, days: Int = 10, reason: Int = 1
    ) async throws -> ExtendRenewalDateResponse {
        let body = """
            {"extendByDays":\(days),"extendReasonCode":\(reason),
            "requestIdentifier":"\(identifier)"}
            """
        return try await merchant.extend(id, Array(body.utf8), TestWorld.context)
    }

    private func end() async throws -> Timestamp? {
        try await world.realm.purchases.transaction(id).payload.expiresDate
    }

    private func events() async throws -> [String] {
        let customer = try await world.session().customer.description
        return try await world.realm.subscriptions.history(of: customer).events.map(\.kind)
    }

    @Test func `a request again has the answer of the first one, whatever happened since`()
        async throws
    {
        let sold = try #require(try await end())
        let first = try await extend("A")
        let second = try await extend("B", days: 5, reason: 0)
        func both() async throws -> [ExtendRenewalDateResponse] {
            [try await extend("A"), try await extend("B", days: 5, reason: 0)]
        }

        #expect(first.effectiveDate == sold.adding(seconds: 10 * 86_400))
        #expect(second.effectiveDate == sold.adding(seconds: 15 * 86_400))
        #expect(try await both() == [first, second])
        try await world.jump(Period(2, .month))
        #expect(try await both() == [first, second])
        _ = try await world.realm.subscriptions.expire(id, TestWorld.context)
        let before = try await events()
        #expect(try await both() == [first, second])
        #expect(before.filter { $0 == "extended" }.count == 2)
        #expect(try await events() == before)
        #expect(try await end() == second.effectiveDate)
    }

    @Test func `an identifier has one length and one reason`() async throws {
        let first = try await extend("A")

        for (days, reason) in [(11, 1), (10, 2), (90, 3)] {
            let code = try await appleError { try await extend("A", days: days, reason: reason) }
            #expect(code == 4_000_011, "\(days) days, reason \(reason)")
        }

        #expect(try await end() == first.effectiveDate)
        #expect(try await extend("A") == first)
    }
}
