// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import SignedData
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Ledger

@Suite(.timeLimit(.minutes(5))) struct EntitlementTests {
    private static func rules() throws -> GrantRules {
        try GrantRules([
            "pro": [Grant(name: "pro", kind: .entitlement(.forever))],
            "year": [Grant(name: "comments", kind: .entitlement(.period(Period(1, .year))))],
            "gold": [Grant(name: "gold", kind: .entitlement(.subscription(grace: true)))],
            "coins": [Grant(name: "coins", kind: .credits(perUnit: 100), onReversal: .debt)],
        ])
    }

    private static func day(_ number: Int64) -> Int64 { number * 86_400 }

    @Test func `an account has what its purchases grant, and the answer says why`() async throws {
        let book = try await Book.open(grants: Self.rules())
        try await book.prove(1, product: "pro", account: "blob")
        try await book.prove(2, product: "year", account: "blob") { $0.quantity = 2 }

        let answer = try await book.ledger.entitlements(account: "blob")

        let bought = Book.now.adding(milliseconds: 2)
        let end = bought.adding(Period(2, .year))
        #expect(
            answer.entitlements == [
                LedgerEntitlement(
                    name: "comments", isActive: true, startDate: bought, endDate: end,
                    productId: "year", transactionId: "2000000000000002",
                    why: "Granted by transaction 2000000000000002 (year), until \(end)."),
                LedgerEntitlement(
                    name: "pro", isActive: true, startDate: Book.now.adding(milliseconds: 1),
                    endDate: nil, productId: "pro", transactionId: "2000000000000001",
                    why: "Granted by transaction 2000000000000001 (pro), for ever."),
            ])
        #expect(try await book.ledger.entitlements(account: "other").entitlements == [])
    }

    @Test func `why says what is missing`() async throws {
        let book = try await Book.open(grants: Self.rules())
        try await book.prove(1, product: "pro", account: "blob")
        try await book.prove(1, product: "pro", account: nil, signed: 3, revoked: 2)

        let reasons = [
            try await book.ledger.reason(account: "blob", entitlement: "pro"),
            try await book.ledger.reason(account: "blob", entitlement: "gold"),
            try await book.ledger.reason(account: "blob", entitlement: "silver"),
        ]

        #expect(
            reasons.map(\.why) == [
                "The store revoked transaction 2000000000000001 (pro) at "
                    + "\(Book.now.adding(seconds: 2)).",
                "No purchase of this account grants gold. It is granted by gold.",
                "No product of this ledger grants silver.",
            ])
        #expect(reasons.map(\.isActive) == [false, false, false])
        #expect(reasons[0].purchases.map(\.end) == ["revoked"])
    }

    /// A subscription by dated facts: what was signed last counts, whatever comes
    /// first. In a sandbox, the store's clock may be ahead of the ledger's.
    @Test(arguments: [false, true])
    func `a subscription is active until its last signed end`(isReversed: Bool) async throws {
        let book = try await Book.open(grants: Self.rules())
        var news: [(id: Int, bought: Int64, until: Int64, signed: Int64)] = [
            (1, 0, 30, 0), (2, 30, 60, 30), (2, 30, 75, 40),
        ]
        if isReversed { news.reverse() }
        for item in news {
            try await book.prove(
                item.id, product: "gold", account: "blob", signed: Self.day(item.signed)
            ) {
                $0.type = "Auto-Renewable Subscription"
                $0.originalTransactionId = "1"
                $0.purchaseDate = Book.now.adding(seconds: Self.day(item.bought))
                $0.expiresDate = Book.now.adding(seconds: Self.day(item.until))
            }
        }

        let gold = try await book.ledger.entitlements(account: "blob").entitlements

        #expect(gold.map(\.isActive) == [true])
        #expect(gold.map(\.startDate) == [Book.now])
        #expect(gold.map(\.endDate) == [Book.now.adding(seconds: Self.day(75))])
    }

    /// Nobody but the ledger hears of a renewal, so that an app cannot name its account.
    @Test func `a renewal without an account belongs to the subscriber`() async throws {
        let book = try await Book.open(grants: Self.rules())
        func period(_ id: Int, account: String?, first: Int = 1) async throws {
            _ = try await book.prove(id, product: "gold", account: account) {
                $0.type = "Auto-Renewable Subscription"
                $0.originalTransactionId = Book.id(first)
                $0.purchaseDate = Book.now.adding(seconds: Self.day(30 * Int64(id - 4)))
                $0.expiresDate = Book.now.adding(seconds: Self.day(30 * Int64(id - 3)))
            }
        }
        // The first periods are heard of before the app names an account.
        try await period(1, account: nil)
        try await period(2, account: nil)
        #expect(try await book.active("ann") == [])
        try await period(2, account: "ann")
        try await period(3, account: nil)
        try await period(4, account: nil)
        // Another subscription is nobody's.
        try await period(5, account: nil, first: 5)

        #expect(try await book.active("ann") == ["gold"])
        #expect(
            try await refusal { try await period(4, account: "ben") }
                == ["purchaseClaimed", "account"])
        #expect(try await book.active("ben") == [])
        try await period(5, account: "ben", first: 5)
        // The first period was claimed with the second.
        let span = try await book.ledger.reason(account: "ann", entitlement: "gold")
        #expect(span.purchases.count == 4)
    }

    @Test func `a renewal belongs to nobody whose account was erased`() async throws {
        let book = try await Book.open(grants: Self.rules())
        func period(_ id: Int, account: String?) async throws -> BookedPurchase {
            try await book.prove(id, product: "gold", account: account) {
                $0.type = "Auto-Renewable Subscription"
                $0.originalTransactionId = Book.id(1)
                $0.expiresDate = Book.now.adding(seconds: Self.day(30))
            }
        }
        _ = try await period(1, account: "ann")
        _ = try await book.ledger.erase(account: "ann")

        #expect(try await period(2, account: nil).account == nil)
    }

    @Test func `a grace period counts as last signed, whenever it is heard`() async throws {
        let book = try await Book.open(grants: Self.rules())
        let info = { (signed: Int64, grace: Int64?) throws in
            var payload = JWSRenewalInfoDecodedPayload()
            payload.originalTransactionId = "1"
            payload.signedDate = Book.now.adding(seconds: signed)
            payload.gracePeriodExpiresDate = grace.map { Book.now.adding(seconds: $0) }
            return try Book.sandbox().transactions.sign(payload)
        }
        let signed = try Book.signed(1) {
            $0.productId = "gold"
            $0.type = "Auto-Renewable Subscription"
            $0.originalTransactionId = "1"
            $0.appAccountToken = Book.blob
            $0.purchaseDate = Book.now.adding(seconds: -100)
            $0.expiresDate = Book.now.adding(seconds: -10)
        }
        let send = { (renewal: String) async throws in
            _ = try await book.ledger.take(
                try Book.notification(signed, type: "DID_FAIL_TO_RENEW") {
                    $0.signedRenewalInfo = renewal
                })
        }

        try await send(try info(1, 100))
        let inGrace = try await book.active(Book.blob)
        try await send(try info(3, nil))
        let ended = try await book.active(Book.blob)
        try await send(try info(2, 200))
        let late = try await book.active(Book.blob)

        #expect([inGrace, ended, late] == [["gold"], [], []])
    }

    /// The rule is in Swift and in SQL.
    @Test func `what is signed about a renewal is news if writing it changes something`()
        async throws
    {
        let book = try await Book.open()
        let dates: [Int64] = [1, 2]
        let ends: [Int64?] = [nil, 5, 9]
        let renewals = dates.flatMap { date in
            ends.map { end in
                ProvenRenewal(
                    signedAt: Book.now.adding(seconds: date),
                    graceUntil: end.map { Book.now.adding(seconds: $0) })
            }
        }
        for (row, first) in renewals.enumerated() {
            for (column, second) in renewals.enumerated() {
                let period = try ProvenPurchase(
                    Book.payload(row * renewals.count + column), root: Book.root,
                    environment: .sandbox, bundleID: Book.bundleID.value)
                let (isNews, isChange) = try await book.storage.write { writing -> (Bool, Bool) in
                    func kept() throws -> [Int64?] {
                        let row = try writing.first(
                            Statement.Grants.renewal, period.subscriptionValues)
                        return [
                            try row?.integer("signed_at"),
                            try row?.optionalInteger("grace_until"),
                        ]
                    }
                    try first.write(of: period, writing)
                    let before = try kept()
                    let isNews = try !second.isWritten(of: period, writing)
                    try second.write(of: period, writing)
                    return (isNews, try kept() != before)
                }
                #expect(isNews == isChange, "\(first) \(second)")
            }
        }
    }

    @Test func `renewal information of another subscription is refused`() async throws {
        let book = try await Book.open(grants: Self.rules())
        var payload = JWSRenewalInfoDecodedPayload()
        payload.originalTransactionId = "other"
        payload.signedDate = Book.now
        let renewal = try Book.sandbox().transactions.sign(payload)

        let told = try await refusal {
            try await book.ledger.take(
                try Book.notification(try Book.signed(1)) { $0.signedRenewalInfo = renewal })
        }

        #expect(told == ["notificationContradicts", "signedRenewalInfo"])
    }

    @Test func `a purchase grants to the account that claims it later`() async throws {
        let book = try await Book.open(grants: Self.rules())
        try await book.prove(1, product: "pro", account: nil)
        try await book.prove(1, product: "pro", account: nil, signed: 3, revoked: 2)
        try await book.prove(1, product: "pro", account: "blob")
        let revoked = try await book.active()

        try await book.prove(1, product: "pro", account: nil, signed: 5)

        #expect(revoked == [])
        #expect(try await book.active() == ["pro"])
    }

    @Test func `history is in plain words, page by page`() async throws {
        let book = try await Book.open(grants: Self.rules())
        try await book.prove(1, account: "blob")
        try await book.spend("hat", 30)
        try await book.prove(1, account: nil, signed: 3, revoked: -5)
        try await book.take(2)
        try await book.redeem("order", id: 2)

        let whole = try await book.ledger.history(account: "blob").events
        var paged: [LedgerEvent] = []
        var after: String?
        repeat {
            let page = try await book.ledger.history(account: "blob", after: after, limit: 2)
            paged += page.events
            after = page.next
        } while after != nil

        #expect(
            whole.map(\.text) == [
                "Took back 100 coins of transaction 2000000000000001; the balance is -30.",
                "Spent 30 coins for a hat; the balance is 70.",
                "Granted 100 coins for transaction 2000000000000001; the balance is 100.",
                "Redeemed unit 1 of credits.5 (transaction 2000000000000002) for feed a monkey.",
                "Bought 1 × credits.5 (transaction 2000000000000002).",
                "Bought 1 × coins (transaction 2000000000000001).",
                "The store revoked transaction 2000000000000001 (coins).",
            ])
        #expect(paged == whole)
        let wrong = try await refusal {
            try await book.ledger.history(account: "blob", after: "x")
        }
        #expect(wrong == ["cursorInvalid", "after"])
    }

    @Test func `signed entitlements are verified by the published key`() async throws {
        let storage = try await Shelf.storage()
        let book = try await Book.open(storage: storage, grants: Self.rules())
        try await book.prove(1, product: "pro", account: "blob")
        try await book.prove(2, product: "pro", account: "gone", signed: 3, revoked: 2)

        let signed = try await book.ledger.signedEntitlements(account: "blob", seconds: 60)
        let none = try await book.ledger.signedEntitlements(account: "gone")
        // Another process signs with the same key.
        let key = try #require(try await Book.open(storage: storage).ledger.publicKeys.keys.first)

        let claims = try Self.verified(signed.signedEntitlements, by: key)
        let seconds = Book.now.milliseconds / 1000
        #expect(
            claims
                == EntitlementClaims(
                    sub: "blob", environment: "Sandbox", iat: seconds, exp: seconds + 60,
                    entitlements: [.init(name: "pro", until: nil)]))
        #expect(try Self.verified(none.signedEntitlements, by: key).entitlements == [])
        let tooLong = try await refusal {
            try await book.ledger.signedEntitlements(account: "blob", seconds: 40 * 86_400)
        }
        #expect(tooLong == ["secondsInvalid", "seconds"])
    }

    private static func verified(
        _ compact: String, by key: LedgerPublicKeys.Key
    ) throws -> EntitlementClaims {
        func bytes(_ text: some StringProtocol) throws -> Data {
            let plain = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
            let padded = plain + String(repeating: "=", count: (4 - plain.count % 4) % 4)
            return try #require(Data(base64Encoded: padded))
        }
        let parts = compact.split(separator: ".")
        let header = try JSONDecoder().decode([String: String].self, from: bytes(parts[0]))
        #expect(header == ["alg": "ES256", "kid": key.kid, "typ": "JWT"])
        let point = try bytes(key.x) + bytes(key.y)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: bytes(parts[2]))
        let isValid = try P256.Signing.PublicKey(rawRepresentation: point)
            .isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8))
        #expect(isValid)
        return try JSONDecoder().decode(EntitlementClaims.self, from: bytes(parts[1]))
    }

    @Test func `a wait ends when the purchase is booked, by any process`() async throws {
        let (one, other) = try await Shelf.pair()
        let waiting = try await Book.open(storage: one, grants: Self.rules())
        let booking = try await Book.open(storage: other, grants: Self.rules())
        let book = Shelf.isOnPostgres ? booking : waiting
        let wait = try waiting.ledger.waitForEntitlement(account: "blob", name: "pro")
        defer { wait.close() }
        let before = try await wait.now()

        let (answers, told) = AsyncStream.makeStream(of: [String].self)
        let waiter = Task {
            defer { told.finish() }
            try await wait.untilEnough()
            told.yield(try await wait.answer().entitlements.map(\.name))
        }
        defer { waiter.cancel() }
        // News of the account, but not what is waited for.
        try await book.prove(2, account: "blob")
        try await book.prove(1, product: "pro", account: "blob")

        #expect(before == nil)
        #expect(await first(of: answers, "the entitlement pro") == ["pro"])
    }

    @Test func `a wait ends when the entitlement begins by its date`() async throws {
        let (slept, told) = AsyncStream.makeStream(of: Duration.self)
        let wall = Mutex(Book.now)
        // One for each pause. A wait that is woken again begins another one.
        let gates = Mutex<[AsyncStream<Void>.Continuation]>([])
        let book = try await Book.open(
            wall: WallClock { wall.withLock { $0 } }, grants: Self.rules()
        ) { pause in
            let (woken, wake) = AsyncStream.makeStream(of: Void.self)
            gates.withLock { $0.append(wake) }
            told.yield(pause)
            for await _ in woken { return }
            throw CancellationError()
        }
        let wait = try book.ledger.waitForEntitlement(account: "blob", name: "pro")
        defer { wait.close() }
        let before = try await wait.now()
        let (answers, answered) = AsyncStream.makeStream(of: [Bool].self)
        let waiter = Task {
            defer { answered.finish() }
            try await wait.untilEnough()
            answered.yield(try await wait.answer().entitlements.map(\.isActive))
        }
        defer { waiter.cancel() }

        try await book.prove(1, product: "pro", account: "blob") {
            $0.purchaseDate = Book.now.adding(seconds: 90)
        }
        for (pause, now) in [(60, 60), (30, 90)] {
            // PostgreSQL may report the commit twice, so the first pause comes twice.
            let slept = await first(of: slept, "a pause of \(pause) s") { $0 == .seconds(pause) }
            #expect(slept != nil)
            wall.withLock { $0 = Book.now.adding(seconds: Int64(now)) }
            for gate in gates.withLock({ $0 }) { gate.yield() }
        }

        #expect(before == nil)
        #expect(await first(of: answers, "the entitlement that has begun") == [true])
    }

    @Test func `a wait that is ended returns, and leaves no waiter behind`() async throws {
        let book = try await Book.open(grants: Self.rules())
        let wait = try book.ledger.waitForEntitlement(account: "blob", name: nil)
        #expect(book.ledger.news.waiting == 1)

        wait.end()
        try await wait.untilEnough()
        wait.close()

        #expect(try await wait.answer().entitlements == [])
        #expect(book.ledger.news.waiting == 0)
    }
}
