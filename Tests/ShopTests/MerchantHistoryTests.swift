// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

/// A merchant's server reads what a customer has bought, and goes on later where it ended.
@Suite(.timeLimit(.minutes(5))) struct MerchantHistoryTests {
    /// The transactions of an answer, and the revision to go on from.
    private struct Listed: Hashable {
        let ids: [String]
        let revision: String
        var hasMore = false
    }

    private func history(
        of id: String, from revision: String? = nil, sort: String = "ASCENDING",
        filters: [String: [String]] = [:], isFirstVersion: Bool = false,
        _ merchant: Merchant, _ world: TestWorld
    ) async throws -> Listed {
        let answer = try await merchant.history(
            of: id, omitsFinishedConsumables: isFirstVersion
        ) { name in
            switch name {
            case "revision": revision.map { [$0] } ?? []
            case "sort": [sort]
            default: filters[name] ?? []
            }
        }
        return Listed(
            ids: try answer.signedTransactions.map { try world.verified($0).transactionId ?? "" },
            revision: answer.revision, hasMore: answer.hasMore)
    }

    private func refunds(
        of id: String, from revision: String? = nil, _ merchant: Merchant, _ world: TestWorld
    ) async throws -> Listed {
        let answer = try await merchant.refundHistory(of: id, revision: revision)
        return Listed(
            ids: try answer.signedTransactions.map { try world.verified($0).transactionId ?? "" },
            revision: answer.revision, hasMore: answer.hasMore)
    }

    private func sell(_ numbers: ClosedRange<Int>, _ world: TestWorld) async throws -> [String] {
        let session = try await world.session()
        var ids: [String] = []
        for n in numbers { ids.append(try await world.sell("credits.5", n, session)) }
        return ids
    }

    @Test func `a list goes on from its revision, and another list's revision is refused`()
        async throws
    {
        let world = try await TestWorld.open()
        let merchant = try await world.merchant()
        let first = try await sell(1...3, world)
        _ = try await world.decide(first[0], "granted")
        let up = try await history(of: first[0], merchant, world)
        let down = try await history(of: first[0], sort: "DESCENDING", merchant, world)
        let refunded = try await refunds(of: first[0], merchant, world)
        let later = try await sell(4...5, world)

        #expect(up.ids == [first[1], first[2], first[0]] && down.ids == up.ids.reversed())
        #expect(try await history(of: first[0], from: up.revision, merchant, world).ids == later)
        #expect(
            try await history(
                of: first[0], from: down.revision, sort: "DESCENDING", merchant, world
            ).ids.isEmpty)
        #expect(
            try await refunds(of: first[0], from: refunded.revision, merchant, world).ids.isEmpty)
        for wrong in [down.revision, refunded.revision] {
            let code = try await appleError {
                try await history(of: first[0], from: wrong, merchant, world)
            }
            #expect(code == 4_000_005, "\(wrong)")
        }
        for wrong in [up.revision, down.revision, "a_1807618613387_\(first[0])"] {
            let code = try await appleError {
                try await refunds(of: first[0], from: wrong, merchant, world)
            }
            #expect(code == 4_000_005, "\(wrong)")
        }
    }

    @Test func `a revision is refused for another customer and with other filters`() async throws {
        let world = try await TestWorld.open()
        let merchant = try await world.merchant()
        let first = try await sell(1...2, world)
        _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "bob"))
        let other = try await world.sell(
            "credits.5", 1, try await world.session(customer: "bob"))
        let filters = ["productId": ["credits.5", "pro"], "startDate": ["1"]]
        let all = try await history(of: first[0], merchant, world)
        let filtered = try await history(of: first[0], filters: filters, merchant, world)
        let refunded = try await refunds(of: first[0], merchant, world)
        let later = try await sell(3...3, world)
        func code(
            _ id: String, _ revision: String, _ filters: [String: [String]] = [:],
            isFirstVersion: Bool = false
        ) async throws -> Int? {
            try await appleError {
                try await history(
                    of: id, from: revision, filters: filters, isFirstVersion: isFirstVersion,
                    merchant, world)
            }
        }

        #expect(try await code(other, all.revision) == 4_000_005)
        #expect(try await code(first[0], all.revision, filters) == 4_000_005)
        #expect(try await code(first[0], all.revision, isFirstVersion: true) == 4_000_005)
        #expect(try await code(first[0], filtered.revision) == 4_000_005)
        let fewer = ["productId": ["pro"], "startDate": ["1"]]
        #expect(try await code(first[0], filtered.revision, fewer) == 4_000_005)
        let refused = try await appleError {
            try await refunds(of: other, from: refunded.revision, merchant, world)
        }
        #expect(refused == 4_000_005)
        // Any transaction names the customer, and the order of values says nothing.
        let same = ["startDate": ["1"], "productId": ["pro", "credits.5"]]
        let goneOn = try await history(
            of: later[0], from: filtered.revision, filters: same, merchant, world)
        #expect(goneOn.ids == later)
    }

    /// An earlier version gave out revisions without the generation.
    @Test func `a revision without a generation is valid up to what the history has reached`()
        async throws
    {
        let world = try await TestWorld.open()
        let merchant = try await world.merchant()
        let first = try await sell(1...2, world)
        let parts = try await history(of: first[0], merchant, world).revision
            .split(separator: "_").map(String.init)
        try #require(parts.count == 5)
        let revision = try #require(Int64(parts[2]))
        let later = try await sell(3...4, world)

        let goneOn = try await history(
            of: first[0], from: "a_\(revision)_\(parts[3])", merchant, world)
        let begun = try await history(of: first[0], from: "a_none_0", merchant, world)

        #expect(goneOn.ids == later && begun.ids == first + later)
        for wrong in ["a_\(revision + 1000)_1", "a_7_\(revision)_1", "a_\(Int64.max)_1"] {
            let code = try await appleError {
                try await history(of: first[0], from: wrong, merchant, world)
            }
            #expect(code == 4_000_005, "\(wrong)")
        }
    }

    /// The customer's revisions begin again at the snapshot's, so that the stored one may
    /// soon be less than those of new sales.
    @Test(.enabled(if: !TestClusters.areShared))
    func `a revision of before a loaded snapshot is refused, whatever is sold since`()
        async throws
    {
        let world = try await TestWorld.open()
        let merchant = try await world.merchant()
        let kept = try await sell(1...1, world)
        _ = try await world.realm.keeping.saveSnapshot(
            SaveSnapshotRequest(name: "a"), TestWorld.context)
        let lost = try await sell(2...4, world)
        _ = try await world.decide(lost[0], "granted")
        let stored = try await history(of: kept[0], merchant, world).revision
        let refunded = try await refunds(of: kept[0], merchant, world).revision

        _ = try await world.realm.keeping.loadSnapshot("a", TestWorld.context)

        var sold = kept
        for numbers in [5...6, 7...14] {
            sold += try await sell(numbers, world)
            let codes = [
                try await appleError {
                    try await history(of: kept[0], from: stored, merchant, world)
                },
                try await appleError {
                    try await refunds(of: kept[0], from: refunded, merchant, world)
                },
            ]
            #expect(codes == [4_000_005, 4_000_005])
        }
        let again = try await history(of: kept[0], merchant, world)
        #expect(again.ids == sold)
        let next = try await sell(15...15, world)
        #expect(try await history(of: kept[0], from: again.revision, merchant, world).ids == next)
    }

    @Test func `a refund after a clock was set back comes after those before`() async throws {
        let world = try await TestWorld.open()
        let merchant = try await world.merchant()
        let first = try await sell(1...1, world)[0]
        _ = try await world.decide(first, "granted")
        let stored = try await refunds(of: first, merchant, world)
        _ = try await world.realm.moveClock(
            MoveClockRequest(standAt: TestWall.start.adding(seconds: -3 * 86_400)),
            TestWorld.context)
        let second = try await sell(2...2, world)[0]
        _ = try await world.decide(second, "granted")

        let next = try await refunds(of: first, from: stored.revision, merchant, world)
        let last = try await merchant.refundHistoryV1(of: first).signedTransactions.map {
            try world.verified($0).transactionId ?? ""
        }

        #expect(stored.ids == [first] && next.ids == [second])
        #expect(last == [second, first])
    }

    @Test func `refunds have pages of twenty, and each refund is on one`() async throws {
        let world = try await TestWorld.open()
        let merchant = try await world.merchant()
        let sold = try await sell(1...23, world)
        for id in sold.dropFirst(2) { _ = try await world.decide(id, "granted") }

        let page = try await refunds(of: sold[0], merchant, world)
        let rest = try await refunds(of: sold[0], from: page.revision, merchant, world)

        #expect(page.hasMore && !rest.hasMore)
        #expect(page.ids.count == 20 && page.ids + rest.ids == Array(sold.dropFirst(2)))
    }
}
