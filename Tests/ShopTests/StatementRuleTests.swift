// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Testing

@testable import Shop
@testable import Work

/// Rules that a statement keeps by itself: what was judged before it runs may be old.
@Suite(.timeLimit(.minutes(5))) struct StatementRuleTests {
    private let later: [SQLValue] = [.integer(7_000), .integer(99)]

    private func sold() async throws -> (TestWorld, PurchaseKey, any Storage) {
        let world = try await TestWorld.open()
        let session = try await world.session()
        try await world.buy("credits.5", purchaseID(1), session: session)
        let key = PurchaseKey(
            customer: session.customer, bundleID: session.bundleID,
            purchaseID: PurchaseID(purchaseID(1)))
        return (world, key, world.realm.storage(of: session.customer))
    }

    @Test func `a purchase that is sold is neither settled nor answered`() async throws {
        let (world, key, storage) = try await sold()
        let values: [SQLValue] =
            [.text("refused"), .text("processor")] + Array(repeating: .null, count: 6) + later

        for state in ["authorising", "waiting", "asked", "refused"] {
            let moved = try await storage.write {
                try $0.first(
                    Statement.Purchases.move, key.values + [.text(state)] + values) != nil
            }
            #expect(!moved, "from \(state)")
        }
        #expect(try await world.realm.purchases.purchaseRow(key)?.state.word == "sold")
    }

    @Test func `a purchase is voided once and captured once`() async throws {
        let (world, key, storage) = try await sold()
        for date in [5, 7] as [Int64] {
            try await storage.write {
                try $0.execute(Statement.Purchases.setVoided, key.values + [.integer(date)])
                try $0.execute(Statement.Purchases.setCaptured, key.values + [.integer(date)])
            }
        }

        let dates = Statement("test.dates", "SELECT voided_at, captured_at FROM purchases")
        let row = try #require(try await world.realm.rows(dates).first)
        #expect(try row.optionalInteger("voided_at") == 5)
        #expect(try row.optionalInteger("captured_at") == 5)
    }

    @Test func `a transaction is finished once`() async throws {
        let (world, key, storage) = try await sold()
        let all = Statement("test.transactions", "SELECT transaction_id FROM transactions")
        let number = try #require(try await world.realm.rows(all).first).integer(
            "transaction_id")
        func finish(_ customer: Int64, _ app: String, _ revision: Int64) async throws -> Bool {
            let values: [SQLValue] = [
                .integer(customer), .text(app), .integer(number), .integer(7_000),
                .integer(revision),
            ]
            return try await storage.write {
                try $0.first(Statement.Transactions.finish, values) != nil
            }
        }

        let (customer, app) = (key.customer.value, key.bundleID.value)
        #expect(try await !finish(customer + 1, app, 9))
        #expect(try await !finish(customer, "com.example.other", 9))
        #expect(try await finish(customer, app, 9))
        #expect(try await !finish(customer, app, 10))
    }

    /// An errand that somebody holds, at its first attempt.
    private static func held(_ key: [SQLValue], dueAt: Int64) -> [SQLValue] {
        RealmSchema.errands.row([
            "customer_id": key[0], "kind": key[1], "subject": key[2], "lane": .text("lane"),
            "due_at": .integer(dueAt), "attempt": .integer(1), "fence": .integer(1),
            "lease_until": .integer(9),
        ])
    }

    /// Another process may have taken the errand since.
    @Test func `an errand is changed by its latest holder alone`() async throws {
        let (world, key, storage) = try await sold()
        let id: [SQLValue] = [.integer(key.customer.value), .text("kind"), .text("subject")]
        try await storage.write {
            try $0.execute(
                Statement.Errands.insertHeld, Self.held(id, dueAt: 5))
        }
        let old = id + [.integer(0)]

        let isChanged = try await storage.write { writing in
            let rows = [
                try writing.first(Statement.Errands.hold, old + [.integer(50)]),
                try writing.first(Statement.Errands.postpone, old + [.integer(50)]),
                try writing.first(Statement.Errands.remove, old),
            ]
            try writing.execute(Statement.Errands.release, old)
            return rows.contains { $0 != nil }
        }

        #expect(!isChanged)
        let all = Statement(
            "test.errand",
            "SELECT due_at, attempt, fence, lease_until FROM errands WHERE kind = 'kind'")
        let row = try #require(try await world.realm.rows(all).first)
        let numbers = try ["due_at", "attempt", "fence", "lease_until"].map { try row.integer($0) }
        #expect(numbers == [5, 1, 1, 9])
    }

    @Test func `a page of errands begins after the last, and each taking is one attempt`()
        async throws
    {
        let (world, key, storage) = try await sold()
        // Its databases are closed when it goes.
        defer { withExtendedLifetime(world) {} }
        let customer = SQLValue.integer(key.customer.value)
        for subject in ["a", "b"] {
            try await storage.write {
                try $0.execute(
                    Statement.Errands.insertHeld,
                    Self.held([customer, .text("kind"), .text(subject)], dueAt: 5))
            }
        }

        let page = try await storage.read {
            try $0.query(
                Statement.Errands.page, [.text("kind"), customer, .text("a"), .integer(9)])
        }
        let early = try await take("a", of: customer, at: 8, storage)
        let taken = try #require(try await take("a", of: customer, at: 9, storage))

        #expect(try page.map { try $0.text("subject") } == ["b"])
        #expect(early == nil)
        #expect(try taken.integer("attempt") == 2)
        #expect(try taken.integer("fence") > 1)
    }

    @Test func `an errand that is put off as far as it can be is not brought forward`()
        async throws
    {
        let (world, key, storage) = try await sold()
        // Its databases are closed when it goes.
        defer { withExtendedLifetime(world) {} }
        let id: [SQLValue] = [.integer(key.customer.value), .text("kind"), .text("a")]
        func move(dueAfter latest: Int64, attempts: ClosedRange<Int64>) async throws -> Int {
            let values: [SQLValue] = [
                .text("kind"), .integer(attempts.lowerBound), .integer(attempts.upperBound),
                .integer(latest), .integer(7), .text(""), .integer(0),
            ]
            return try await storage.write {
                try $0.query(Statement.Errands.bringForward, values).count
            }
        }
        try await storage.write {
            try $0.execute(
                Statement.Errands.insertHeld, Self.held(id, dueAt: 500))
        }

        #expect(try await move(dueAfter: 500, attempts: 1...1) == 0)
        #expect(try await move(dueAfter: 499, attempts: 2...9) == 0)
        #expect(try await move(dueAfter: 499, attempts: 0...0) == 0)
        #expect(try await move(dueAfter: 499, attempts: 1...1) == 1)
        #expect(try await move(dueAfter: 499, attempts: 1...1) == 0)
    }

    private func take(
        _ subject: String, of customer: SQLValue, at now: Int64, _ storage: any Storage
    ) async throws -> Row? {
        try await storage.write {
            try $0.first(
                Statement.Errands.take,
                [customer, .text("kind"), .text(subject), .integer(now), .integer(now + 10)])
        }
    }

    @Test func `purchases are listed page by page, each of them once`() async throws {
        let world = try await TestWorld.open()
        for name in ["one", "two"] {
            _ = try await world.realm.customers.createCustomer(
                CreateCustomerRequest(name: name, asksToBuy: true))
            let session = try await world.session(customer: name)
            try await world.buy("credits.5", purchaseID(1), session: session)
            try await world.buy("credits.10", purchaseID(2), session: session)
        }
        for state in [nil, "waiting"] {
            var (seen, after): ([String], String?) = ([], nil)
            repeat {
                let page = try await world.realm.purchases.listPurchases(
                    state: state, after: after, limit: 1)
                seen += page.purchases.map { "\($0.customerId)/\($0.purchaseId)" }
                after = page.next
            } while after != nil && seen.count < 9

            #expect(seen == seen.sorted())
            #expect(Set(seen).count == 4 && seen.count == 4)
        }
    }
}
