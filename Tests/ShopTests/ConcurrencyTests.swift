// SPDX-License-Identifier: Apache-2.0

import Commerce
import Dispatch
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop

@Suite(.timeLimit(.minutes(5))) struct ConcurrencyTests {
    @Test func `64 requests with one purchase id make one transaction`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()

        let responses = try await withThrowingTaskGroup(of: PurchaseResponse.self) { group in
            for _ in 0..<64 {
                group.addTask { try await world.buy(purchaseID(1), session: session) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        let ids = try Set(
            responses.map { try world.verified($0.signedTransaction).transactionId })
        #expect(responses.count == 64)
        #expect(ids.count == 1)
        #expect(Set(responses.map(\.revision)).count == 1)
        #expect(try await world.outbox().count == 1)
    }

    /// Otherwise a purchase may bear an earlier date than what it waited for.
    @Test func `a commit that waited for the line is dated when it gets it`() async throws {
        let wall = TestWall()
        let world = try await TestWorld.open(wall: wall)
        let (customer, realm) = (try await world.session().customer, world.realm)
        let isHeld = Mutex(false)
        let isAsked = DispatchSemaphore(value: 0)

        async let first = realm.lineOrLeave(of: customer) { line -> Ending<Timestamp> in
            isHeld.withLock { $0 = true }
            _ = isAsked.wait(timeout: .now() + 60)
            isAsked.signal()
            wall.advance(seconds: 10)
            return .leave(line.now)
        }
        await until("the line is held") { isHeld.withLock { $0 } }
        isAsked.signal()
        let second = try await realm.lineOrLeave(of: customer) { .leave($0.now) }.answer

        #expect(try await first.answer.adding(seconds: 10) <= second)
    }

    @Test func `64 requests with one purchase id make one charge`() async throws {
        let processor = ScriptedProcessor([.approve])
        let world = try await TestWorld.open(processor: processor)
        let session = try await world.session()

        let states = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<64 {
                group.addTask { try await world.buy(purchaseID(1), session: session).state }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }

        #expect(states.isSubset(of: ["sold", "authorising"]))
        #expect(processor.charged.count == 1)
        #expect(try await world.buy(purchaseID(1), session: session).state == "sold")
        #expect(try await world.outbox().count == 1)
    }

    @Test func `many customers buy at once and each gets their own`() async throws {
        let world = try await TestWorld.open()
        for n in 0..<16 {
            _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "c\(n)"))
        }

        let ids = try await withThrowingTaskGroup(of: [String].self) { group in
            for n in 0..<16 {
                group.addTask {
                    let session = try await world.session(customer: "c\(n)")
                    var ids: [String] = []
                    for purchase in 1...4 {
                        let sold = try await world.buy(purchaseID(purchase), session: session)
                        ids += [try world.verified(sold.signedTransaction).transactionId ?? ""]
                    }
                    return ids
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }

        #expect(Set(ids).count == 64)
        #expect(try await world.realm.purchases.listTransactions().transactions.count == 64)
    }

    @Test func `opening a realm from many tasks opens it once`() async throws {
        let world = try await TestWorld.open(realm: "other")

        let realms = try await withThrowingTaskGroup(of: ObjectIdentifier.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    ObjectIdentifier(try await world.store.realm(named: "other"))
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }

        #expect(realms.count == 1)
    }

    @Test func `numbers are never given twice, however many ask`() async throws {
        let world = try await TestWorld.open()

        let counts = try await withThrowingTaskGroup(of: Int64.self) { group in
            for _ in 0..<2500 {
                group.addTask { try await world.store.numbers.next(.device) }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }

        #expect(counts.count == 2500)
    }
}
