// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire
import TestSupport
import Testing

@testable import Ledger

/// Tellings of one purchase, in every order and more than once.
@Suite(.engineFree, .unforgiven, .timeLimit(.minutes(5))) struct FateTests {
    private static func fate(
        _ signed: Int64, _ revoked: Int64?, _ reason: Int? = nil, until: Int64? = nil,
        isUpgraded: Bool = false, takesRefundBack: Bool = false
    ) -> PurchaseFate {
        PurchaseFate(
            signedAt: Timestamp(milliseconds: signed),
            revokedAt: revoked.map(Timestamp.init(milliseconds:)), revocationReason: reason,
            expiresAt: until.map(Timestamp.init(milliseconds:)), isUpgraded: isUpgraded,
            takesRefundBack: takesRefundBack)
    }

    private static let all: [PurchaseFate] = [
        fate(1, nil), fate(1, 5), fate(1, 5, 0), fate(1, 5, 1), fate(1, 6, 1), fate(2, nil),
        fate(2, 5, 1), fate(1, nil, takesRefundBack: true), fate(1, nil, until: 9),
        fate(1, 5, until: 8, isUpgraded: true), fate(2, nil, until: 7, takesRefundBack: true),
    ]

    @Test func `of one date the word that takes a refund back holds, and the latest end`() {
        let back = Self.fate(1, nil, until: 8, takesRefundBack: true)
        #expect(back.merged(with: Self.fate(1, 5)) == back)
        #expect(back.merged(with: Self.fate(2, 5)) == Self.fate(2, 5))
        #expect(
            back.merged(with: Self.fate(1, nil, until: 9, isUpgraded: true))
                == Self.fate(1, nil, until: 9, isUpgraded: true, takesRefundBack: true))
        #expect(Self.fate(1, 5).merged(with: Self.fate(1, nil, until: 9)).expiresAt != nil)
    }

    @Test func `the latest word holds, and revoked before not`() {
        #expect(Self.fate(1, 5).merged(with: Self.fate(2, nil)) == Self.fate(2, nil))
        #expect(Self.fate(1, nil).merged(with: Self.fate(1, 5)) == Self.fate(1, 5))
        #expect(Self.fate(1, 6).merged(with: Self.fate(1, 5)) == Self.fate(1, 5))
        #expect(Self.fate(1, 5, 0).merged(with: Self.fate(1, 5, 1)) == Self.fate(1, 5, 1))
    }

    @Test func `the order of tellings is no matter, nor how often`() {
        for one in Self.all {
            #expect(one.merged(with: one) == one)
            for other in Self.all {
                let merged = one.merged(with: other)
                #expect(merged == other.merged(with: one))
                #expect(merged.merged(with: one) == merged)
                for third in Self.all {
                    #expect(
                        merged.merged(with: third)
                            == one.merged(with: other.merged(with: third)))
                }
            }
        }
    }

    @Test func `only fields that both proofs have are compared`() {
        func facts(_ price: Int64?, _ currency: String?) -> BookedFacts {
            BookedFacts(
                productID: "a", type: "Consumable", quantity: 1, purchasedAt: Book.now,
                originalTransactionID: "1", price: price, currency: currency)
        }
        #expect(facts(1, "USD").difference(from: facts(nil, nil)) == nil)
        #expect(facts(nil, nil).difference(from: facts(1, "USD")) == nil)
        #expect(facts(1, "USD").difference(from: facts(2, "USD")) == "price")
        #expect(facts(1, "USD").difference(from: facts(1, "EUR")) == "currency")
    }

    @Test(
        arguments: [
            ("Consumable", 0, nil, nil), ("Consumable", 1, nil, nil),
            ("Consumable", 2, nil, .spent), ("Non-Renewing Subscription", 1, nil, nil),
            ("Consumable", 1, 5, .revoked), ("Consumable", 2, 5, .revoked),
            ("Non-Consumable", 0, nil, .notRedeemable), ("Non-Consumable", 2, 5, .notRedeemable),
        ] as [(String, Int, Int64?, BookedPurchase.Unspendable?)])
    func `a purchase of two units has one to spend until both are`(
        type: String, spent: Int, revoked: Int64?, expected: BookedPurchase.Unspendable?
    ) throws {
        var payload = JWSTransactionDecodedPayload()
        (payload.transactionId, payload.originalTransactionId) = ("1", "1")
        (payload.productId, payload.type, payload.quantity) = ("a", type, 2)
        (payload.purchaseDate, payload.signedDate) = (Book.now, Book.now)
        payload.revocationDate = revoked.map(Timestamp.init(milliseconds:))
        let proven = try ProvenPurchase(
            payload, root: "r", environment: .sandbox, bundleID: "com.example.app")

        let purchase = BookedPurchase(proven, account: "blob", spent: spent, revision: 1)

        #expect(purchase.unspendable == expected)
        #expect(purchase.wire.unspent == (expected == nil ? 2 - spent : 0))
    }

    /// What the ledger should come to: tellings folded by hand.
    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func `tellings shuffled and doubled come to one book`(seed: UInt64) async throws {
        var generator = SeededGenerator(seed)
        var tellings: [(id: Int, later: Int64, isRevoked: Bool, account: String?)] = []
        for id in 1...4 {
            for later in 0..<Int64(3) {
                tellings.append(
                    (
                        id, later, Bool.random(using: &generator),
                        Bool.random(using: &generator) ? "blob" : nil
                    ))
            }
        }
        var expected: [String: Int] = [:]
        for id in 1...4 {
            let mine = tellings.filter { $0.id == id }
            guard mine.contains(where: { $0.account != nil }),
                let last = mine.max(by: { $0.later < $1.later }), !last.isRevoked
            else { continue }
            expected["\(2_000_000_000_000_000 + id)"] = 1
        }

        for _ in 0..<2 {
            let book = try await Book.open()
            for telling in (tellings + tellings).shuffled(using: &generator) {
                try await book.take(telling.id, account: telling.account) {
                    $0.signedDate = Book.now.adding(seconds: telling.later)
                    if telling.isRevoked { $0.revocationDate = Book.now }
                }
            }
            #expect(try await book.unspent() == expected, "seed \(seed)")
        }
    }

    @Test func `tellings at once come to one purchase`() async throws {
        let book = try await Book.open()

        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<24 {
                group.addTask {
                    try await book.take(account: number.isMultiple(of: 2) ? "blob" : nil) {
                        $0.quantity = 2
                        $0.signedDate = Book.now.adding(seconds: Int64(number % 3))
                    }
                }
            }
            try await group.waitForAll()
        }

        #expect(try await book.unspent() == ["2000000000000001": 2])
    }

    @Test func `of many accounts that race for one purchase one has it`() async throws {
        let book = try await Book.open()

        let owners = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<12 {
                group.addTask {
                    let told = try await refusal { try await book.take(account: "\(number)") }
                    #expect(told == nil || told == ["purchaseClaimed", "account"])
                    return told == nil ? "\(number)" : nil
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.compactMap { $0 }
        }

        #expect(owners.count == 1)
        #expect(try await book.unspent(owners.first ?? "").count == 1)
    }
}
