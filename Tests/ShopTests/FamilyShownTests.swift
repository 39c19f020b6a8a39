// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// Which period of a subscription merchants are shown, where the one that begins last is not
/// the present one. Ann organises the family, and Ben is its member.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct FamilyShownTests {
    private struct Shown: Hashable {
        var status: Int
        var product: String?
        var isRevoked: Bool
        var isUpgraded: Bool
        var renewalProduct: String?
        var nextProduct: String?
    }

    private func run(_ commands: String, _ family: FamilyWorld) async throws {
        for command in commands.split(separator: " ") { try await family.run(String(command)) }
    }

    private func shown(_ name: String, _ family: FamilyWorld) async throws -> Shown {
        let id = try #require(try await family.payloads(name).first?.transactionId)
        let answer = try await family.world.merchant().statuses(of: id, only: [])
        let item = try #require(answer.data.first?.lastTransactions.first)
        let sold = try family.world.verified(item.signedTransactionInfo)
        let renewal = try family.world.renewal(item.signedRenewalInfo)
        return Shown(
            status: item.status, product: sold.productId,
            isRevoked: sold.revocationDate != nil, isUpgraded: sold.isUpgraded == true,
            renewalProduct: renewal.productId, nextProduct: renewal.autoRenewProductId)
    }

    @Test func `an upgrade is shown, also where the next period was charged ahead`()
        async throws
    {
        let family = try await FamilyWorld()
        try await run("join buy:news renew buy:premium", family)

        for _ in 1...4 {
            for name in ["ann", "ben"] {
                let shown = try await shown(name, family)
                #expect(shown.status == 1 && shown.product == "premium", "\(name): \(shown)")
                #expect(!shown.isUpgraded && shown.renewalProduct == "premium")
            }
            try await run("month", family)
        }
        let heard = try await family.told("ben")
        #expect(!heard.contains("EXPIRED") && !heard.contains("REVOKE"), "\(heard)")
    }

    @Test func `a refund that was taken back ends no later period`() async throws {
        let family = try await FamilyWorld()
        try await run("buy:news refund buy:news join month", family)
        let before = try await shown("ben", family)
        #expect(before.status == 1)
        let told = try await family.told("ben")

        try await run("reverseFirst", family)

        #expect(try await shown("ben", family) == before)
        #expect(try await family.told("ben") == told)
        try await run("month", family)
        #expect(try await shown("ben", family).status == 1)
    }

    @Test func `a running period comes back beside the one that was charged ahead`()
        async throws
    {
        let family = try await FamilyWorld()
        try await run("join buy:news renew refundFirst", family)
        for name in ["ann", "ben"] {
            let shown = try await shown(name, family)
            #expect(shown.status == 5 && shown.isRevoked, "\(name): \(shown)")
        }

        try await run("reverseFirst", family)

        for name in ["ann", "ben"] {
            let shown = try await shown(name, family)
            #expect(shown.status == 1 && !shown.isRevoked, "\(name): \(shown)")
        }
        #expect(
            try await family.told("ben")
                == "SUBSCRIBED/INITIAL_BUY,DID_RENEW,REVOKE,REFUND_REVERSED")
        try await run("month month", family)
        #expect(try await shown("ben", family).status == 1)
        #expect(try await family.told("ben").contains("EXPIRED") == false)
    }

    @Test func `the renewal beside a revoked period names its product`() async throws {
        let family = try await FamilyWorld()
        try await run("join buy:premium buy:news renew refundFirst", family)

        for name in ["ann", "ben"] {
            let shown = try await shown(name, family)
            #expect(shown.status == 5 && shown.product == "premium", "\(name): \(shown)")
            #expect(shown.renewalProduct == "premium" && shown.nextProduct == "news")
        }
    }

    @Test func `the refund of what was charged ahead leaves the running period`() async throws {
        let family = try await FamilyWorld()
        try await run("join buy:news renew refund", family)

        for name in ["ann", "ben"] {
            let shown = try await shown(name, family)
            #expect(shown.status == 1 && !shown.isRevoked, "\(name): \(shown)")
        }
        #expect(try await family.told("ben") == "SUBSCRIBED/INITIAL_BUY,DID_RENEW,REVOKE")

        try await run("month", family)

        for name in ["ann", "ben"] { #expect(try await shown(name, family).status == 2) }
        #expect(try await family.told("ben").contains("REVOKE,EXPIRED"))
    }

    @Test func `the refund of a period that is over leaves a member in grace, and in retry`()
        async throws
    {
        let family = try await FamilyWorld()
        try await run("grace join buy:news fail month refund", family)
        for name in ["ann", "ben"] { #expect(try await shown(name, family).status == 4) }

        for _ in 1...3 { try await family.advance("P1W") }
        try await family.work()

        for name in ["ann", "ben"] { #expect(try await shown(name, family).status == 3) }
        try await run("fix", family)
        for name in ["ann", "ben"] { #expect(try await shown(name, family).status == 1) }
        #expect(
            try await family.told("ben")
                == "SUBSCRIBED/INITIAL_BUY,DID_FAIL_TO_RENEW/GRACE_PERIOD,REVOKE,"
                + "GRACE_PERIOD_EXPIRED,DID_RENEW/BILLING_RECOVERY")
    }

    @Test func `a member who lost an upgrade is shown that, not what was charged ahead`()
        async throws
    {
        let family = try await FamilyWorld()
        try await run("offer:small join buy:small renew buy:news buy:trial", family)

        let shown = try await shown("ben", family)

        #expect(shown.status == 5 && shown.product == "news" && shown.isRevoked, "\(shown)")
    }

    /// What was given back before the end may be earlier again after the clock is set back.
    @Test func `a refund that is taken back after the end leaves the subscription expired`()
        async throws
    {
        let family = try await FamilyWorld()
        try await run("buy:yearly", family)
        let start = try await family.world.realm.clock().now
        try await run("renew refundFirst month month expire reverseFirst", family)

        _ = try await family.world.realm.moveClock(
            MoveClockRequest(standAt: start.adding(Period(1, .month))), TestWorld.context)

        let shown = try await shown("ann", family)
        #expect(shown.status == 2 && !shown.isRevoked, "\(shown)")
    }

    /// Everything is shared, so the member has what the purchaser has. Some commands are
    /// refused.
    @Test(arguments: 1...8)
    func `whatever happens, a member is shown what the purchaser is shown`(
        seed: UInt64
    ) async throws {
        let commands = [
            "buy:news", "buy:news", "buy:premium", "renew", "refund", "reverse", "refundFirst",
            "reverseFirst", "revoke", "off", "extend", "fail", "fix", "month", "month",
        ]
        var random = SeededGenerator(seed)
        let family = try await FamilyWorld()
        try await run("grace join buy:news", family)
        var story: [String] = []
        for _ in 1...20 {
            let command = random.one(of: commands)
            story.append(command)
            try? await family.run(command)
            try await family.work()
            let (own, shared) = (
                try await shown("ann", family), try await shown("ben", family)
            )
            #expect(own == shared, "\(story)")
            guard own == shared else { return }
        }
    }

    // MARK: Clocks

    @Test func `a sale is given once, also after the clock was set back`() async throws {
        let family = try await FamilyWorld()
        let realm = family.world.realm
        try await run("buy:pro buy:news", family)
        try await family.advance("P1D")
        try await run("join stop", family)
        let before = try await realm.clock().now
        _ = try await realm.moveClock(
            MoveClockRequest(standAt: before.adding(milliseconds: -43_200_000)),
            TestWorld.context)
        try await run("resume", family)
        let given = try await family.payloads("ben").count
        #expect(given == 4)

        for command in ["off", "fail"] {
            try await run(command, family)
            try await family.carry("ann")
        }

        #expect(try await family.payloads("ben").count == given)
    }

    @Test func `what is bought before the date of joining is shared`() async throws {
        let family = try await FamilyWorld()
        let realm = family.world.realm
        try await run("join", family)
        let joined = try await realm.clock().now
        _ = try await realm.moveClock(
            MoveClockRequest(standAt: joined.adding(milliseconds: -5_184_000_000)),
            TestWorld.context)

        try await run("buy:news fail buy:pro month", family)

        #expect(try await family.shown("ben") == "newsx,pro")
        #expect(
            try await family.told("ben")
                == "SUBSCRIBED/INITIAL_BUY,ONE_TIME_CHARGE,DID_FAIL_TO_RENEW")
    }

    @Test func `a member who leaves keeps nothing, also after the clock was set back`()
        async throws
    {
        let family = try await FamilyWorld()
        let realm = family.world.realm
        try await run("buy:news", family)
        let bought = try await realm.clock().now
        try await family.advance("P10D")
        try await run("join", family)
        _ = try await realm.moveClock(
            MoveClockRequest(standAt: bought.adding(milliseconds: 86_400_000)),
            TestWorld.context)

        try await run("renew refundFirst reverseFirst leave", family)

        #expect(try await family.shown("ben") == "news-,news-")
    }

    @Test func `a family with a clock of its own is dated by it`() async throws {
        let family = try await FamilyWorld()
        let realm = family.world.realm
        try await run("clock", family)
        _ = try await realm.moveClock(
            MoveClockRequest(advancePeriod: "P1Y"), TestWorld.context)

        try await run("join buy:news", family)

        #expect(try await family.shown("ben") == "news")
        let ann = try await realm.customers.clock(of: try await family.id("ann"))
        let record = try await family.room.show(try await family.id("ann"))
        #expect(record.people.allSatisfy { $0.joinedDate <= ann.now })
    }

    @Test func `a member gets the organiser's clock, also if it is the realm's`() async throws {
        let family = try await FamilyWorld()
        let (realm, ben) = (family.world.realm, try await family.id("ben"))
        _ = try await realm.customers.attachClock(
            AttachClockRequest(customers: [ben]), TestWorld.context)

        try await run("join", family)

        #expect(try await realm.customers.clock(of: ben).clockId == nil)
    }
}
