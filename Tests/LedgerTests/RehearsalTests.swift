// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Testing

@testable import Ledger

/// A restore's dry run, which says what the restore does and changes nothing.
@Suite(.timeLimit(.minutes(5))) struct RehearsalTests {
    /// What ann presents.
    enum Paper: String, CaseIterable {
        case unknown, unknownToMerged, unclaimed, renewal, own, other, refunded, reserved, owed
    }

    private static let everyCase = RestorePolicy.allCases.flatMap { policy in
        Paper.allCases.map { (policy, $0) }
    }

    private func book(_ policy: RestorePolicy) async throws -> Book {
        let book = try await Book.open(
            grants: try GrantRules([
                "coins": [
                    Grant(name: "coins", kind: .credits(perUnit: 100), onReversal: .debt),
                    Grant(name: "pro", kind: .entitlement(.forever)),
                ],
                "gold": [Grant(name: "gold", kind: .entitlement(.subscription(grace: false)))],
            ]))
        return try await book.reopened(
            policy,
            webhooks: [
                try WebhookEndpoint(url: "https://merchant.example", secret: WebhookTests.secret)
            ])
    }

    private static func coins(_ payload: inout JWSTransactionDecodedPayload) {
        payload.productId = "coins"
        payload.quantity = 2
    }

    private static func gold(
        _ id: Int
    ) -> (inout JWSTransactionDecodedPayload) -> Void {
        { payload in
            payload.productId = "gold"
            payload.type = "Auto-Renewable Subscription"
            payload.originalTransactionId = Book.id(1)
            payload.expiresDate = Book.now.adding(seconds: 86_400 * Int64(id))
        }
    }

    private static func refunded(_ payload: inout JWSTransactionDecodedPayload) {
        coins(&payload)
        payload.signedDate = Book.now.adding(seconds: 5)
        payload.revocationDate = Book.now
    }

    /// Fills the books, and returns the signed transaction that is presented.
    private func prepare(_ book: Book, _ paper: Paper) async throws -> String {
        switch paper {
        case .unknown: return try Book.signed(1, Self.coins)
        case .unknownToMerged:
            _ = try await book.ledger.merge(MergeAccountRequest(into: "eve"), account: "ann")
            return try Book.signed(1, Self.coins)
        case .unclaimed:
            try await book.take(1, account: nil, Self.coins)
        case .renewal:
            try await book.take(1, Self.gold(1))
            return try Book.signed(2, Self.gold(2))
        case .own: try await book.take(1, account: "ann", Self.coins)
        case .other:
            try await book.take(1, Self.coins)
            try await book.spend("hat", 40)
        case .refunded:
            try await book.take(1, Self.coins)
            return try Book.signed(1, Self.refunded)
        case .reserved:
            try await book.take(1)
            try await book.reserve("k")
            return try Book.signed(1)
        case .owed:
            try await book.take(2, Self.coins)
            try await book.spend("hat", 150)
            try await book.take(1, Self.coins)
            try await book.take(2, account: nil, Self.refunded)
        }
        return try Book.signed(1, Self.coins)
    }

    struct Answer: Equatable, Sendable {
        var code: String?
        var outcome: String?
        var units = 0
        var entitlements: [String] = []
        var credits: [RestoreOutcome.Credits] = []
    }

    private func restore(
        _ book: Book, _ signed: String, dryRun: Bool = false
    ) async throws -> Answer {
        do {
            let outcome = try await book.ledger.restore(
                RestoreRequest(signedTransaction: signed, dryRun: dryRun), account: "ann")
            #expect(outcome.isDryRun == dryRun)
            return Answer(
                outcome: outcome.outcome, units: outcome.units,
                entitlements: outcome.entitlements, credits: outcome.credits)
        } catch let refusal as LedgerRefusal { return Answer(code: refusal.error.code) }
    }

    /// Every row of every table.
    private func rows(_ book: Book) async throws -> [String] {
        try await book.storage.read { reading in
            try LedgerSchema.tables.flatMap { table in
                try reading.query(
                    Statement("test.rows", [], "SELECT \(table.list()) FROM \(table.name)"), []
                ).map { row in
                    let values = try table.columns.map { "\(try row.value($0.name))" }
                    return "\(table.name) \(values.joined(separator: " "))"
                }
            }.sorted()
        }
    }

    @Test(arguments: everyCase)
    func `a dry run changes nothing, and the restore does what it said`(
        policy: RestorePolicy, paper: Paper
    ) async throws {
        let book = try await book(policy)
        let signed = try await prepare(book, paper)
        let before = try await rows(book)

        let rehearsed = try await restore(book, signed, dryRun: true)

        #expect(try await rows(book) == before)
        #expect(try await restore(book, signed) == rehearsed)
        #expect(try await book.imbalances() == [])
    }

    @Test func `a claim says what the account gains`() async throws {
        let book = try await book(.refuse)
        let signed = try await prepare(book, .unclaimed)

        #expect(
            try await restore(book, signed)
                == Answer(
                    outcome: "claimed", entitlements: ["pro"],
                    credits: [RestoreOutcome.Credits(currency: "coins", amount: 200)]))
        #expect(try await book.balance("ann") == 200)
        #expect(try await book.unspent("ann").isEmpty)
        #expect(
            try await restore(book, try Book.signed(3) { $0.quantity = 3 })
                == Answer(outcome: "claimed", units: 3))
        #expect(try await book.unspent("ann") == [Book.id(3): 3])
    }

    @Test(
        arguments: [
            (.keep, Answer(outcome: "kept")), (.refuse, Answer(code: "restoreRefused")),
            (.share, Answer(outcome: "shared", entitlements: ["gold"])),
            (.transfer, Answer(outcome: "transferred", entitlements: ["gold"])),
        ] as [(RestorePolicy, Answer)])
    func `a renewal that is new is the subscription's`(
        policy: RestorePolicy, answer: Answer
    ) async throws {
        let book = try await book(policy)
        let signed = try await prepare(book, .renewal)

        #expect(try await restore(book, signed, dryRun: true) == answer)
        #expect(try await restore(book, signed) == answer)
    }

    @Test func `an account that is part of another gets nothing`() async throws {
        let book = try await book(.transfer)
        let signed = try await prepare(book, .unknownToMerged)
        for _ in 0..<2 {
            #expect(try await restore(book, signed) == Answer(code: "accountMerged"))
        }

        #expect(try await book.balance("eve") == nil)
        #expect(try await book.imbalances() == [])
    }
}
