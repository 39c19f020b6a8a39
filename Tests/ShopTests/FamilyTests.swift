// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// What families share, from the rule to what members and merchants hear. Ann organises
/// the family, and Ben is its member.
@Suite(.timeLimit(.minutes(5))) struct FamilyTests {
    /// Commands, and then what Ann and Ben have, each transaction by its product: `-`
    /// revoked, `^` upgraded, `x` whose period is over; and what Ben's merchant is told.
    private static let table = """
        commands                          ann                  ben            told of ben
        join buy:pro                      pro                  pro            ONE_TIME_CHARGE
        buy:pro join                      pro                  pro            ONE_TIME_CHARGE
        buy:credits.5 join buy:credits.5  credits.5,credits.5  none           none
        buy:small join                    small                none           none
        buy:small join offer:small        small                small          SUBSCRIBED/INITIAL_BUY
        join buy:pro leave                pro                  pro-           ONE_TIME_CHARGE,REVOKE
        join buy:pro dissolve             pro                  pro-           ONE_TIME_CHARGE,REVOKE
        join buy:pro stop                 pro                  pro-           ONE_TIME_CHARGE,REVOKE
        join stop buy:pro                 pro                  none           none
        join stop buy:pro resume          pro                  pro            ONE_TIME_CHARGE
        join buy:pro stop resume          pro                  pro-,pro       ONE_TIME_CHARGE,REVOKE,ONE_TIME_CHARGE
        join buy:pro leave join           pro                  pro-,pro       ONE_TIME_CHARGE,REVOKE,ONE_TIME_CHARGE
        join buy:pro refund               pro-                 pro-           ONE_TIME_CHARGE,REVOKE
        join buy:pro revoke               pro-                 pro-           ONE_TIME_CHARGE,REVOKE
        join buy:pro refund reverse       pro                  pro-,pro       ONE_TIME_CHARGE,REVOKE,ONE_TIME_CHARGE
        join own:pro buy:pro              pro,pro              pro            ONE_TIME_CHARGE
        join buy:pro own:pro              pro                  pro,pro        ONE_TIME_CHARGE,ONE_TIME_CHARGE
        join buy:pro own:pro leave        pro                  pro-,pro       ONE_TIME_CHARGE,ONE_TIME_CHARGE,REVOKE
        join buy:pro clear                none                 pro-           ONE_TIME_CHARGE,REVOKE
        join buy:news                     news                 news           SUBSCRIBED/INITIAL_BUY
        buy:news join                     news                 news           SUBSCRIBED/INITIAL_BUY
        join buy:news renew               news,news            news,news      SUBSCRIBED/INITIAL_BUY,DID_RENEW
        buy:news renew expire join        newsx,newsx          none           none
        join buy:news renew buy:premium   news^,premium,news^  news^,premium,news^  SUBSCRIBED/INITIAL_BUY,DID_RENEW,SUBSCRIBED/RESUBSCRIBE
        join buy:news month               newsx,news           newsx,news     SUBSCRIBED/INITIAL_BUY,DID_RENEW
        buy:news month join month         newsx,newsx,news     newsx,news     SUBSCRIBED/INITIAL_BUY,DID_RENEW
        join buy:news off month           newsx                newsx          SUBSCRIBED/INITIAL_BUY,DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED,EXPIRED/VOLUNTARY
        join buy:news off month buy:news  newsx,news           newsx,news     SUBSCRIBED/INITIAL_BUY,DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED,EXPIRED/VOLUNTARY,SUBSCRIBED/RESUBSCRIBE
        join buy:news leave               news                 news-          SUBSCRIBED/INITIAL_BUY,REVOKE
        join buy:news leave month         newsx,news           news-x         SUBSCRIBED/INITIAL_BUY,REVOKE
        join buy:news refund              news-                news-          SUBSCRIBED/INITIAL_BUY,REVOKE
        join buy:news extend              news                 news           SUBSCRIBED/INITIAL_BUY,RENEWAL_EXTENDED
        join buy:news buy:premium         news^,premium        news^,premium  SUBSCRIBED/INITIAL_BUY,SUBSCRIBED/RESUBSCRIBE
        join buy:small buy:news           small^,news          news           SUBSCRIBED/INITIAL_BUY
        join buy:news buy:yearly month    newsx,yearly         newsx          SUBSCRIBED/INITIAL_BUY,DID_CHANGE_RENEWAL_PREF/DOWNGRADE,EXPIRED
        clock join buy:news buy:yearly month  newsx,yearly     newsx          SUBSCRIBED/INITIAL_BUY,DID_CHANGE_RENEWAL_PREF/DOWNGRADE,EXPIRED
        join clock buy:news month         newsx,news           newsx,news     SUBSCRIBED/INITIAL_BUY,DID_RENEW
        join buy:news month refundFirst   news-x,news          news-x,news    SUBSCRIBED/INITIAL_BUY,DID_RENEW,REVOKE
        join buy:news month refundFirst reverseFirst  newsx,news  newsx,news  SUBSCRIBED/INITIAL_BUY,DID_RENEW,REVOKE,REFUND_REVERSED
        join buy:news fail month          newsx                newsx          SUBSCRIBED/INITIAL_BUY,DID_FAIL_TO_RENEW
        join buy:news fail month fix      newsx,news           newsx,news     SUBSCRIBED/INITIAL_BUY,DID_FAIL_TO_RENEW,DID_RENEW/BILLING_RECOVERY
        join grace buy:news fail month    newsx                newsx          SUBSCRIBED/INITIAL_BUY,DID_FAIL_TO_RENEW/GRACE_PERIOD
        clock join grace buy:news fail month fix  newsx,news   newsx,news     SUBSCRIBED/INITIAL_BUY,DID_FAIL_TO_RENEW/GRACE_PERIOD,DID_RENEW/BILLING_RECOVERY
        join buy:news fail stop month     newsx                news-x         SUBSCRIBED/INITIAL_BUY,REVOKE
        join buy:news own:news            news,news            news,news      SUBSCRIBED/INITIAL_BUY,SUBSCRIBED/INITIAL_BUY
        """

    /// The rules are the same on both engines: on PostgreSQL a third, drawn by the seed.
    private static let played = SeededShare.of(
        table.split(separator: "\n").dropFirst().map(String.init),
        oneIn: TestPlaces.isOnPostgres ? 3 : 1)

    @Test(arguments: played)
    func `a member has what the purchaser shares`(line: String) async throws {
        let columns = line.columns
        let family = try await FamilyWorld()
        for command in columns[0].split(separator: " ").map(String.init) {
            try await family.run(command)
        }

        #expect(try await family.shown("ann") == columns[1])
        #expect(try await family.shown("ben") == columns[2])
        #expect(try await family.told("ben") == columns[3])
        try await family.checkMembers()
        // Everything once more changes nothing.
        let before = try await family.everything()
        for name in ["ann", "ben"] { try await family.carry(name) }
        #expect(try await family.everything() == before)
    }

    @Test func `a member's transaction is the member's own and costs nothing`() async throws {
        let family = try await FamilyWorld()
        try await family.run("join")
        try await family.run("buy:news")
        try await family.run("month")

        let (sold, given) = (try await family.payloads("ann"), try await family.payloads("ben"))

        #expect(given.map(\.inAppOwnershipType) == ["FAMILY_SHARED", "FAMILY_SHARED"])
        #expect(given.map(\.price) == [0, 0] && given.map(\.currency) == ["USD", "USD"])
        #expect(given.map(\.expiresDate) == sold.map(\.expiresDate))
        #expect(given.map(\.purchaseDate) == sold.map(\.purchaseDate))
        #expect(given.map(\.transactionReason) == ["PURCHASE", "RENEWAL"])
        #expect(Set((sold + given).map(\.transactionId)).count == 4)
        #expect(
            given.map(\.originalTransactionId) == [given[0].transactionId, given[0].transactionId])
        #expect(given[0].originalTransactionId != sold[0].originalTransactionId)
        let receipt = try await family.world.receipt(try await family.session("ben"))
        #expect(receipt.purchases.count == 2)
        try await family.run("stop")
        let left = try await family.world.receipt(try await family.session("ben"))
        #expect(left.purchases.count == 2, "what is withdrawn stays")
        let cancelled = left.purchases.filter { $0.cancellationDate != nil }
        #expect(cancelled.map(\.transactionID) == [given[1].transactionId])
        let revoked = try await family.payloads("ben")[1]
        #expect(revoked.revocationType == "FAMILY_REVOKE" && revoked.revocationReason == 0)
        #expect(revoked.revocationDate != nil)
        #expect(try await family.payloads("ann").allSatisfy { $0.revocationDate == nil })
    }

    @Test func `a merchant hears of a member's subscription without a price`() async throws {
        let family = try await FamilyWorld()
        try await family.run("join")
        try await family.run("buy:news")
        try await family.run("stop")

        let heard = try await family.notifications("ben")

        #expect(heard.map(\.notificationType) == ["SUBSCRIBED", "REVOKE"])
        #expect(heard.map { $0.data?.status } == [5, 5], "what is true when it is sent")
        let renewal = try family.world.renewal(heard[1].data?.signedRenewalInfo)
        let given = try await family.payloads("ben")
        #expect(renewal.originalTransactionId == given[0].transactionId)
        #expect(renewal.renewalPrice == nil && renewal.currency == nil)
        #expect(renewal.autoRenewProductId == "news")
    }

    @Test func `a member keeps the introductory offer`() async throws {
        let family = try await FamilyWorld()
        try await family.share("trial")
        try await family.run("join")
        try await family.run("buy:trial")
        #expect(try await family.shown("ben") == "trial")
        #expect(try await family.payloads("ben")[0].offerType == nil)
        try await family.run("own:trial")
        #expect(try await family.payloads("ben").map(\.offerType) == [nil, 1])
    }

    @Test func `a member cannot ask for the money, cancel or extend`() async throws {
        let family = try await FamilyWorld()
        try await family.run("join")
        try await family.run("buy:news")
        let id = try #require(try await family.payloads("ben").first?.transactionId)
        let realm = family.world.realm
        let money = try await refusal {
            try await realm.refunds.request(id, RefundRequest(), TestWorld.context)
        }
        #expect(money.error.code == "refundOfShared")
        let cancel = try await refusal {
            try await realm.subscriptions.switchRenewal(of: id, on: false, TestWorld.context)
        }
        #expect(cancel.error.code == "subscriptionNotFound")
    }

    @Test func `a merchant asks for the status of what a family shares`() async throws {
        let family = try await FamilyWorld()
        for command in ["join", "buy:news"] { try await family.run(command) }
        let id = try #require(try await family.payloads("ben").last?.transactionId)
        let realm = family.world.realm
        let merchant = Merchant(
            realm: realm, bundleID: TestWorld.bundleID, keyID: "KEY",
            now: try await realm.clock().now)

        let status = try await merchant.statuses(of: id, only: [])

        let item = try #require(status.data.first?.lastTransactions.first)
        #expect(status.data.count == 1 && item.status == 1)
        #expect(item.originalTransactionId == id)
        let info = try family.world.verified(item.signedTransactionInfo)
        #expect(info.inAppOwnershipType == "FAMILY_SHARED")
    }

    @Test func `six people are a family, and a person is in one`() async throws {
        let family = try await FamilyWorld()
        for name in ["ben", "cat", "dan", "eve", "fay"] { try await family.add(name) }
        #expect(try await refusal { try await family.add("gus") }.error.code == "familyFull")
        #expect(
            try await refusal { try await family.add("ben", to: "gus") }.error.code
                == "inAnotherFamily")
        #expect(
            try await refusal { try await family.add("gus", to: "ben") }.error.code
                == "notOrganiser")
        #expect(
            try await refusal { try await family.add("ann", to: "ann") }.error.code
                == "sameCustomer")
        #expect(try await family.add("ben").people.count == 6)
        try await family.run("buy:pro")
        #expect(try await family.shown("cat") == "none", "the app is not used yet")
        for name in ["ben", "cat", "dan", "eve", "fay"] {
            _ = try await family.session(name)
            try await family.work()
            #expect(try await family.shown(name) == "pro")
        }
        try await family.run("refund")
        for name in ["ben", "cat", "dan", "eve", "fay"] {
            #expect(try await family.shown(name) == "pro-")
            #expect(try await family.told(name) == "ONE_TIME_CHARGE,REVOKE")
        }
        #expect(try await family.told("ann") == "ONE_TIME_CHARGE,REFUND")
        try await family.run("dissolve")
        #expect(
            try await refusal { try await family.room.show(family.id("ben")) }.error.code
                == "notInFamily")
    }

    @Test func `a year of renewals reaches the member in order, before the jump returns`()
        async throws
    {
        let family = try await FamilyWorld()
        try await family.run("join")
        try await family.run("buy:news")
        try await family.world.jump(Period(1, .year))
        let (sold, given) = (try await family.payloads("ann"), try await family.payloads("ben"))
        #expect(sold.count == 13 && given.map(\.purchaseDate) == sold.map(\.purchaseDate))
        #expect(try await family.world.realm.clock().jump == nil)
        let owed = try await family.owed("ben")
        #expect(owed.map(\.type) == ["SUBSCRIBED"] + Array(repeating: "DID_RENEW", count: 12))
        #expect(owed.map(\.at) == owed.map(\.at).sorted())
    }

    @Test func `a jump of a family's own clock can drop what members' merchants are told`()
        async throws
    {
        let family = try await FamilyWorld()
        for command in ["clock", "join", "buy:news"] { try await family.run(command) }
        let unsent = try await family.unsent("ben")
        // To the very instant of the renewal.
        try await family.advance("P1M", .dropped)
        #expect(try await family.shown("ben") == "newsx,news")
        #expect(try await family.told("ben") == "SUBSCRIBED/INITIAL_BUY,DID_RENEW")
        #expect(try await family.unsent("ben") == unsent)
    }

    @Test func `history says in words what happened`() async throws {
        let family = try await FamilyWorld()
        for command in ["buy:pro", "join", "stop", "leave"] { try await family.run(command) }
        let realm = family.world.realm
        let ben = try await realm.subscriptions.history(of: try await family.id("ben")).events
        #expect(
            ben.map(\.kind) == ["familyJoined", "familyGranted", "familyRevoked", "familyLeft"])
        #expect(ben[2].message.contains("does not share purchases any more"))
        let ann = try await realm.subscriptions.history(of: try await family.id("ann")).events
        #expect(ann.map(\.kind) == ["familyJoined", "familySharingOff"])
    }

    @Test func `each command again changes nothing and audits nothing`() async throws {
        let family = try await FamilyWorld()
        try await family.run("buy:pro")
        for command in ["join", "stop", "resume"] {
            try await family.run(command)
            let before = try await family.everything()
            try await family.run(command)
            #expect(try await family.everything() == before, "\(command)")
        }
        let audit = try await family.world.realm.auditEntries().entries
        #expect(
            audit.map(\.deed).filter { $0.hasPrefix("family") } == [
                "family.join", "family.sharing", "family.sharing",
            ])
        let joined = try #require(audit.first { $0.deed == "family.join" })
        #expect(joined.changes.map(\.before) == ["in no family", "in no family"])
    }

    @Test func `two families invite one person at once`() async throws {
        let family = try await FamilyWorld()
        let codes = await withTaskGroup(of: String.self) { group in
            for organiser in ["ann", "cat", "dan", "eve"] {
                group.addTask {
                    do {
                        try await family.add("ben", to: organiser)
                        return "joined"
                    } catch { return (error as? Refusal)?.error.code ?? "\(error)" }
                }
            }
            return await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(
            codes.sorted() == ["inAnotherFamily", "inAnotherFamily", "inAnotherFamily", "joined"])
    }

    @Test func `renewals, stops and the same errands at once leave one of each`() async throws {
        let family = try await FamilyWorld()
        try await family.run("join")
        try await family.run("buy:news")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await family.world.jump(Period(3, .month)) }
            for name in ["ann", "ben", "ann", "ben"] {
                group.addTask { try await family.carry(name) }
            }
            group.addTask { try await family.run("stop") }
            try await group.waitForAll()
        }
        try await family.work()
        try await family.checkMembers()
        let given = try await family.payloads("ben")
        #expect(Set(given.map(\.purchaseDate)).count == given.count)
        #expect(given.last?.revocationDate != nil, "sharing was stopped")
    }

    @Test func `a snapshot brings the family back, and a reset ends it`() async throws {
        let family = try await FamilyWorld()
        guard family.world.realm.isOneCluster else { return }
        let realm = family.world.realm
        try await family.run("join")
        try await family.run("buy:pro")
        _ = try await realm.keeping.saveSnapshot(
            SaveSnapshotRequest(name: "one"), TestWorld.context)
        try await family.run("leave")
        #expect(try await family.shown("ben") == "pro-")
        _ = try await realm.keeping.loadSnapshot("one", TestWorld.context)
        try await family.work()
        #expect(try await family.shown("ben") == "pro")
        #expect(try await family.room.show(family.id("ben")).people.count == 2)
        _ = try await family.world.store.resetRealm(
            named: realm.description.name, TestWorld.context)
        #expect(
            try await refusal { try await family.room.show(family.id("ben")) }.error.code
                == "notInFamily")
        _ = try await family.session("ben")
        try await family.run("join")
        try await family.run("buy:pro")
        #expect(try await family.shown("ben") == "pro")
    }

    @Test func `one errand of a purchaser does for all commits so far`() async throws {
        let family = try await FamilyWorld()
        try await family.run("join")
        let (realm, id) = (family.world.realm, try await family.id("ann"))
        for product in ["pro", "news"] { try await family.buy(product, "ann") }
        let owed = Statement(
            "test.owed", "SELECT subject FROM errands WHERE kind = 'family' ORDER BY subject")
        let subjects = try await realm.rows(owed).map { try $0.text("subject") }
        #expect(subjects.count == 2)

        try await realm.settle(
            WorkKind.family, subjects[0], CustomerID(try #require(Int64(id))))

        #expect(try await realm.rows(owed).isEmpty)
        #expect(try await family.shown("ben") == "pro,news")
    }

    @Test func `a restore would take every state of a family`() async throws {
        let family = try await FamilyWorld()
        guard family.world.realm.isOneCluster else { return }
        for command in [
            "join", "buy:pro", "buy:news", "month", "buy:premium", "stop", "resume", "refund",
            "clear", "leave", "join", "dissolve",
        ] {
            try await family.run(command)
            try await ReferenceTests().expectWhole(family.world, command)
        }
        _ = try await family.world.realm.customers.clearHistory(
            ofCustomer: try await family.id("ben"), TestWorld.context)
        try await ReferenceTests().expectWhole(family.world, "cleared")
    }
}

extension String {
    fileprivate var columns: [String] { split(separator: /\s{2,}/).map(String.init) }
}
