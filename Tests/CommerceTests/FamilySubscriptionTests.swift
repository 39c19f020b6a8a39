// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Commerce

/// A purchaser's subscription, as a member of the family has it.
@Suite struct FamilySubscriptionTests {
    private static func at(_ n: Int64) -> Timestamp { Timestamp(milliseconds: n) }

    /// The purchaser's transaction 2 sold `gold` from 4 to 8.
    private static func gold(_ state: Subscription.State) throws -> Subscription {
        let price = Money(Amount(milliunits: 990), try #require(Currency(code: "USD")))
        return Subscription(
            originalID: TransactionID(1), groupID: "g",
            current: SubscribedPeriod(
                transaction: TransactionID(2), productID: "gold", start: at(4), end: at(8),
                length: Period(1, .month), anchorDay: 1, price: price),
            recentStart: at(0), renewal: Renewal(productID: "silver", price: price),
            state: state)
    }

    /// The member's transaction 11 is `lead` from 0 to 4.
    private static let lead = SharedPeriod(
        transaction: TransactionID(11), productID: "lead", start: at(0), end: at(4))

    private static func share(_ sale: Int64, _ ending: FamilyShare.Ending?) -> FamilyShare {
        FamilyShare(
            saleID: TransactionID(sale), originalID: TransactionID(1), ending: ending)
    }

    /// The purchaser's transaction that was shared, how that ended, and what the member is
    /// shown before and at 4.
    private static let table = """
        sale  ending     product  renews  before  at 4
        2     -          gold     silver  active  active
        2     left       gold     silver  revoked revoked
        2     refunded   gold     silver  revoked revoked
        2     expired    gold     silver  expired expired
        1     -          lead     off     active  expired
        1     expired    lead     off     expired expired
        1     upgraded   lead     off     expired expired
        1     refunded   lead     off     revoked revoked
        """

    @Test(arguments: table.split(separator: "\n").dropFirst().map(String.init))
    func `a member has the last period that was shared`(line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let share = Self.share(
            try #require(Int64(words[0])), FamilyShare.Ending(rawValue: words[1]))
        let whole = try Self.gold(.active(hasFailedAhead: false))

        let shared = whole.shared(
            as: TransactionID(10), Self.lead, of: share,
            endedAt: share.ending == nil ? nil : Self.at(4))

        #expect(shared.originalID == TransactionID(10))
        #expect(shared.current.transaction == TransactionID(11))
        #expect(shared.current.productID.value == words[2])
        #expect(shared.renewal.isOn == (words[3] != "off"))
        #expect(shared.renewal.productID.value == (words[3] == "off" ? "lead" : words[3]))
        #expect("\(shared.status(at: Self.at(3)))" == words[4])
        #expect("\(shared.status(at: Self.at(4)))" == words[5])
    }

    @Test func `a member's subscription ends as the purchaser's did`() throws {
        let state = Subscription.State.expired(reason: .billing, at: Self.at(9))
        let whole = try Self.gold(state)
        let shared = whole.shared(
            as: TransactionID(10), Self.lead, of: Self.share(2, .expired), endedAt: Self.at(9))
        #expect(shared.state == state)
        // The refund of the last period, which is over, leaves that as it is.
        let refunded = whole.shared(
            as: TransactionID(10), Self.lead, of: Self.share(2, .refunded), endedAt: Self.at(9))
        #expect(refunded.state == state)
        let earlier = whole.shared(
            as: TransactionID(10), Self.lead, of: Self.share(1, .expired), endedAt: Self.at(4))
        #expect(earlier.state == .expired(reason: .other, at: Self.at(4)))
    }
}
