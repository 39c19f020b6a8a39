// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop

/// Lists of a realm whose customers are on two clusters: in the order that
/// they have on one, whatever the page.
@Suite(.timeLimit(.minutes(5))) struct ClusterListTests {
    private let names = ["ann", "bob", "cid", "dan", "eve", "fay"]

    /// Customers on both clusters, with two purchases and a session each.
    private func world() async throws -> TestWorld {
        let world = try await TestWorld.open(places: TestPlaces(far: [TestClusters.far]))
        for name in names {
            _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: name))
        }
        for name in names.reversed() {
            let session = try await world.session(customer: name)
            for number in 1...2 {
                try await world.buy("credits.5", purchaseID(number), session: session)
            }
        }
        return world
    }

    /// All pages of a list, each asked for where the one before ended.
    private func pages<Element>(
        _ page: (_ after: String?) async throws -> ([Element], next: String?)
    ) async throws -> [[Element]] {
        var (pages, after) = ([[Element]](), String?.none)
        repeat {
            let (elements, next) = try await page(after)
            if !elements.isEmpty { pages.append(elements) }
            after = next
        } while after != nil
        return pages
    }

    @Test(arguments: [1, 2, 3, 5, 100])
    func `customers are merged in the order of their numbers`(limit: Int) async throws {
        let world = try await world()

        let pages = try await pages { after in
            let customers = try await world.realm.customers.listCustomers(
                after: after, limit: limit)
            return (customers, customers.count == limit ? customers.last?.customerId : nil)
        }

        #expect(pages.joined().map(\.name) == ["customer"] + names)
        #expect(pages.dropLast().allSatisfy { $0.count == limit })
    }

    @Test(arguments: [1, 2, 3, 5, 100])
    func `transactions are merged by customer and commit`(limit: Int) async throws {
        let world = try await world()

        let pages = try await pages { after in
            let list = try await world.realm.purchases.listTransactions(after: after, limit: limit)
            return (list.transactions, list.next)
        }

        let found = pages.flatMap { $0 }.map { $0.customerId + "/" + ($0.purchaseId ?? "") }
        #expect(found == found.sorted() && Set(found).count == 12 && found.count == 12)
        #expect(pages.dropLast().allSatisfy { $0.count == limit })
    }

    @Test(arguments: [1, 2, 3, 5, 100])
    func `purchases are merged by customer, app and id`(limit: Int) async throws {
        let world = try await world()

        let pages = try await pages { after in
            let list = try await world.realm.purchases.listPurchases(after: after, limit: limit)
            return (list.purchases, list.next)
        }

        let found = pages.flatMap { $0 }.map { $0.customerId + "/" + $0.purchaseId }
        #expect(found == found.sorted() && Set(found).count == 12 && found.count == 12)
        #expect(pages.dropLast().allSatisfy { $0.count == limit })
    }

    @Test func `purchases in several apps are merged in the order of the apps`() async throws {
        let world = try await world()
        let first: BundleID = "com.example.another"
        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: first))
        for name in names {
            let session = try await world.session(customer: name, bundleID: first.value)
            try await world.buy("credits.5", purchaseID(3), session: session)
        }

        let list = try await world.realm.purchases.listPurchases().purchases

        // By its id alone, the third would come last.
        let ids = names.flatMap { _ in [3, 1, 2].map(purchaseID) }
        #expect(list.map(\.purchaseId) == ids)
        #expect(list.map(\.customerId) == list.map(\.customerId).sorted())
    }

    @Test(arguments: [1, 2, 4, 100])
    func `sessions are merged by customer`(limit: Int) async throws {
        let world = try await world()

        let pages = try await pages { after in
            let list = try await world.realm.customers.listSessions(after: after, limit: limit)
            return (list.sessions, list.next)
        }

        let found = pages.flatMap { $0 }.map(\.customerId)
        #expect(found == found.sorted() && Set(found).count == 6 && found.count == 6)
    }

    @Test func `what is one customer's is asked of one cluster`() async throws {
        let world = try await world()
        let customers = try await world.realm.customers.listCustomers()
        let map = world.realm.clusters.map
        let near = try #require(
            customers.first { Int64($0.customerId).map { map.cluster(of: $0) } == 0 })
        world.places.down.withLock { _ = $0.insert(TestClusters.far) }

        let sold = try await world.realm.purchases.listTransactions(customer: near.customerId)
        let sessions = try await world.realm.customers.listSessions(customer: near.customerId)

        #expect(sold.transactions.count == 2)
        #expect(sessions.sessions.count == 1)
    }

    @Test func `a transaction is found by its number alone`() async throws {
        let world = try await world()
        for record in try await world.realm.purchases.listTransactions().transactions {
            let id = try world.verified(record.signedTransactionInfo).transactionId
            let number = try #require(id.flatMap { Int64($0) })
            let rows = try await world.realm.clusters.of(number: number).read {
                try $0.query(Statement.Transactions.byID, [.integer(number)])
            }
            #expect(rows.count == 1)
        }
    }
}
