// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// Numbers are given out once, and only where something is made.
@Suite(.timeLimit(.minutes(5))) struct NumberTests {
    private static let reserved = Statement(
        "test.reserved", "SELECT kind, next_count FROM number_blocks ORDER BY kind")

    private func reserved(_ world: TestWorld) async throws -> [Int64: Int64] {
        var next: [Int64: Int64] = [:]
        for row in try await world.store.registry.read({ try $0.query(Self.reserved, []) }) {
            next[try row.integer("kind")] = try row.integer("next_count")
        }
        return next
    }

    /// Numbers that the world's realm gives out next in one bucket, of each kind.
    private func nextNumbers(_ world: TestWorld, bucket: Int64 = 0) async throws -> [Int64] {
        var numbers: [Int64] = []
        for kind in IDKind.allCases {
            let number = try await world.realm.newNumber(kind, bucket: bucket)
            world.realm.giveBack(number)
            numbers.append(number)
        }
        return numbers
    }

    /// The numbers of the next thousand customers: one of each bucket.
    private func nextCustomers(_ world: TestWorld) async throws -> Set<Int64> {
        var numbers: Set<Int64> = []
        for _ in 0..<NumberLayout.buckets {
            numbers.insert(try await world.realm.newNumber(.customer))
        }
        for number in numbers { world.realm.giveBack(number) }
        return numbers
    }

    // MARK: Blocks

    @Test func `a bucket uses a block up before the next is taken, and the others share it`()
        async throws
    {
        let world = try await TestWorld.open()
        let numbers = NumberBlocks(registry: world.store.registry)
        world.places.counter.reset()

        var drawn: [Int64] = []
        for _ in 0...NumberBlocks.blockSize {
            drawn.append(try await numbers.next(.device, bucket: 7))
        }
        let commits = world.places.counter.commits
        let another = try await numbers.next(.device, bucket: 8)

        #expect(commits == 2)
        #expect(world.places.counter.commits == 2)
        #expect(drawn == drawn.sorted() && Set(drawn).count == drawn.count)
        #expect(drawn.allSatisfy { $0 % 1000 == 7 })
        #expect(another % 1000 == 8)
    }

    @Test func `a block that is reserved early leaves no gap in the one before`() async throws {
        let world = try await TestWorld.open()
        let numbers = NumberBlocks(registry: world.store.registry)

        var drawn = [try await numbers.next(.device, bucket: 7)]
        try await numbers.prepare(.device)
        for _ in 1..<NumberBlocks.blockSize {
            drawn.append(try await numbers.next(.device, bucket: 7))
        }

        let counts = try drawn.map { try #require(NumberLayout(number: $0)).count }
        #expect(counts.first.map { $0 + NumberBlocks.blockSize - 1 } == counts.last)
    }

    @Test func `callers that wait for a block share it`() async throws {
        let world = try await TestWorld.open()
        let numbers = NumberBlocks(registry: world.store.registry)
        world.places.counter.reset()

        let drawn = try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { try await numbers.next(.device, bucket: 7) } }
            return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
        }

        #expect(drawn.count == 50)
        #expect(world.places.counter.commits == 1)
        #expect(try await reserved(world)[IDKind.device.rawValue] == NumberBlocks.blockSize)
    }

    @Test func `customers go to one bucket after the other`() async throws {
        let world = try await TestWorld.open()
        let numbers = NumberBlocks(registry: world.store.registry)

        var drawn: [NumberLayout] = []
        for _ in 0..<1001 {
            drawn.append(
                try #require(NumberLayout(number: try await numbers.next(.customer))))
        }

        #expect(Set(drawn.map(\.bucket)).count == 1000)
        #expect(drawn[1000].bucket == drawn[0].bucket)
        #expect(drawn[1000].count == drawn[0].count + 1)
    }

    @Test func `customers go on in turn when a block is added`() async throws {
        let world = try await TestWorld.open()
        let numbers = NumberBlocks(registry: world.store.registry)
        func bucket() async throws -> Int64 {
            try #require(NumberLayout(number: try await numbers.next(.customer))).bucket
        }
        let first = try await bucket()
        #expect(try await bucket() == first + 1)

        try await numbers.prepare(.customer)

        #expect(try await bucket() == first + 2)
        // Another process begins at another bucket.
        let other = NumberBlocks(registry: world.store.registry)
        let theirs = NumberLayout(number: try await other.next(.customer))?.bucket
        #expect(theirs != first && theirs != nil)
    }

    @Test func `numbers that are given back are the next, in their order`() async throws {
        let world = try await TestWorld.open()
        let numbers = NumberBlocks(registry: world.store.registry)

        func next() async throws -> Int64 { try await numbers.next(.transaction, bucket: 3) }
        let drawn = [try await next(), try await next(), try await next()]
        for index in [1, 0, 2] { numbers.giveBack(drawn[index]) }
        let again = [try await next(), try await next(), try await next()]

        #expect(drawn == drawn.sorted())
        #expect(again == drawn)
        #expect(try await next() > drawn[2])
    }

    @Test func `what is beyond the last count is a fault, not a crash`() async throws {
        let world = try await TestWorld.open()
        try await world.store.registry.write { writing in
            try writing.execute(
                Statement(
                    "test.spent", [.integer], "UPDATE number_blocks SET next_count = $1"),
                [.integer(NumberLayout.countMax - NumberBlocks.blockSize + 1)])
        }
        let numbers = NumberBlocks(registry: world.store.registry)

        let fault = await #expect(throws: StorageFault.self) {
            try await numbers.next(.transaction, bucket: 0)
        }

        #expect(fault?.code == .numbersSpent)
    }

    // MARK: What draws none

    @Test func `a known purchase asked for again draws no number`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.realm.customers.session(token: try await world.signIn().token)
        let sold = try await world.buy("credits.5", purchaseID(1), session: session)
        let before = (try await reserved(world), try await nextNumbers(world))

        // More often than a block has numbers.
        for _ in 0...NumberBlocks.blockSize {
            let again = try await world.buy("credits.5", purchaseID(1), session: session)
            #expect(again.state == sold.state)
        }
        // Under contents that contradict, or for what is not sold.
        for number in 2..<5 {
            await #expect(throws: Refusal.self) {
                try await world.buy("pro", purchaseID(1), session: session)
            }
            let refused = try await world.buy("nothing", purchaseID(number), session: session)
            #expect(refused.state == "refused")
        }

        #expect(try await reserved(world) == before.0)
        #expect(try await nextNumbers(world) == before.1)
    }

    @Test func `what was owned, and is asked for under another id, draws no number`()
        async throws
    {
        let world = try await TestWorld.open()
        let session = try await world.realm.customers.session(token: try await world.signIn().token)
        try await world.buy("pro", purchaseID(1), session: session)
        let before = try await nextNumbers(world)

        let again = try await world.buy("pro", purchaseID(2), session: session)

        #expect(again.state == "sold")
        #expect(try await nextNumbers(world) == before)
    }

    @Test func `a device that signs in again, and a name that is taken, draw no number`()
        async throws
    {
        let world = try await TestWorld.open()
        _ = try await world.signIn()
        let before = try await nextNumbers(world)
        let customers = try await nextCustomers(world)

        for _ in 0..<3 { _ = try await world.signIn() }
        await #expect(throws: Refusal.self) {
            try await world.realm.customers.createCustomer(
                CreateCustomerRequest(name: Realm.defaultCustomer))
        }

        #expect(try await nextCustomers(world) == customers)
        #expect(try await nextNumbers(world) == before)
    }

    @Test func `an answer to an approval that sells nothing draws no number`() async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "kid", asksToBuy: true))
        let session = try await world.session(customer: "kid")
        let bucket = session.customer.bucket
        func answer(_ word: String, _ number: Int) async throws {
            _ = try await world.realm.purchases.answerApproval(
                purchaseID(number), AnswerApprovalRequest(answer: word), TestWorld.context)
        }
        for number in 1...2 {
            let product = number == 1 ? "credits.5" : "credits.10"
            let asked = try await world.buy(product, purchaseID(number), session: session)
            #expect(asked.state == "waiting")
        }
        let before = try await nextNumbers(world, bucket: bucket)

        try await answer("declined", 1)
        try await answer("declined", 1)
        await #expect(throws: Refusal.self) { try await answer("approved", 1) }
        #expect(try await nextNumbers(world, bucket: bucket) == before)
        try await answer("approved", 2)
        let sold = try await nextNumbers(world, bucket: bucket)
        try await answer("approved", 2)

        #expect(sold != before)
        #expect(try await nextNumbers(world, bucket: bucket) == sold)
    }

    @Test func `a charge without an answer draws no number, however often it is asked about`()
        async throws
    {
        let processor = ScriptedProcessor([.chargeAndLoseAnswer])
        let world = try await TestWorld.open(processor: processor)
        let session = try await world.session()
        processor.make(asksFail: true)
        let open = try await world.buy("credits.5", purchaseID(1), session: session)
        let before = try await nextNumbers(world)

        for _ in 0..<3 {
            world.wall.advance(seconds: 3600)
            #expect(try await world.realm.keeping.workOnce() == 1)
        }

        #expect(open.state == "authorising")
        #expect(try await nextNumbers(world) == before)
    }
}
