// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// A store that starts while a processor owes it answers.
@Suite(.timeLimit(.minutes(5))) struct ProcessorStartTests {
    /// A page of purchases and one more, about which a processor gave no answer.
    private func unanswered(_ processor: ScriptedProcessor) async throws -> TestWorld {
        let world = try await TestWorld.open(processor: processor)
        processor.whenAuthorising { throw ScriptedProcessor.Lost() }
        processor.make(asksFail: true)
        let count = Int(PurchaseRoom.settlePage) + 1
        for number in 1...count { try await buy(number, world) }
        return world
    }

    /// Each by a customer of its own, because a second payment for the product would join
    /// the first.
    private func buy(_ number: Int, _ world: TestWorld) async throws {
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "c\(number)"))
        try await world.buy(
            purchaseID(number), session: try await world.session(customer: "c\(number)"))
    }

    @Test func `a start asks once about each purchase of several pages`() async throws {
        let processor = ScriptedProcessor([])
        let world = try await unanswered(processor)
        let before = processor.calls.count

        _ = try await world.restarted(processor: processor)

        let count = Int(PurchaseRoom.settlePage) + 1
        #expect(processor.calls.dropFirst(before) == Array(repeating: "outcome", count: count)[...])
    }

    @Test func `a start settles more than a page`() async throws {
        let processor = ScriptedProcessor([])
        let world = try await unanswered(processor)
        let count = Int(PurchaseRoom.settlePage) + 1
        processor.whenAuthorising {}
        processor.make(asksFail: false)

        let next = try await world.restarted(processor: processor)

        #expect(try await next.unsettled() == 0)
        #expect(processor.charged.count == count)
    }

    @Test func `a processor that hangs does not keep a store from opening`() async throws {
        let processor = ScriptedProcessor([.loseRequest, .loseRequest])
        let world = try await TestWorld.open(processor: processor)
        for number in 1...2 { try await buy(number, world) }
        processor.whenAuthorising {
            try await StorePorts.sleepForEver(.zero)
            throw CancellationError()
        }
        let before = processor.calls.count

        // The time that a start waits is over at once.
        let next = try await world.reopened(world.places.places, processor) { _ in }

        #expect(try await next.unsettled() == 2)
        #expect(processor.calls.dropFirst(before).allSatisfy { $0 == "outcome" })
        processor.whenAuthorising {}
        try await until("a worker that settles them") {
            try await next.realm.keeping.workOnce()
            next.wall.advance(seconds: 3600)
            return try await next.unsettled() == 0
        }
        #expect(processor.charged.count == 2)
    }
}
