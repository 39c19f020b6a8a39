// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// The periods of one subscription: to whom they belong, and who shares them.
@Suite(.timeLimit(.minutes(5))) struct PeriodTests {
    private static func day(_ number: Int64) -> Int64 { number * 86_400 }

    private func book(_ policy: RestorePolicy = .refuse) async throws -> Book {
        let book = try await Book.open(
            grants: try GrantRules([
                "gold": [
                    Grant(name: "gold", kind: .entitlement(.subscription(grace: false))),
                    Grant(name: "coins", kind: .credits(perUnit: 10)),
                ]
            ]))
        return try await book.reopened(
            policy,
            webhooks: [
                try WebhookEndpoint(url: "https://merchant.example", secret: WebhookTests.secret)
            ])
    }

    /// The period `id` of thirty days. That with the number 4 is the present one.
    private static func period(
        _ id: Int, of first: Int = 1
    ) -> (inout JWSTransactionDecodedPayload) -> Void {
        { payload in
            payload.productId = "gold"
            payload.type = "Auto-Renewable Subscription"
            payload.originalTransactionId = Book.id(first)
            payload.purchaseDate = Book.now.adding(seconds: day(30 * Int64(id - 4)))
            payload.expiresDate = Book.now.adding(seconds: day(30 * Int64(id - 3)))
        }
    }

    @discardableResult
    private func prove(
        _ book: Book, _ id: Int, of first: Int = 1, account: String? = nil
    ) async throws -> BookedPurchase {
        try await book.prove(
            id, product: "gold", account: account, Self.period(id, of: first))
    }

    /// The periods that grant an account its entitlement.
    private func periods(_ book: Book, _ account: String) async throws -> [String] {
        try await book.ledger.reason(account: account, entitlement: "gold").purchases
            .map { String($0.transactionId.suffix(1)) }
    }

    /// The store reports periods to the ledger alone, before the app names its account.
    @Test(arguments: [2, 3, 4])
    func `a claim of one period covers all that belong to nobody`(claimed: Int) async throws {
        let book = try await book()
        for id in 2...4 { try await prove(book, id, of: 2) }
        try await prove(book, 5, of: 5)
        // Its credits are granted and taken back in the commit that claims it.
        try await book.prove(
            2, product: "gold", account: nil, signed: 9, revoked: 8, Self.period(2, of: 2))

        try await prove(book, claimed, of: 2, account: "ann")

        #expect(try await periods(book, "ann") == ["2", "3", "4"])
        #expect(try await book.active("ann") == ["gold"])
        #expect(try await book.balance("ann") == 20)
        #expect(try await book.imbalances() == [])
        for id in 2...4 {
            #expect(
                try await refusal { try await prove(book, id, of: 2, account: "ben") }
                    == ["purchaseClaimed", "account"])
        }
        let messages = try await book.storage.read { reading in
            try reading.query(
                Statement(
                    "test.messages",
                    "SELECT event FROM webhooks_out WHERE account = 'ann' ORDER BY event"), []
            ).map { try $0.text("event") }
        }
        #expect(messages == Array(repeating: "purchase.updated", count: 3))
        // Another subscription is still nobody's.
        #expect(try await prove(book, 5, of: 5).account == nil)
    }

    @Test func `a restore of one period covers all that belong to nobody`() async throws {
        let book = try await book()
        for id in 1...3 { try await book.take(id, account: nil, Self.period(id)) }

        let outcome = try await book.ledger.restore(
            RestoreRequest(signedTransaction: try Book.signed(2, Self.period(2))), account: "ann")

        #expect(outcome.outcome == "claimed")
        #expect(try await periods(book, "ann") == ["1", "2", "3"])
    }

    @Test func `a claim after an erasure covers no period of the erased account`() async throws {
        let book = try await book()
        try await prove(book, 1, account: "ann")
        _ = try await book.ledger.erase(account: "ann")
        for id in 2...4 { try await prove(book, id) }

        try await prove(book, 3, account: "ben")

        #expect(try await periods(book, "ben") == ["2", "3", "4"])
        #expect(try await book.balance("ben") == 30)
        #expect(try await book.imbalances() == [])
    }

    /// Moves the periods of nobody to another subscription.
    private func move(_ book: Book, _ name: String) async throws {
        let statement = Statement(
            "test.move", [.text],
            "UPDATE purchases SET original_transaction_id = $1 WHERE account IS NULL")
        try await book.storage.write { try $0.execute(statement, [.text(name)]) }
    }

    @Test func `a repeated notification gives a period of nobody to the subscriber`() async throws {
        let book = try await book()
        let news = try Book.notification(try Book.signed(3, Self.period(3)), type: "DID_RENEW")
        _ = try await book.ledger.take(news)
        // As an earlier version booked it: the claim of the fourth did not cover it.
        try await move(book, "hidden")
        try await book.take(4, account: "ann", Self.period(4))
        try await move(book, Book.id(1))
        #expect(try await periods(book, "ann") == ["4"])

        #expect(try await book.ledger.take(news).purchase?.account == "ann")

        #expect(try await periods(book, "ann") == ["3", "4"])
    }

    @Test func `a claim of an older period is refused to others than the subscriber`() async throws
    {
        let book = try await book()
        // As an earlier version booked them: the claim of the fourth did not cover them.
        for id in 1...2 { try await prove(book, id) }
        try await move(book, "hidden")
        try await prove(book, 4, account: "ann")
        try await move(book, Book.id(1))

        #expect(
            try await refusal { try await prove(book, 1, account: "zoe") }
                == ["purchaseClaimed", "account"])
        #expect(try await periods(book, "zoe") == [])
        #expect(try await periods(book, "ann") == ["4"])
        try await prove(book, 1, account: "ann")
        #expect(try await periods(book, "ann") == ["1", "2", "4"])
    }

    /// It does not depend on whether another customer's app or the store is faster.
    @Test(arguments: [false, true])
    func `a renewal belongs to the account of its subscription`(
        isReported: Bool
    ) async throws {
        let book = try await book()
        try await prove(book, 1, account: "ann")
        if isReported { try await prove(book, 2) }

        #expect(
            try await refusal { try await prove(book, 2, account: "ben") }
                == ["purchaseClaimed", "account"])
        #expect(try await prove(book, 2).account == "ann")
        #expect(try await prove(book, 3, account: "ann").account == "ann")
        #expect(try await prove(book, 4).account == "ann")
        #expect(try await periods(book, "ann") == ["1", "2", "3", "4"])
        #expect(try await periods(book, "ben") == [])
        #expect(try await book.imbalances() == [])
    }

    @Test func `a renewal with an app account token belongs to that account`() async throws {
        let book = try await book(.transfer)
        try await book.take(1, account: "ann", Self.period(1))
        let token = { (payload: inout JWSTransactionDecodedPayload) in
            Self.period(2)(&payload)
            payload.appAccountToken = Book.blob
        }
        let outcome = try await book.ledger.restore(
            RestoreRequest(signedTransaction: try Book.signed(2, token)), account: Book.blob)

        #expect(outcome.outcome == "claimed")
        #expect(try await book.take(2, account: nil, token).account == Book.blob)
        #expect(try await periods(book, Book.blob) == ["2"])
    }

    @Test func `a renewal for an account that became part of another is the other's`()
        async throws
    {
        let book = try await book()
        try await prove(book, 1, account: "ann")
        _ = try await book.ledger.merge(MergeAccountRequest(into: "eve"), account: "ann")

        #expect(try await prove(book, 2, account: "ann").account == "eve")
        #expect(try await periods(book, "eve") == ["1", "2"])
    }

    @Test func `a period that is claimed twice at once has one account`() async throws {
        let book = try await book()
        for id in 1...4 { try await prove(book, id) }

        try await withThrowingTaskGroup(of: Void.self) { group in
            for racer in 0..<8 {
                group.addTask {
                    _ = try await refusal {
                        try await prove(book, racer % 4 + 1, account: "\(racer)")
                    }
                }
            }
            try await group.waitForAll()
        }

        var owned = 0
        for racer in 0..<8 { owned += try await periods(book, "\(racer)").count }
        #expect(owned == 4)
        #expect(try await book.imbalances() == [])
    }

    /// Who shares a subscription expects to share it as long as it is paid.
    @Test func `a shared subscription keeps being shared, earlier and later periods too`()
        async throws
    {
        let book = try await book(.share)
        for id in 1...2 { try await book.take(id, account: "ann", Self.period(id)) }
        func share(_ id: Int, _ account: String) async throws -> String {
            try await book.ledger.restore(
                RestoreRequest(signedTransaction: try Book.signed(id, Self.period(id))),
                account: account
            ).outcome
        }
        #expect(try await share(2, "ben") == "shared")
        #expect(try await book.active("ben") == [])
        for id in 3...4 { try await book.take(id, account: nil, Self.period(id)) }

        #expect(try await book.active("ben") == ["gold"])
        #expect(try await periods(book, "ben") == ["1", "2", "3", "4"])
        // Credits stay with the account that has paid.
        #expect(try await book.balance("ben") == nil)
        #expect(try await book.balance("ann") == 40)
        // Another period adds nothing, and no further account.
        #expect(try await share(4, "ben") == "shared")
        #expect(try await periods(book, "ben") == ["1", "2", "3", "4"])
        for number in 1...9 { _ = try await share(number % 4 + 1, "friend \(number)") }
        #expect(
            try await refusal { try await share(3, "stranger") }?.first == "sharesTooMany")
        // Other subscriptions of the same account are not shared.
        try await book.take(5, account: "ann", Self.period(4, of: 5))
        #expect(try await periods(book, "ben") == ["1", "2", "3", "4"])
        // What the store revokes ends for both.
        try await book.take(4, account: nil) {
            Self.period(4)(&$0)
            $0.signedDate = Book.now.adding(seconds: 5)
            $0.revocationDate = Book.now
        }
        #expect(try await !book.active("ben").contains("gold"))
    }

    /// An earlier version shared each period by itself.
    @Test func `a subscription that is shared by several periods counts once`() async throws {
        let book = try await book(.share)
        for id in 1...4 { try await prove(book, id, account: "ann") }
        try await book.storage.write { writing in
            _ = try writing.first(Statement.Accounts.takeLine, [.text("ben")])
            for id in 3...4 {
                let key = PurchaseKey(
                    root: Book.root, environment: .sandbox, bundleID: Book.bundleID.value,
                    transactionID: Book.id(id))
                _ = try writing.first(
                    Statement.Shares.insert,
                    LedgerSchema.shares.row(
                        key.columns, ["account": .text("ben"), "shared_at": .integer(1)]))
            }
        }

        #expect(try await periods(book, "ben") == ["1", "2", "3", "4"])
    }

    /// A customer of the store who has paid for two accounts of the app, one after the other.
    private struct Payer {
        let book: Book
        static let ann = Book.blob
        static let ben = "22222222-2222-4333-8444-555555555555"

        static func open(_ more: [ProductID: [Grant]] = [:]) async throws -> Payer {
            let grants: [ProductID: [Grant]] = ["gold": [gold], "silver": [silver]]
            return Payer(
                book: try await Book.open(
                    grants: try GrantRules(grants.merging(more) { $1 })))
        }

        static let gold = Grant(name: "gold", kind: .entitlement(.subscription(grace: true)))
        static let silver = Grant(name: "silver", kind: .entitlement(.subscription(grace: true)))

        /// Books a period of the subscription, which was signed with an account's token. The
        /// days count from now.
        func pay(
            _ id: Int, _ product: String, for account: String, from start: Int64,
            until end: Int64, isUpgraded: Bool? = nil, graceUntil: Int64? = nil
        ) async throws {
            try await pay(
                Book.id(id), product, for: account, from: start, until: end,
                isUpgraded: isUpgraded, graceUntil: graceUntil)
        }

        /// The same with a transaction's number of any length, and for an account or for none.
        func pay(
            _ number: String, _ product: String, for account: String?, from start: Int64,
            until end: Int64, isUpgraded: Bool? = nil, graceUntil: Int64? = nil
        ) async throws {
            let payload = Book.payload(1) {
                $0.transactionId = number
                $0.productId = product
                $0.type = "Auto-Renewable Subscription"
                $0.originalTransactionId = Book.id(1)
                $0.appAccountToken = account
                $0.purchaseDate = Book.now.adding(seconds: day(start))
                $0.expiresDate = Book.now.adding(seconds: day(end))
                $0.isUpgraded = isUpgraded
            }
            let renewal = graceUntil.map {
                ProvenRenewal(signedAt: Book.now, graceUntil: Book.now.adding(seconds: day($0)))
            }
            let proven = try ProvenPurchase(
                payload, root: Book.root, environment: .sandbox,
                bundleID: Book.bundleID.value)
            let booking = Booking(
                proven: proven, account: account, recordedAt: Book.now,
                rules: book.ledger.configuration.grants, renewal: renewal)
            _ = try await book.storage.write { try booking.write($0) }
        }

        /// Why the purchases of an account stop to grant an entitlement.
        func ends(_ account: String, _ entitlement: String) async throws -> [String] {
            try await book.ledger.reason(account: account, entitlement: entitlement)
                .purchases.map(\.end)
        }
    }

    /// No product of the ledger grants anything for `platinum`.
    @Test(arguments: ["gold", "silver", "platinum"])
    func `a grace period follows the newest period alone, whoever has it`(
        newest: String
    ) async throws {
        let payer = try await Payer.open()
        try await payer.pay(1, "gold", for: Payer.ann, from: -400, until: -370)

        try await payer.pay(
            2, newest, for: Payer.ben, from: -31, until: -1, graceUntil: 15)

        let granted = newest == "platinum" ? [] : [newest]
        #expect(try await payer.book.active(Payer.ann) == [])
        #expect(try await payer.ends(Payer.ann, "gold") == ["expired"])
        #expect(try await payer.book.active(Payer.ben) == granted)
        #expect(
            try await payer.ends(Payer.ben, newest) == granted.map { _ in "graceEnded" })
    }

    /// By its name the other entitlement comes before the subscribed one, or after it.
    @Test(arguments: ["badge", "zeal"])
    func `what a subscription grants beside itself hides none of its periods`(
        other: String
    ) async throws {
        let forever = Grant(name: other, kind: .entitlement(.forever))
        let payer = try await Payer.open(["trial": [forever], "both": [forever, Payer.gold]])
        try await payer.pay(1, "trial", for: Payer.ann, from: -38, until: -31)
        try await payer.pay(2, "gold", for: Payer.ann, from: -31, until: 19)
        try await payer.pay(3, "silver", for: Payer.ann, from: -1, until: 29)
        let upgraded = try await payer.ends(Payer.ann, "gold")
        let afterUpgrade = try await payer.book.active(Payer.ann)

        let graced = try await Payer.open(["both": [forever, Payer.gold]])
        try await graced.pay(1, "both", for: Payer.ann, from: -31, until: -1, graceUntil: 15)

        #expect(upgraded == ["upgraded"])
        #expect(afterUpgrade == [other, "silver"].sorted())
        #expect(try await graced.ends(Payer.ann, "gold") == ["graceEnded"])
        #expect(try await graced.book.active(Payer.ann) == [other, "gold"].sorted())
    }

    /// The customer upgrades in a sandbox whose clock stands. A store that counts from one
    /// gives the purchases numbers of several lengths.
    @Test(arguments: [("1", "2"), ("9", "10"), ("99", "100")], [true, nil])
    func `of two periods with one date the later transaction is the newest`(
        numbers: (lower: String, higher: String), isUpgraded: Bool?
    ) async throws {
        let payer = try await Payer.open()
        try await payer.pay(
            numbers.lower, "silver", for: Payer.ann, from: -31, until: -24,
            isUpgraded: isUpgraded)
        try await payer.pay(
            numbers.higher, "gold", for: Payer.ann, from: -31, until: -1, graceUntil: 15)

        #expect(try await payer.book.active(Payer.ann) == ["gold"])
        #expect(try await payer.ends(Payer.ann, "silver") == ["upgraded"])
        #expect(try await payer.ends(Payer.ann, "gold") == ["graceEnded"])
    }

    /// The tenth purchase is the newer one, though its text comes before that of the ninth.
    @Test func `a renewal belongs to the account of the greater number at one date`() async throws {
        let payer = try await Payer.open()
        try await payer.pay("9", "gold", for: Payer.ann, from: -5, until: -2)
        try await payer.pay("10", "gold", for: Payer.ben, from: -5, until: -2)

        try await payer.pay("11", "gold", for: nil, from: -2, until: 5)

        #expect(try await payer.book.active(Payer.ann) == [])
        #expect(try await payer.book.active(Payer.ben) == ["gold"])
    }

    /// The store sends the purchase, and need not send again what it replaced.
    @Test(arguments: ["gold", "platinum"], [true, nil])
    func `an upgraded period ends at the purchase that replaced it, whoever has that`(
        higher: String, isUpgraded: Bool?
    ) async throws {
        let payer = try await Payer.open()
        try await payer.pay(
            1, "silver", for: Payer.ann, from: -5, until: 25, isUpgraded: isUpgraded)
        // What replaced it is not in the books yet.
        #expect(try await payer.book.active(Payer.ann) == ["silver"])

        try await payer.pay(2, higher, for: Payer.ben, from: -1, until: 29)

        #expect(try await payer.book.active(Payer.ann) == [])
        #expect(try await payer.ends(Payer.ann, "silver") == ["upgraded"])
        #expect(try await payer.book.active(Payer.ben) == (higher == "gold" ? ["gold"] : []))
    }

    /// A renewal is charged up to a day ahead. `platinum` grants nothing.
    @Test(arguments: ["gold", "platinum"], [Payer.ann, Payer.ben])
    func `an upgrade replaces a period that was charged ahead, too`(
        higher: String, account: String
    ) async throws {
        let payer = try await Payer.open()
        try await payer.pay(1, "silver", for: Payer.ann, from: -30, until: -1)
        try await payer.pay(2, "silver", for: Payer.ann, from: -1, until: 29)
        #expect(try await payer.book.active(Payer.ann) == ["silver"])

        try await payer.pay(3, higher, for: account, from: -2, until: 28)

        #expect(
            try await payer.ends(Payer.ann, "silver") == ["upgraded", "upgraded"])
        let granted = higher == "gold" ? ["gold"] : []
        #expect(try await payer.book.active(account) == granted)
        if account == Payer.ben { #expect(try await payer.book.active(Payer.ann) == []) }
    }

    @Test(
        arguments: [
            Statement.Booked.ownerOfSubscription, Statement.Booked.unclaimedPeriods,
            Statement.Booked.claimablePeriods,
            Statement.Grants.entitlements, Statement.Shares.count,
        ])
    func `no question about a subscription looks through an app's purchases`(
        statement: Statement
    ) async throws {
        let steps = try await queryPlan(of: statement)
        #expect(
            !steps.contains { $0.hasSuffix("(root=? AND environment=? AND bundle_id=?)") },
            "\(steps)")
        // What was found before is read again.
        let known = ["SCAN CONSTANT ROW"]
        #expect(!steps.contains { $0.hasPrefix("SCAN") && !known.contains($0) }, "\(steps)")
    }

    @Test func `every period of a subscription is read once, whatever it grants`()
        async throws
    {
        let book = try await Book.open(
            grants: try GrantRules([
                "gold": ["gold", "premium"].map {
                    Grant(name: $0, kind: .entitlement(.subscription(grace: false)))
                }
            ]))
        try await prove(book, 1, account: "ann")
        _ = try await book.ledger.erase(account: "ann")
        for id in 2...4 { try await prove(book, id, account: "ben") }

        let rows = try await book.storage.find(
            Statement.Grants.entitlements, [.text("ben"), .text("Sandbox")])

        let listed = try rows.map {
            (try $0.optionalText("name"), try $0.text("transaction_id").suffix(1))
        }
        for name in ["gold", "premium"] {
            #expect(listed.filter { $0.0 == name }.map(\.1).sorted() == ["2", "3", "4"])
        }
        #expect(listed.filter { $0.0 == nil }.map(\.1).sorted() == ["1", "2", "3", "4"])
    }

    @Test func `what an account may use is read without a temporary table`() async throws {
        let steps = try await queryPlan(of: Statement.Grants.entitlements)
        #expect(steps.count > 10)
        #expect(!steps.contains { $0.hasPrefix("MATERIALIZE") || $0.contains("TEMP B-TREE") })
    }
}
