// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

/// What a merchant's server learns of a subscription by one of its transactions.
@Suite(.timeLimit(.minutes(5))) struct SubscriptionStatusTests {
    private func statuses(
        _ world: TestWorld, _ id: String, only statuses: [String] = []
    ) async throws -> [LastTransactionsItem] {
        try await world.merchant().statuses(of: id, only: statuses).data.flatMap(\.lastTransactions)
    }

    @Test func `one that is switched off is over at its end, while its event is due`()
        async throws
    {
        let world = try await TestWorld.openWithSubscriptions()
        let id = try await world.sell("news", 1, try await world.session())
        try await world.realm.subscriptions.switchRenewal(of: id, on: false, TestWorld.context)
        let running = try await statuses(world, id)
        world.wall.advance(seconds: 40 * 86_400)

        let over = try await statuses(world, id)

        #expect(running.map(\.status) == [1] && over.map(\.status) == [2])
        let renewal = try world.renewal(over.first?.signedRenewalInfo)
        #expect(renewal.expirationIntent == 1 && renewal.isInBillingRetryPeriod == false)
        #expect(renewal.eligibleWinBackOfferIds?.first == "back")
        #expect(try await statuses(world, id, only: ["1"]).isEmpty)
        let stored = try await world.realm.subscriptions.list().subscriptions.first
        #expect(stored?.status == "active", "the event is still due")
    }

    @Test func `the number of a renewal finds its subscription where the first one is named`()
        async throws
    {
        let world = try await TestWorld.openWithSubscriptions()
        let id = try await world.sell("news", 1, try await world.session())
        try await world.jump(Period(1, .month))
        let sold = try await world.realm.purchases.listTransactions().transactions
        let renewal = try #require(sold.compactMap(\.payload.transactionId).first { $0 != id })
        let body = #"{"extendByDays":3,"extendReasonCode":1,"requestIdentifier":"once"}"#

        let extended = try await world.merchant().extend(
            renewal, Array(body.utf8), TestWorld.context)
        let refunds = try await world.merchant().refundHistoryV1(of: renewal)

        #expect(extended.originalTransactionId == id && extended.success)
        #expect(refunds.signedTransactions.isEmpty)
    }
}
