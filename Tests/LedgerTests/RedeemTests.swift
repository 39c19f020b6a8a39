// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire
import Testing

@testable import Ledger

@Suite(.timeLimit(.minutes(5))) struct RedeemTests {
    @Test func `a unit is spent once, and a repeat gets the same answer`() async throws {
        let book = try await Book.open()
        try await book.take()

        let spent = try await book.redeem()
        let again = try await book.redeem()

        #expect(spent == again)
        #expect(spent.unit == 1)
        #expect(spent.environment == "Sandbox")
        #expect(spent.redeemedDate == Book.now)
        #expect(try await book.unspent().isEmpty)
        #expect(
            try await refusal { try await book.redeem("order-2") }
                == ["purchaseSpent", "transactionId"])
    }

    @Test func `a transaction of three has three units`() async throws {
        let book = try await Book.open()
        try await book.take { $0.quantity = 3 }

        var units: [Int] = []
        for key in 1...3 { units.append(try await book.redeem("order-\(key)").unit) }

        #expect(units == [1, 2, 3])
        #expect(try await refusal { try await book.redeem("order-4") }?.first == "purchaseSpent")
        #expect(try await book.redeem("order-2").unit == 2)
    }

    @Test func `a product is spent oldest first`() async throws {
        let book = try await Book.open()
        try await book.take(2)
        try await book.take(1)
        try await book.take(3) { $0.productId = "other" }

        let first = try await book.redeem("a", id: nil, product: "credits.5")
        let second = try await book.redeem("b", id: nil, product: "credits.5")
        let third = try await refusal {
            try await book.redeem("c", id: nil, product: "credits.5")
        }

        #expect([first, second].map(\.transactionId) == ["2000000000000001", "2000000000000002"])
        #expect(third == ["purchaseSpent", "productId"])
        #expect(try await book.unspent() == ["2000000000000003": 1])
    }

    @Test func `one key is one redemption`() async throws {
        let book = try await Book.open(environments: [.sandbox, .production])
        try await book.take { $0.quantity = 3 }
        let spent = try await book.redeem(environment: "Sandbox")

        let purpose = try await refusal {
            try await book.redeem(purpose: "other", environment: "Sandbox")
        }
        let transaction = try await refusal {
            try await book.redeem(id: 2, environment: "Sandbox")
        }
        let product = try await refusal {
            try await book.redeem(product: "credits.5", environment: "Sandbox")
        }
        let environment = try await refusal { try await book.redeem(environment: "Production") }

        #expect(purpose == ["redemptionContradicts", "purpose"])
        #expect(transaction == ["redemptionContradicts", "transactionId"])
        #expect(product == ["redemptionContradicts", "productId"])
        #expect(environment == ["redemptionContradicts", "environment"])
        #expect(try await book.redeem(environment: "Sandbox") == spent)
        #expect(try await book.unspent(environment: "Sandbox") == ["2000000000000001": 2])
    }

    @Test func `one key is one redemption, also where two apps sell the same`() async throws {
        let other: BundleID = "com.example.other"
        let book = try await Book.open(apps: [Book.bundleID, other])
        try await book.take()
        try await book.take { $0.bundleId = other.value }
        func redeem(_ bundleID: BundleID) async throws -> LedgerRedemption {
            try await book.ledger.redeem(
                RedeemRequest(
                    idempotencyKey: "order-1", productId: "credits.5", purpose: "feed a monkey",
                    bundleId: bundleID.value), account: "blob")
        }

        let spent = try await redeem(Book.bundleID)
        let crossed = try await refusal { try await redeem(other) }

        #expect(spent.bundleId == Book.bundleID.value)
        #expect(crossed == ["redemptionContradicts", "bundleId"])
        #expect(try await redeem(Book.bundleID) == spent)
        #expect(
            try await book.ledger.unspent(account: "blob").purchases.map(\.bundleId)
                == [other.value])
    }

    @Test func `sandbox proof never grants production goods`() async throws {
        let book = try await Book.open(environments: [.sandbox, .production])
        try await book.take()
        try await book.take(2, by: try Book.production()) { $0.environment = "Production" }

        let unnamed = try await refusal { try await book.redeem(id: nil, product: "credits.5") }
        let sandbox = try await refusal { try await book.redeem(environment: "Production") }
        let live = try await book.redeem(
            id: nil, product: "credits.5", environment: "Production")
        let more = try await refusal {
            try await book.redeem("b", id: nil, product: "credits.5", environment: "Production")
        }

        #expect(unnamed == ["environmentMissing", "environment"])
        #expect(sandbox == ["purchaseUnknown", "transactionId"])
        #expect(live.transactionId == "2000000000000002")
        #expect(more == ["purchaseSpent", "productId"])
        #expect(try await book.unspent(environment: "Production").isEmpty)
        #expect(try await book.unspent(environment: "Sandbox").count == 1)
        #expect(try await refusal { try await book.unspent() }?.first == "environmentMissing")
    }

    @Test func `what was revoked is not redeemed, what was reversed is`() async throws {
        let book = try await Book.open()
        try await book.take { $0.quantity = 2 }
        let spent = try await book.redeem()
        let revoked = try await book.take {
            $0.quantity = 2
            $0.signedDate = Book.now.adding(seconds: 1)
            $0.revocationDate = Book.now
            $0.revocationReason = 1
        }

        #expect(revoked.unspent == 0)
        #expect(
            try await refusal { try await book.redeem("order-2") }
                == ["purchaseRevoked", "transactionId"])
        #expect(try await book.redeem() == spent)

        try await book.take {
            $0.quantity = 2
            $0.signedDate = Book.now.adding(seconds: 2)
        }
        #expect(try await book.redeem("order-2").unit == 2)
    }

    @Test func `a purchase of another account or kind, or without one, is not redeemed`()
        async throws
    {
        let book = try await Book.open()
        try await book.take(1, account: "glob")
        try await book.take(2, account: nil)
        try await book.take(3) { $0.type = "Non-Consumable" }

        #expect(
            try await refusal { try await book.redeem() } == ["purchaseUnknown", "transactionId"])
        #expect(try await refusal { try await book.redeem(id: 2) }?.first == "purchaseUnknown")
        #expect(try await refusal { try await book.redeem(id: 3) }?.first == "notRedeemable")
        #expect(
            try await refusal { try await book.redeem(account: "nobody") }?.first
                == "purchaseUnknown")
        #expect(
            try await refusal { try await book.redeem(id: nil) }
                == ["purchaseUnnamed", "transactionId"])
    }

    @Test func `a refused key is free for another try`() async throws {
        let book = try await Book.open()
        #expect(try await refusal { try await book.redeem() }?.first == "purchaseUnknown")

        try await book.take()

        #expect(try await book.redeem().unit == 1)
    }

    @Test func `of many that race for one unit one wins`() async throws {
        let book = try await Book.open()
        try await book.take()

        let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
            for racer in 0..<24 {
                group.addTask {
                    try await refusal { try await book.redeem("racer-\(racer)") } == nil
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(outcomes.count { $0 } == 1)
        #expect(try await book.unspent().isEmpty)
    }

    @Test func `concurrent redemptions under one key get the same answer`() async throws {
        let book = try await Book.open()
        try await book.take { $0.quantity = 5 }

        let told = try await withThrowingTaskGroup(of: LedgerRedemption.self) { group in
            for _ in 0..<24 { group.addTask { try await book.redeem() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(Set(told).count == 1)
        #expect(try await book.unspent() == ["2000000000000001": 4])
    }

    @Test func `two ledgers of one book spend each unit once`() async throws {
        let (one, other) = try await Shelf.pair()
        let books = [
            try await Book.open(storage: one), try await Book.open(storage: other),
        ]
        for id in 1...3 { try await books[0].take(id) { $0.quantity = 6 } }

        let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
            for racer in 0..<30 {
                group.addTask {
                    do {
                        let spent = try await books[racer % 2].redeem(
                            "racer-\(racer)", id: nil, product: "credits.5")
                        return "\(spent.transactionId)/\(spent.unit)"
                    } catch let refusal as LedgerRefusal {
                        return refusal.error.code
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        let spent = outcomes.filter { $0 != "purchaseSpent" }
        #expect(spent.count == 18)
        #expect(Set(spent).count == 18)
        #expect(try await books[1].unspent().isEmpty)
    }
}
