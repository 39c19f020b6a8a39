// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// Random customers against a store that restarts, a clock that jumps, prices
/// that change and a processor that loses things; a simpler second model says
/// what must be true afterwards.
@Suite(.unforgiven, .timeLimit(.minutes(5))) struct SimulationTests {
    @Test(arguments: Seeds.all + [5, 6])
    func `no customer pays twice, loses a purchase or owns a thing twice`(seed: UInt64) async throws
    {
        var simulation = try await Simulation(seed: seed)
        for step in 0..<80 { try await simulation.step(step) }
        try await simulation.audit()
    }
}

private struct Simulation {
    private struct Asked {
        let request: PurchaseRequest
        var answer: PurchaseResponse?
    }

    private static let voidFailures = 2

    private let customers = ["ann", "bob", "cyd"]
    private var random: SeededGenerator
    private var world: TestWorld
    private let processor: ScriptedProcessor?
    private var price: Int64 = 990
    private var asked: [String: [String: Asked]] = [:]
    private var finished: [String: Set<String>] = [:]
    private var seen: [String: Int64] = [:]
    private var restarts: UInt64 = 1000

    init(seed: UInt64) async throws {
        random = SeededGenerator(seed)
        var acts: [ScriptedProcessor.Act] = []
        for _ in 0..<400 {
            acts.append(
                random.one(of: [.approve, .approve, .decline, .chargeAndLoseAnswer, .loseRequest]))
        }
        processor =
            seed.isMultiple(of: 3) ? nil : ScriptedProcessor(acts, voidFailures: Self.voidFailures)
        world = try await TestWorld.open(randomness: seed, processor: processor)
        for name in customers {
            _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: name))
        }
    }

    mutating func step(_ step: Int) async throws {
        let customer = random.one(of: customers)
        switch random.integer(in: 0...19) {
        case 0: try await restart()
        case 1: try await changePrice()
        case 2: try await jump()
        case 3...6: try await finishSomething(customer)
        case 7...10: try await askAgain(customer)
        default: try await buySomething(customer, step)
        }
    }

    private mutating func restart() async throws {
        restarts += 1
        world = try await world.restarted(processor: processor, randomness: restarts)
    }

    private mutating func changePrice() async throws {
        price = random.one(of: [Int64(990), 1290, 0])
        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(price: price), app: AppDescription(bundleID: TestWorld.bundleID))
    }

    private mutating func jump() async throws {
        let step = random.integer(in: Int64(0)...10_000_000)
        let now = try await world.realm.clock().now
        let request =
            random.boolean()
            ? MoveClockRequest(advanceMilliseconds: step)
            : MoveClockRequest(standAt: now.adding(milliseconds: -step))
        _ = try await world.realm.moveClock(request, TestWorld.context)
    }

    private mutating func buySomething(_ customer: String, _ step: Int) async throws {
        let product = random.one(of: ["credits.5", "credits.5", "credits.10", "pro", "none"])
        let prices = ["credits.5": price, "credits.10": 1990, "pro": 4990]
        let shown = random.integer(in: 0...9) == 0 ? 1 : prices[product] ?? 0
        let request = PurchaseRequest(
            productId: product, quantity: product == "pro" ? 1 : random.integer(in: 0...4),
            unitPrice: shown, currency: "USD")
        try await ask(customer, purchaseID(step), request)
    }

    private mutating func askAgain(_ customer: String) async throws {
        guard let all = asked[customer], !all.isEmpty else { return }
        let id = random.one(of: all.keys.sorted())
        guard let before = all[id] else { return }
        try await ask(customer, id, before.request)
    }

    private mutating func ask(
        _ customer: String, _ id: String, _ request: PurchaseRequest
    ) async throws {
        let session = try await world.session(customer: customer)
        let now = try await world.realm.clock().now
        let answer = try await world.realm.purchases.purchase(
            id, request, session, TestWorld.context)
        if asked[customer]?[id] == nil { try checkDate(of: answer, soldAt: now) }
        if let before = asked[customer]?[id]?.answer, before.state != "authorising" {
            #expect(answer.state == before.state)
            #expect(answer.refusal == before.refusal)
            #expect(answer.revision == before.revision)
            #expect(try facts(answer) == facts(before))
        }
        asked[customer, default: [:]][id] = Asked(request: request, answer: answer)
    }

    /// A sale is never dated before the clock's time, whichever way the clock went
    /// before, and ahead of it only by as much as the last event may pull.
    private func checkDate(of answer: PurchaseResponse, soldAt now: Timestamp) throws {
        let sold = try facts(answer)
        // What the customer has already is delivered again, as it was sold.
        guard let date = sold?.purchaseDate, sold?.type == "Consumable", answer.isRepeat == nil
        else { return }
        #expect((now...now.adding(milliseconds: ClockRow.pullMillisecondsMax)).contains(date))
    }

    /// What was signed, but for the date of signing.
    private func facts(_ answer: PurchaseResponse) throws -> JWSTransactionDecodedPayload? {
        guard let signed = answer.signedTransaction else { return nil }
        var payload = try world.verified(signed)
        payload.signedDate = nil
        return payload
    }

    private mutating func finishSomething(_ customer: String) async throws {
        let session = try await world.session(customer: customer)
        let page = try await world.realm.purchases.transactions(
            since: seen[customer] ?? 0, session, TestWorld.context)
        seen[customer] = page.revision
        guard !page.transactions.isEmpty else { return }
        let chosen = random.one(of: page.transactions)
        let id = try #require(try world.verified(chosen.signedTransaction).transactionId)
        _ = try await world.realm.purchases.finish(id, session, TestWorld.context)
        finished[customer, default: []].insert(id)
    }

    /// Settles what hangs, then compares with what was asked and answered.
    mutating func audit() async throws {
        // Twice, because one that joined another ends with that one.
        for customer in customers + customers {
            for (id, before) in asked[customer] ?? [:] {
                try await ask(customer, id, before.request)
                // The script may lose several answers in a row.
                for _ in 0..<20 where asked[customer]?[id]?.answer?.state == "authorising" {
                    try await ask(customer, id, before.request)
                }
            }
        }
        // The processor may fail to give a sum back twice, and each start tries once.
        for _ in 0...Self.voidFailures { try await restart() }
        #expect(try await world.unsettled() == 0)
        var total: Int64 = 0
        var ids: Set<String> = []
        for customer in customers {
            let session = try await world.session(customer: customer)
            let records = try await world.realm.purchases.listTransactions(
                customer: session.customer.description
            ).transactions
            try check(records, of: customer)
            ids.formUnion(records.compactMap(\.payload.transactionId))
            total += records.compactMap(\.payload.price).reduce(0, +)
            try await checkReceipt(records, session)
        }
        let all = try await world.realm.purchases.listTransactions().transactions
        #expect(all.count == ids.count)
        if let processor {
            #expect(processor.charged.map(\.amount.milliunits).reduce(0, +) == total)
        }
    }

    private func check(_ records: [TransactionRecord], of customer: String) throws {
        let answers = (asked[customer] ?? [:]).values.compactMap(\.answer)
        #expect(answers.allSatisfy { ["sold", "refused"].contains($0.state) })
        let sold = try Set(
            answers.compactMap(\.signedTransaction).map {
                try world.verified($0).transactionId
            })
        #expect(sold == Set(records.map(\.payload.transactionId)))
        #expect(records.count { $0.payload.productId == "pro" } <= 1)
        #expect(
            Set(records.filter(\.isFinished).compactMap(\.payload.transactionId))
                == finished[customer] ?? [])
        for record in records {
            let asked = try #require(asked[customer]?[record.purchaseId ?? ""]?.request)
            #expect(record.payload.quantity == asked.quantity)
            #expect(record.unitPrice == asked.unitPrice)
            #expect(record.payload.price == asked.unitPrice * Int64(asked.quantity))
        }
    }

    private func checkReceipt(
        _ records: [TransactionRecord], _ session: DeviceSession
    ) async throws {
        let receipt = try await world.receipt(session)
        let expected = records.filter {
            !$0.isFinished || $0.payload.type != "Consumable"
        }
        #expect(
            Set(receipt.purchaseIDs) == Set(expected.compactMap(\.payload.transactionId)))
    }
}
