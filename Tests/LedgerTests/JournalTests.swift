// SPDX-License-Identifier: Apache-2.0

import Commerce
import Ledger
import SignedData
import Storage
import StoreWire
import TestSupport
import Testing

@testable import JournalServer

/// The purchase code of the sample's server, on both engines: redemption in a
/// transaction of the merchant's own.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct JournalTests {
    private static let year = Book.now.adding(Period(1, .year))
    private static let twoYears = year.adding(Period(1, .year))

    /// The server, over storage that may die.
    private static func open(
        _ storage: any Storage, clock: WallClock = .standing(at: Book.now)
    ) async throws -> Purchases {
        let book = try await Book.open(apps: ["com.example.journal"], storage: storage)
        try await Journals.open(["travels", "garden"], in: storage)
        return Purchases(ledger: book.ledger, storage: storage, clock: clock)
    }

    private static func receipt(_ ids: [Int], quantity: Int64 = 1) throws -> String {
        try Book.receipt(
            ids.map {
                Book.record(
                    $0, quantity: quantity, product: ProductID(Purchases.year),
                    type: .nonRenewing)
            }, bundleID: "com.example.journal")
    }

    private static func id(_ number: Int, year: Int = 1) -> String {
        "\(2_000_000_000_000_000 + number)/\(year)"
    }

    private static func end(
        _ journal: String, _ storage: any Storage
    ) async throws -> Timestamp {
        try await storage.read { try Journals.find(journal, $0).commentsUntil }
    }

    @Test func `a paid year is listed, used once, and extends from the later end`() async throws {
        let storage = try await Shelf.storage()
        let server = try await Self.open(storage)

        let before = try await server.verify(Self.receipt([1, 2]), of: "ann")
        #expect(before.unusedPurchase.map(\.id) == [Self.id(1), Self.id(2)])
        #expect(before.booked == before.unusedPurchase.map(\.transactionId))
        let first = try await server.enableComments(
            on: "travels", with: Self.id(1), of: "ann")
        let again = try await server.enableComments(
            on: "travels", with: Self.id(1), of: "ann")
        #expect(first.commentsUntil == Self.year)
        #expect(again == first)
        let after = try await server.verify(Self.receipt([1, 2]), of: "ann")
        #expect(after.unusedPurchase.map(\.id) == [Self.id(2)])
        let second = try await server.enableComments(
            on: "travels", with: Self.id(2), of: "ann")
        #expect(second.commentsUntil == Self.twoYears)
    }

    @Test func `an unknown journal or a year of another writer spends nothing`() async throws {
        let storage = try await Shelf.storage()
        let server = try await Self.open(storage)
        _ = try await server.verify(Self.receipt([1]), of: "ann")

        await #expect(throws: UnknownJournal()) {
            try await server.enableComments(on: "moon", with: Self.id(1), of: "ann")
        }
        let stolen = try await refusal {
            try await server.enableComments(on: "travels", with: Self.id(1), of: "bob")
        }
        let claimed = try await server.verify(Self.receipt([1]), of: "bob")
        let left = try await server.verify(Self.receipt([1]), of: "ann")

        #expect(stolen?.first == "purchaseUnknown")
        #expect(claimed == Verified(unusedPurchase: [], booked: []))
        #expect(left.unusedPurchase.map(\.id) == [Self.id(1)])
        #expect(try await Self.end("travels", storage) == Timestamp(milliseconds: 0))
    }

    @Test func `a year that was used for one journal is not used for another`() async throws {
        let storage = try await Shelf.storage()
        let server = try await Self.open(storage)
        _ = try await server.verify(Self.receipt([1]), of: "ann")
        _ = try await server.enableComments(on: "travels", with: Self.id(1), of: "ann")

        let told = try await refusal {
            try await server.enableComments(on: "garden", with: Self.id(1), of: "ann")
        }

        #expect(told == ["redemptionContradicts", "purpose"])
        #expect(try await Self.end("garden", storage) == Timestamp(milliseconds: 0))
    }

    @Test func `a payment for two is two years, each used once`() async throws {
        let storage = try await Shelf.storage()
        let server = try await Self.open(storage)
        let receipt = try Self.receipt([1], quantity: 2)

        for year in 1...2 {
            let unused = try await server.verify(receipt, of: "ann").unusedPurchase
            #expect(unused.map(\.id) == [Self.id(1, year: year)])
            for _ in 1...2 {
                _ = try await server.enableComments(
                    on: "travels", with: unused[0].id, of: "ann")
            }
        }

        #expect(try await server.verify(receipt, of: "ann").unusedPurchase == [])
        #expect(try await Self.end("travels", storage) == Self.twoYears)
    }

    /// Two devices that tap again and again, on two processes of the server.
    @Test func `many taps at once use one year, also for one journal of two writers`()
        async throws
    {
        let (one, other) = try await Shelf.pair()
        let servers = [try await Self.open(one), try await Self.open(other)]
        _ = try await servers[0].verify(Self.receipt([1]), of: "ann")
        _ = try await servers[0].verify(Self.receipt([2]), of: "bob")

        try await withThrowingTaskGroup(of: Void.self) { group in
            for tap in 0..<16 {
                group.addTask {
                    _ = try await servers[tap % 2].enableComments(
                        on: "travels", with: Self.id(1 + tap / 2 % 2),
                        of: tap / 2 % 2 == 0 ? "ann" : "bob")
                }
            }
            try await group.waitForAll()
        }

        #expect(try await Self.end("travels", one) == Self.twoYears)
    }

    /// The server dies before and after everything that it asks of its database,
    /// and before and after every statement of a transaction: all of them on SQLite, and
    /// a share on PostgreSQL. The app asks again.
    @Test func `a server that dies anywhere uses one purchase for one year`() async throws {
        let receipt = try Self.receipt([1, 2])
        func run(_ cut: Knife.Cut?) async throws -> Knife {
            let knife = Knife(cut)
            let storage = try await Shelf.storage()
            _ = try await knife.walk(deathsMax: 2) {
                let server = try await Self.open(CutStorage(storage: storage, knife: knife))
                let unused = try await server.verify(receipt, of: "ann").unusedPurchase
                // Used before the death, or now.
                if unused.map(\.id).contains(Self.id(1)) {
                    _ = try await server.enableComments(
                        on: "travels", with: Self.id(1), of: "ann")
                }
            }
            #expect(try await Self.end("travels", storage) == Self.year, "\(cut as Any)")
            let left = try await Self.open(storage).verify(receipt, of: "ann")
            #expect(left.unusedPurchase.map(\.id) == [Self.id(2)], "\(cut as Any)")
            return knife
        }

        let calls = try await run(nil).calls
        #expect(calls > 15)
        var fired = 0
        let cuts = SeededShare.of(0..<calls, oneIn: Shelf.isOnPostgres ? 6 : 1)
        for call in cuts {
            for side in Knife.Side.allCases { fired += try await run((call, side)).fired }
        }
        #expect(fired == 2 * cuts.count)
    }
}
