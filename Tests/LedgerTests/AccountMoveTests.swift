// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// Purchases that change hands: restores, merges, export and erasure.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct AccountMoveTests {
    private static func rules() throws -> GrantRules {
        try GrantRules([
            "coins": [
                Grant(name: "coins", kind: .credits(perUnit: 100), onReversal: .debt),
                Grant(name: "pro", kind: .entitlement(.forever)),
            ]
        ])
    }

    private func book(_ policy: RestorePolicy) async throws -> Book {
        try await Book.open(grants: Self.rules()).reopened(policy)
    }

    private func restore(
        _ book: Book, _ id: Int = 1, to account: String = "ann", dryRun: Bool? = nil,
        _ change: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) async throws -> RestoreOutcome {
        try await book.ledger.restore(
            RestoreRequest(signedTransaction: try Book.signed(id, change), dryRun: dryRun),
            account: account)
    }

    private static func coins(_ payload: inout JWSTransactionDecodedPayload) {
        payload.productId = "coins"
        // So that what it grants has begun.
        payload.purchaseDate = Book.now.adding(seconds: -60)
    }

    /// What the books say about both accounts.
    private func state(_ book: Book) async throws -> [String] {
        var words: [String] = []
        for account in ["blob", "ann"] {
            words.append(
                "\(account) \(try await book.unspent(account).values.sorted()) "
                    + "\(try await book.active(account)) "
                    + "\(try await book.balance(account).map(String.init) ?? "-")")
        }
        return words + (try await book.imbalances())
    }

    @Test(
        arguments: [
            (.keep, "kept", ["blob [2] [\"pro\"] 60", "ann [] [] -"]),
            (.transfer, "transferred", ["blob [] [] 0", "ann [2] [\"pro\"] 60"]),
            (.share, "shared", ["blob [2] [\"pro\"] 60", "ann [] [\"pro\"] -"]),
        ] as [(RestorePolicy, String, [String])])
    func `the policy decides what a restore changes, and a dry run changes nothing`(
        policy: RestorePolicy, outcome: String, after: [String]
    ) async throws {
        let book = try await book(policy)
        try await book.take(1, Self.coins)
        try await book.spend("hat", 40)
        try await book.take(2) { $0.quantity = 3 }
        try await book.redeem("order", id: 2)
        let before = try await state(book)
        let rehearsed = [
            try await restore(book, 1, dryRun: true, Self.coins),
            try await restore(book, 2, dryRun: true) { $0.quantity = 3 },
        ]
        #expect(try await state(book) == before)
        let restored = [
            try await restore(book, 1, Self.coins),
            try await restore(book, 2) { $0.quantity = 3 },
        ]

        #expect(restored[0].outcome == outcome)
        #expect(try await state(book) == after)
        for (dry, wet) in zip(rehearsed, restored) {
            #expect(dry.isDryRun && !wet.isDryRun)
            #expect(
                [dry.outcome, "\(dry.units)", "\(dry.credits)", "\(dry.entitlements)"]
                    == [wet.outcome, "\(wet.units)", "\(wet.credits)", "\(wet.entitlements)"])
        }
        // What was redeemed and spent gets its answer still, and spends nothing more.
        #expect(try await book.redeem("order", id: 2).unit == 1)
        #expect(try await book.spend("hat", 40).balance == 60)
        // A repeat changes nothing.
        _ = try await restore(book, 1, Self.coins)
        #expect(try await state(book) == after)
    }

    @Test func `a refund after a transfer takes back from the account that has it`()
        async throws
    {
        let book = try await book(.transfer)
        try await book.take(1, Self.coins)
        try await book.spend("hat", 40)
        _ = try await restore(book, 1, Self.coins)
        try await book.spend("cap", 30, account: "ann")
        try await book.take(1, account: nil) {
            Self.coins(&$0)
            $0.signedDate = Book.now.adding(seconds: 5)
            $0.revocationDate = Book.now.adding(seconds: 4)
        }

        #expect(try await state(book) == ["blob [] [] 0", "ann [] [] -70"])
    }

    /// The first purchase is spent and refunded, so it is a debt.
    @Test(arguments: [(.transfer, "transferred"), (.share, "shared")] as [(RestorePolicy, String)])
    func `a revoked purchase stays with its account, and its debt too`(
        policy: RestorePolicy, outcome: String
    ) async throws {
        func refunded(_ payload: inout JWSTransactionDecodedPayload) {
            Self.coins(&payload)
            payload.signedDate = Book.now.adding(seconds: 5)
            payload.revocationDate = Book.now.adding(seconds: 4)
        }
        func reversed(_ payload: inout JWSTransactionDecodedPayload) {
            Self.coins(&payload)
            payload.signedDate = Book.now.adding(seconds: 9)
        }
        let book = try await book(policy)
        try await book.take(1, Self.coins)
        try await book.spend("hat", 100)
        try await book.take(2, Self.coins)
        // The books do not know of the refund yet.
        let early = try await restore(book, 1, dryRun: true, refunded)
        let kept = try await restore(book, 1, refunded)
        let late = try await restore(book, 1, dryRun: true, Self.coins)
        let state = try await state(book)
        let reversal = try await restore(book, 1, dryRun: true, reversed)
        let restored = try await restore(book, 1, reversed)

        for told in [early, kept, late] {
            #expect(told.outcome == "kept")
            #expect(told.units == 0 && told.credits.isEmpty && told.entitlements.isEmpty)
        }
        #expect(state == ["blob [] [\"pro\"] 0", "ann [] [] -"])
        #expect(reversal.outcome == outcome)
        #expect(restored.outcome == outcome)
        #expect(try await book.active("ann") == ["pro"])
        #expect(try await book.imbalances() == [])
    }

    @Test func `what is granted has no units from the first answer on`() async throws {
        let book = try await book(.keep)

        #expect(try await book.take(1, Self.coins).unspent == 0)
        #expect(try await book.take(1, Self.coins).unspent == 0)
        #expect(try await book.take(2).unspent > 0)
    }

    @Test func `a shared entitlement ends with its purchase`() async throws {
        let book = try await book(.share)
        try await book.take(1, Self.coins)
        _ = try await restore(book, 1, Self.coins)
        let shared = try await book.active("ann")
        for number in 0..<9 {
            _ = try await restore(book, 1, to: "friend \(number)", Self.coins)
        }
        let refused = try await refusal {
            try await restore(book, 1, to: "stranger", Self.coins)
        }
        try await book.take(1, account: nil) {
            Self.coins(&$0)
            $0.signedDate = Book.now.adding(seconds: 5)
            $0.revocationDate = Book.now
        }

        #expect(shared == ["pro"])
        #expect(refused?.first == "sharesTooMany")
        #expect(try await book.active("ann") == [])
        #expect(try await book.active("friend 8") == [])
    }

    @Test func `a restore is refused with its rule`() async throws {
        let refusing = try await book(.refuse)
        try await refusing.take(1, Self.coins)
        try await refusing.take(2)
        try await refusing.take(3, Self.coins)
        try await refusing.take(4, account: nil) {
            Self.coins(&$0)
            $0.appAccountToken = Book.blob
        }
        let book = try await refusing.reopened(.transfer)
        func code(_ body: () async throws -> some Sendable) async throws -> String? {
            try await refusal(body)?.first ?? nil
        }
        let refused = try await code { try await restore(refusing, 1, Self.coins) }
        _ = try await book.ledger.reserve(
            ReserveRequest(
                idempotencyKey: "k", transactionId: "2000000000000002", purpose: "p"),
            account: "blob")
        let reserved = try await code { try await restore(book, 2) }
        // The first purchase is spent and refunded, so that its account is in debt.
        try await book.spend("hat", 90)
        try await book.take(1, account: nil) {
            Self.coins(&$0)
            $0.signedDate = Book.now.adding(seconds: 5)
            $0.revocationDate = Book.now
        }
        let owed = try await code { try await restore(book, 3, Self.coins) }
        let bound = try await code {
            try await restore(book, 4) {
                Self.coins(&$0)
                $0.appAccountToken = Book.blob
            }
        }

        #expect(refused == "restoreRefused")
        #expect(reserved == "purchaseReserved")
        #expect(owed == "creditsOwed")
        #expect(bound == "accountContradicts")
        #expect(try await book.imbalances() == [])
    }

    @Test func `a unit is spent once, whether it is redeemed or moved at the same time`()
        async throws
    {
        let book = try await book(.transfer)
        try await book.take(1) { $0.quantity = 5 }
        let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
            for racer in 0..<16 {
                group.addTask {
                    do {
                        guard racer % 4 != 0 else {
                            let to = racer % 8 == 0 ? "ann" : "blob"
                            return try await restore(book, 1, to: to) { $0.quantity = 5 }.outcome
                        }
                        let account = racer % 2 == 0 ? "ann" : "blob"
                        return "unit \(try await book.redeem("\(racer)", account: account).unit)"
                    } catch let refusal as LedgerRefusal { return refusal.error.code }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let units = outcomes.filter { $0.hasPrefix("unit") }
        let left =
            try await book.unspent("blob").values.reduce(0, +)
            + book.unspent("ann").values.reduce(0, +)

        #expect(Set(units).count == units.count)
        #expect(units.count + left == 5)
    }
}

/// Merge, export and erasure.
extension AccountMoveTests {
    private func full() async throws -> Book {
        let book = try await book(.transfer)
        try await book.take(1, Self.coins)
        try await book.spend("hat", 40)
        try await book.take(2) { $0.quantity = 3 }
        try await book.redeem("order", id: 2)
        try await book.take(3, account: "ann", Self.coins)
        return book
    }

    private func merge(_ book: Book, _ from: String, _ into: String) async throws -> AccountMerge {
        try await book.ledger.merge(MergeAccountRequest(into: into), account: from)
    }

    @Test func `a merged account's things and news go to the other, once`() async throws {
        let book = try await full()
        let merged = try await merge(book, "blob", "ann")
        let after = try await state(book)
        let again = try await merge(book, "blob", "ann")
        #expect(try await state(book) == after)
        try await book.take(5, account: "blob", Self.coins)
        let known = try await book.take(1, Self.coins)
        let fourth = try await merge(book, "ann", "eve")
        try await book.take(6, account: "blob", Self.coins)

        #expect(merged == again)
        #expect(after == ["blob [] [] 0", "ann [2] [\"pro\"] 160"])
        #expect(known.account == "ann")
        #expect(fourth.into == "eve")
        #expect(try await book.balance("eve") == 360)
        #expect(try await book.imbalances() == [])
        #expect(try await book.redeem("order", id: 2).unit == 1)
        #expect(try await book.spend("hat", 40).balance == 60)
        for (from, into, code) in [
            ("blob", "zoe", "mergeContradicts"), ("eve", "eve", "mergeInvalid"),
            ("eve", "blob", "accountMerged"),
        ] {
            #expect(try await refusal { try await merge(book, from, into) }?.first == code)
        }
    }

    @Test func `an account with reserved units is not merged`() async throws {
        let book = try await full()
        _ = try await book.ledger.reserve(
            ReserveRequest(
                idempotencyKey: "k", transactionId: "2000000000000002", purpose: "p"),
            account: "blob")

        #expect(
            try await refusal { try await merge(book, "blob", "ann") }
                == ["accountReserved", "account"])
    }

    @Test func `an export has what the books have`() async throws {
        let book = try await full()
        _ = try await merge(book, "ann", "blob")
        // A subscription with its terms and its grace period, and another account's news.
        let paper = try Book.signed(8) {
            $0.type = "Auto-Renewable Subscription"
            $0.expiresDate = Book.now.adding(seconds: 86_400)
        }
        var renewal = JWSRenewalInfoDecodedPayload()
        renewal.originalTransactionId = Book.id(8)
        renewal.signedDate = Book.now
        let signed = try Book.sandbox().transactions.sign(renewal)
        _ = try await book.ledger.take(
            try Book.notification(paper, type: "DID_RENEW") { $0.signedRenewalInfo = signed })
        _ = try await book.ledger.take(
            TakePurchaseRequest(signedTransaction: paper, account: "blob"))
        _ = try await book.ledger.take(try notification(try Book.signed(9)))
        let export = try await book.ledger.export(account: "blob")

        #expect(
            export.tables.mapValues(\.count) == [
                "accounts": 2, "purchases": 4, "redemptions": 1, "grants": 4,
                "credit_books": 2, "credit_entries": 5, "account_merges": 1, "terms": 1,
                "renewals": 1, "notifications_in": 1,
            ])
        #expect(
            export.tables["notifications_in"]?.first?["notification_type"] == .text("DID_RENEW"))
        #expect(export.tables["redemptions"]?.first?["purpose"] == .text("feed a monkey"))
        #expect(
            try await refusal { try await book.ledger.export(account: "nobody") }?.first
                == "accountUnknown")
    }

    @Test func `an erased account leaves balanced books, and nothing of the person`()
        async throws
    {
        let book = try await full()
        let token = "99999999-2222-4333-8444-555555555555"
        let signed = try Book.signed(7) { $0.appAccountToken = token }
        _ = try await book.ledger.take(try Book.notification(signed))
        _ = try await merge(book, token, "blob")
        let erasure = try await book.ledger.erase(account: "blob")
        let after = try await book.imbalances()
        // The store sends news about the purchase again, with the account's token.
        let later = try Book.signed(7) {
            $0.appAccountToken = token
            $0.signedDate = Book.now.adding(seconds: 5)
            $0.revocationDate = Book.now
        }
        let heard = try await book.ledger.take(try notification(later))

        #expect(erasure.accounts == 2)
        #expect(erasure.notifications == 1)
        #expect(after == [])
        #expect(heard.purchase?.revocationDate == Book.now)
        let rows = try await dump(book)
        #expect(!rows.contains("notifications_in has a payload"))
        for word in ["blob", token, "feed a monkey", "a hat"] {
            #expect(!rows.contains { $0.contains(word) }, "\(word)")
        }
        #expect(try await book.unspent("blob").isEmpty)
        #expect(
            try await refusal { try await book.ledger.erase(account: "blob") }?.first
                == "accountUnknown")
        #expect(
            try await refusal { try await book.take(2) { $0.quantity = 3 } }?.first
                == "purchaseClaimed")
        #expect(
            try await refusal { try await book.ledger.balances(account: "erased:1") }?.first
                == "textInvalid")
    }

    @Test(
        arguments: [
            (.keep, "kept", 100), (.refuse, "restoreRefused", 100), (.transfer, "transferred", 160),
        ] as [(RestorePolicy, String, Int64)])
    func `the policy decides about an erased account's purchase too`(
        policy: RestorePolicy, end: String, balance: Int64
    ) async throws {
        let book = try await full().reopened(policy)
        _ = try await book.ledger.erase(account: "blob")

        do {
            #expect(try await restore(book, 1, Self.coins).outcome == end)
        } catch let refusal as LedgerRefusal { #expect(refusal.error.code == end) }

        #expect(try await book.balance("ann") == balance)
        let spent = try await book.ledger.balances(account: "ann").balances.map(\.spent)
        #expect(spent == [policy == .transfer ? 40 : 0])
        #expect(try await book.imbalances() == [])
    }

    /// The store sends news while the account is erased, as often as there is time.
    @Test func `news that comes during an erasure is kept without its contents`() async throws {
        for round in 0..<6 {
            let book = try await Book.open()
            try await book.take(7)
            _ = try await book.ledger.take(try Book.notification(try Book.signed(7)))

            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        _ = try await book.ledger.take(
                            try notification(try Book.signed(7), number: number))
                    }
                    if number == round {
                        group.addTask { _ = try await book.ledger.erase(account: "blob") }
                    }
                }
                try await group.waitForAll()
            }

            #expect(try await !dump(book).contains("notifications_in has a payload"))
        }
    }

    /// A worker asks about a kept proof, and the account is erased before the store answers.
    @Test(arguments: [false, true])
    func `the answer about a proof that an erasure has deleted brings no account back`(
        isReceipt: Bool
    ) async throws {
        let (store, clock) = (FakeStore(), MovedClock())
        let book = try await Book.open(
            asking: store, environments: [.sandbox], wall: clock.wall)
        let (signed, receipt) = (try Book.signed(1), try Book.receipt([Book.record(1)]))
        if isReceipt {
            _ = try await book.ledger.present(
                TakeReceiptRequest(receipt: receipt, account: "blob", mode: "verifyReceipt"))
        } else {
            _ = try await book.present(1)
        }
        var ports = book.ledger.ports
        ports.stores = StoreDoor(sleep: noPause) { _ throws(StoreUnreached) in
            do {
                _ = try await book.ledger.erase(account: "blob")
                guard !isReceipt else {
                    return StoreAnswer(status: 200, body: Array(#"{"status":0}"#.utf8))
                }
                return try FakeStore.json(TransactionInfoResponse(signedTransactionInfo: signed))
            } catch { throw StoreUnreached("\(error)") }
        }
        let worker = try await Ledger.open(
            storage: book.storage, configuration: book.ledger.configuration, ports: ports)
        clock.move(seconds: 3600)
        let settled = try await worker.settleProofs()

        #expect(settled == 0)
        #expect(
            try await refusal { try await book.ledger.export(account: "blob") }?.first
                == "accountUnknown")
        #expect(try await !dump(book).contains { $0.contains("blob") })
    }

    @Test func `an erasure whose process ends anywhere is completed by another`() async throws {
        var (cut, isDone) = (0, false)
        while !isDone {
            let book = try await Book.open()
            try await book.take(7)
            try await book.take(8, account: "ann")
            _ = try await book.ledger.take(try Book.notification(try Book.signed(7)))
            let opening = Knife(nil)
            _ = try await reopened(book, opening)
            let knife = Knife((call: opening.calls + cut, side: .before))
            let dying = try await reopened(book, knife)
            do { _ = try await dying.erase(account: "blob") } catch is Knife.Died {}
            isDone = knife.fired == 0
            cut += 1

            if try await dump(book).contains("blob") {
                _ = try await book.ledger.erase(account: "blob")
            } else if cut % 2 == 0 {
                await book.ledger.workOnce()
            } else {
                _ = try await book.ledger.erase(account: "ann")
            }

            #expect(try await !dump(book).contains("blob"), "cut \(cut)")
            #expect(
                try await !dump(book).contains("notifications_in has a payload"), "cut \(cut)")
            let left = try await book.storage.read { try $0.query(PersonalData.erasures, []) }
            #expect(left.isEmpty, "cut \(cut)")
            #expect(try await book.imbalances() == [], "cut \(cut)")
        }
        #expect(cut > 20)
    }

    /// The same ledger with another process's storage.
    private func reopened(_ book: Book, _ knife: Knife) async throws -> Ledger {
        try await Ledger.open(
            storage: CutStorage(storage: book.storage, knife: knife),
            configuration: book.ledger.configuration, ports: book.ledger.ports)
    }

    /// What the unit is for may have happened when the account is to be erased.
    @Test(arguments: ["confirm", "release", "expire"])
    func `an account is erased after its reservations have ended, not before`(
        end: String
    ) async throws {
        let clock = MovedClock()
        let book = try await Book.open(wall: clock.wall)
        try await book.take(1) { $0.quantity = 2 }
        _ = try await book.ledger.take(
            try Book.notification(try Book.signed(1) { $0.quantity = 2 }))
        try await book.reserve("k", seconds: 60)
        let told = await #expect(throws: LedgerRefusal.self) {
            try await book.ledger.erase(account: "blob")
        }
        #expect(told?.error.code == "accountReserved")
        #expect(told?.error.rule?.contains("\(Book.now.adding(seconds: 60))") == true)
        // Nothing is half erased.
        #expect(try await dump(book).contains("notifications_in has a payload"))
        #expect(try await book.ledger.export(account: "blob").tables["redemptions"]?.count == 1)

        switch end {
        case "confirm": #expect(try await book.confirm("k").unit == 1)
        case "release": try await book.release("k")
        default: clock.move(seconds: 60)
        }
        #expect(try await book.ledger.erase(account: "blob").accounts == 1)

        #expect(
            try await refusal { try await book.confirm("k") }
                == ["reservationUnknown", "idempotencyKey"])
        #expect(
            try await refusal { try await book.reserve("l") }?.first == "purchaseUnknown")
        #expect(try await !dump(book).contains("blob"))
        #expect(try await book.imbalances() == [])
    }

    @Test func `an account is erased or reserves a unit, not both`() async throws {
        for round in 0..<4 {
            let book = try await Book.open()
            try await book.take()
            async let erasing = refusal { try await book.ledger.erase(account: "blob") }
            async let reserving = refusal { try await book.reserve("k \(round)") }
            let (erased, reserved) = try await (erasing, reserving)

            switch erased?.first {
            case nil: #expect(reserved?.first == "purchaseUnknown")
            default:
                #expect(erased?.first == "accountReserved")
                #expect(reserved == nil)
                #expect(try await book.confirm("k \(round)").unit == 1)
            }
        }
    }

    /// A second notification, with an id of its own.
    private func notification(
        _ transaction: String, number: Int = 1
    ) throws -> ResponseBodyV2 {
        var data = NotificationData()
        data.bundleId = Book.bundleID.value
        data.environment = "Sandbox"
        data.signedTransactionInfo = transaction
        var payload = ResponseBodyV2DecodedPayload()
        payload.notificationType = "REFUND"
        payload.notificationUUID = "7b1f0b9e-2f5c-4d0e-9a57-0d6f3c1e8a1\(number)"
        payload.signedDate = Book.now
        payload.data = data
        return ResponseBodyV2(signedPayload: try Book.sandbox().transactions.sign(payload))
    }

    /// The texts of every row of the ledger's database, decoded where they are signed.
    private func dump(_ book: Book) async throws -> [String] {
        try await book.storage.read { reading in
            try LedgerSchema.tables.filter { $0.name != "ledger_keys" }.flatMap { table in
                try reading.query(
                    Statement("test.dump", [], "SELECT \(table.list()) FROM \(table.name)"), []
                ).flatMap { row in
                    try table.columns.compactMap { column -> String? in
                        guard case .text(let text) = try row.value(column.name) else {
                            return nil
                        }
                        return column.name == "payload" && text != "erased"
                            ? "\(table.name) has a payload" : text
                    }
                }
            }
        }
    }
}
