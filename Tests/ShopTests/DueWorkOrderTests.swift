// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Shop
@testable import Work

/// Inner work in its customers' order: what happens to one customer happens
/// earliest first, whatever else is due and whoever asks meanwhile.
@Suite(.timeLimit(.minutes(5))) struct DueWorkOrderTests {
    private static let month: Int64 = 30 * 86_400_000

    /// Writes down what was done, once however often its commit ran.
    private final class Diary: Sendable {
        struct Entry: Hashable, Sendable {
            let customer: CustomerID
            let kind: String
            let month: Int64
            let revision: Int64
        }

        private let state = Mutex<[Entry]>([])

        func note(_ work: DueWork, _ revision: Int64) {
            let entry = Entry(
                customer: work.customer, kind: work.kind,
                month: work.dueAt.milliseconds(since: TestWall.start)
                    / DueWorkOrderTests.month, revision: revision)
            state.withLock { if !$0.contains(entry) { $0.append(entry) } }
        }

        func entries(of customer: CustomerID) -> [Entry] {
            state.withLock { $0.filter { $0.customer == customer } }
        }

        func months(of customer: CustomerID) -> [Int64] { entries(of: customer).map(\.month) }
    }

    /// A made-up kind that owes itself again, so many months later; 0 is never.
    private struct Recurring: DueWorkHandler, DueWorkCommit {
        let kind: String
        let months: Int64
        let diary: Diary
        var broken: CustomerID?
        var longestMilliseconds: Int64 { .max }

        func prepare(_ work: DueWork, in realm: Realm) async throws -> any DueWorkCommit<
            CustomerLine
        > { self }

        func write(_ work: DueWork, _ line: CustomerLine, answer: [Row]) throws {
            if work.customer == broken { throw StorageFault(.malformedRow, "made up") }
            diary.note(work, line.revision)
            guard months > 0 else { return }
            let next = work.dueAt.adding(milliseconds: months * DueWorkOrderTests.month)
            try DueWork(
                customer: work.customer, kind: kind, subject: work.subject, dueAt: next
            ).add(line.writing)
        }
    }

    private func owe(
        _ kind: String, inMonth month: Int64, _ customer: CustomerID, _ world: TestWorld
    ) async throws {
        let due = TestWall.start.adding(milliseconds: month * Self.month)
        let work = DueWork(customer: customer, kind: kind, subject: "s", dueAt: due)
        try await world.realm.storage(of: customer).write { try work.add($0) }
    }

    private func customers(_ count: Int, _ world: TestWorld) async throws -> [CustomerID] {
        var made: [CustomerID] = []
        for n in 0..<count {
            let summary = try await world.realm.customers.createCustomer(
                CreateCustomerRequest(name: "c\(n)"), TestWorld.context)
            made.append(CustomerID(try #require(Int64(summary.customerId))))
        }
        return made
    }

    private func jump(months: Int64, _ world: TestWorld) async throws {
        _ = try await world.realm.moveClock(
            MoveClockRequest(advanceMilliseconds: months * Self.month), TestWorld.context)
    }

    @Test func `a year's renewals have happened, beside what another customer has in month 12`()
        async throws
    {
        let diary = Diary()
        let world = try await TestWorld.open(
            dueWork: [
                Recurring(kind: "renewal", months: 1, diary: diary),
                Recurring(kind: "once", months: 0, diary: diary),
            ])
        let made = try await customers(2, world)
        try await owe("renewal", inMonth: 1, made[0], world)
        try await owe("once", inMonth: 12, made[1], world)

        try await jump(months: 12, world)

        #expect(diary.months(of: made[0]) == Array(1...12))
        #expect(diary.months(of: made[1]) == [12])
        #expect(try await world.realm.worker.workDue().count == 0)
    }

    @Test func `two kinds of one customer happen in the order of their dates`() async throws {
        let diary = Diary()
        let world = try await TestWorld.open(
            dueWork: [
                Recurring(kind: "a", months: 3, diary: diary),
                Recurring(kind: "b", months: 1, diary: diary),
            ])
        let customer = try #require(try await customers(1, world).first)
        try await owe("a", inMonth: 3, customer, world)
        try await owe("b", inMonth: 5, customer, world)

        try await jump(months: 7, world)

        let order = diary.entries(of: customer).map { "\($0.kind)\($0.month)" }
        #expect(order == ["a3", "b5", "a6", "b6", "b7"])
        let revisions = diary.entries(of: customer).map(\.revision)
        #expect(revisions == revisions.sorted() && Set(revisions).count == 5)
    }

    /// Nobody works here: the purchase itself has to catch up.
    @Test func `a purchase is decided after all that fell due before it`() async throws {
        let diary = Diary()
        let world = try await TestWorld.open(
            dueWork: [
                Recurring(kind: "renewal", months: 1, diary: diary),
                Recurring(kind: "once", months: 0, diary: diary),
            ])
        let customer = try await world.session().customer
        try await owe("renewal", inMonth: 1, customer, world)
        world.wall.advance(seconds: 3 * Self.month / 1000)
        let device = try await world.session()
        #expect(diary.months(of: customer) == [1, 2, 3], "signing in has caught up")
        try await owe("once", inMonth: 2, customer, world)

        let answer = try await world.buy("credits.5", purchaseID(1), session: device)

        #expect(diary.months(of: customer) == [1, 2, 3, 2])
        #expect(answer.state == "sold")
        #expect(answer.revision > diary.entries(of: customer)[3].revision)
    }

    @Test func `what falls due after a customer has caught up is done before the line writes`()
        async throws
    {
        let diary = Diary()
        let world = try await TestWorld.open(
            dueWork: [
                Recurring(kind: "once", months: 0, diary: diary),
                Recurring(kind: "twice", months: 0, diary: diary),
            ])
        world.wall.advance(seconds: Self.month / 1000)
        let session = try await world.session()
        try await owe("once", inMonth: 1, session.customer, world)
        let later = DueWork(
            customer: session.customer, kind: "twice", subject: "s",
            dueAt: TestWall.start.adding(milliseconds: Self.month).adding(seconds: 60))
        try await world.realm.storage(of: session.customer).write { try later.add($0) }
        // The second look at the customer's work finds nothing more. Then a minute passes.
        let looks = Mutex(0)
        let wall = world.wall
        world.places.counter.onStatement.withLock {
            $0 = { name in
                guard name == Statement.DueWorks.first.name else { return }
                let look = looks.withLock { looks in
                    looks += 1
                    return looks
                }
                if look == 2 { wall.advance(seconds: 60) }
            }
        }

        let sold = try await world.buy("credits.5", purchaseID(1), session: session)

        #expect(looks.withLock { $0 } > 2)
        #expect(diary.entries(of: session.customer).map(\.kind) == ["once", "twice"])
        let last = try #require(diary.entries(of: session.customer).last)
        #expect(sold.revision > last.revision)
    }

    @Test func `many customers share a commit, and none of their revisions has a gap`()
        async throws
    {
        let diary = Diary()
        let world = try await TestWorld.open(
            dueWork: [Recurring(kind: "once", months: 0, diary: diary)])
        let made = try await customers(30, world)
        for customer in made { try await owe("once", inMonth: 1, customer, world) }
        world.wall.advance(seconds: Self.month / 1000)
        let before = world.places.counter.commits

        #expect(try await world.realm.worker.workDue().count == 30)

        #expect(world.places.counter.commits - before <= (TestClusters.areShared ? 2 : 1))
        for customer in made { #expect(diary.entries(of: customer).map(\.revision) == [2]) }
    }

    /// Has another worker do each of the first pieces, between the look and the commit.
    private struct Overtaken: DueWorkHandler {
        let inner: Recurring
        let left = Left()
        var kind: String { inner.kind }
        var longestMilliseconds: Int64 { .max }

        /// How often it happens still. A class, because copies share it.
        final class Left: Sendable {
            let count = Mutex(2)
        }

        func prepare(_ work: DueWork, in realm: Realm) async throws -> any DueWorkCommit<
            CustomerLine
        > {
            let isOvertaken = left.count.withLock { count in
                defer { count -= 1 }
                return count > 0
            }
            let (wall, inner) = (realm.ports.wall.now, inner)
            guard isOvertaken else { return inner }
            try await realm.storage(of: work.customer).write { writing in
                let line = try CustomerLine(
                    work.customer, asking: .time, wall: .standing(at: wall), writing)
                #expect(try DueWork.take([work], writing) == [])
                try inner.write(work, #require(line), answer: [])
            }
            return inner
        }
    }

    @Test func `work done by another worker does not stop the rest`() async throws {
        let diary = Diary()
        let inner = Recurring(kind: "renewal", months: 1, diary: diary)
        let world = try await TestWorld.open(dueWork: [Overtaken(inner: inner)])
        let made = try await customers(2, world)
        try await owe("renewal", inMonth: 1, made[0], world)
        try await owe("renewal", inMonth: 5, made[1], world)

        try await jump(months: 12, world)

        #expect(diary.months(of: made[0]) == Array(1...12))
        #expect(diary.months(of: made[1]) == Array(5...12))
        #expect(diary.entries(of: made[0]).map(\.revision) == Array(2...13))
    }

    @Test func `a jump that is held up writes nothing until it comes further`() async throws {
        let world = try await TestWorld.open()
        let customer = try #require(try await customers(1, world).first)
        try await owe("newer", inMonth: 1, customer, world)
        try await jump(months: 2, world)
        let before = world.places.counter.commits

        #expect(try await world.realm.worker.workDue().count == 0)

        #expect(world.places.counter.commits == before)
        let jump = try await world.realm.storage(of: customer).read { try ClockJump.current($0) }
        #expect(jump?.reached == TestWall.start.adding(milliseconds: Self.month))
    }

    /// Goes down between the look and the commit.
    private struct Failing: DueWorkHandler {
        let places: TestPlaces
        var kind: String { "renewal" }
        var longestMilliseconds: Int64 { .max }

        func prepare(_ work: DueWork, in realm: Realm) async throws -> any DueWorkCommit<
            CustomerLine
        > {
            _ = places.down.withLock { $0.insert(TestClusters.far) }
            return Recurring(kind: kind, months: 0, diary: Diary())
        }
    }

    @Test func `a database that goes away is reported once, not for each customer`() async throws {
        let places = TestPlaces(far: [TestClusters.far])
        let world = try await TestWorld.open(places: places, dueWork: [Failing(places: places)])
        let map = world.realm.clusters.map
        let far = try await customers(12, world).filter { map.cluster(of: $0.value) == 1 }
        try #require(far.count > 1)
        for customer in far { try await owe("renewal", inMonth: 1, customer, world) }
        world.wall.advance(seconds: Self.month / 1000)

        let fault = await #expect(throws: StorageFault.self) {
            _ = try await world.realm.worker.workDue(in: 1)
        }

        #expect(fault?.code == .unavailable)
        #expect(world.logged.count("due work failed") == 0)
    }

    /// Why a worker finds its database gone.
    enum Absence: CaseIterable {
        case closing, cancelled, fault
    }

    private struct Closing: DueWorkHandler {
        let absence: Absence
        var kind: String { "renewal" }
        var longestMilliseconds: Int64 { 24 * DueWorkOrderTests.month }

        func prepare(_ work: DueWork, in realm: Realm) async throws -> any DueWorkCommit<
            CustomerLine
        > {
            switch absence {
            case .closing: for bell in realm.bells { bell.close() }
            case .cancelled: withUnsafeCurrentTask { $0?.cancel() }
            case .fault: break
            }
            throw StorageFault(.unavailable, "the database was closed")
        }
    }

    @Test(arguments: Absence.allCases)
    func `a worker reports that it cannot look for work, unless it is to end`(
        absence: Absence
    ) async throws {
        let world = try await TestWorld.open(
            places: TestPlaces(far: []), dueWork: [Closing(absence: absence)])
        let customer = try #require(try await customers(1, world).first)
        try await owe("renewal", inMonth: 1, customer, world)
        world.wall.advance(seconds: Self.month / 1000)
        let hasEnded = Mutex(false)
        let working = Task {
            await world.realm.worker.work()
            hasEnded.withLock { $0 = true }
        }
        defer { working.cancel() }

        func reports() -> Int { world.logged.count("work could not be claimed") }
        if absence == .fault {
            await until("a report") { reports() > 0 }
            for bell in world.realm.bells { bell.close() }
        }

        await until("the worker's end") { hasEnded.withLock { $0 } }
        #expect((reports() > 0) == (absence == .fault))
    }

    /// Ends its process at a month: what comes after it fails.
    private struct Dying: DueWorkHandler, DueWorkCommit {
        let inner: Recurring
        let month: Int64
        var kind: String { inner.kind }
        var longestMilliseconds: Int64 { .max }

        func prepare(_ work: DueWork, in realm: Realm) async throws -> any DueWorkCommit<
            CustomerLine
        > { self }

        func write(_ work: DueWork, _ line: CustomerLine, answer: [Row]) throws {
            let last = TestWall.start.adding(milliseconds: month * DueWorkOrderTests.month)
            guard work.dueAt < last else { throw StorageFault(.unavailable, "it died") }
            try inner.write(work, line, answer: answer)
        }
    }

    @Test func `a jump whose process dies is visible, and finished by the next`() async throws {
        let diary = Diary()
        let places = TestPlaces()
        let renewal = Recurring(kind: "renewal", months: 1, diary: diary)
        let first = try await TestWorld.open(
            places: places, dueWork: [Dying(inner: renewal, month: 7)])
        let customer = try #require(try await customers(1, first).first)
        try await owe("renewal", inMonth: 1, customer, first)
        let start = try await first.realm.clock().now

        try await self.jump(months: 12, first)
        let halfway = try await first.realm.clock()
        await first.store.close()
        let second = try await TestWorld.open(
            places: places, randomness: 3, dueWork: [renewal])
        let left = try await second.realm.clock().jump
        try await second.realm.keeping.workOnce()

        let target = start.adding(milliseconds: 12 * Self.month)
        let month7 = TestWall.start.adding(milliseconds: 7 * Self.month)
        #expect(halfway.now >= target)
        #expect(halfway.jump == JumpDescription(target: target, reached: month7))
        #expect(left == halfway.jump)
        #expect(diary.months(of: customer) == Array(1...12))
        #expect(try await second.realm.clock().jump == nil)
    }

    /// While the first renewal of the jump is worked off, another customer buys.
    private struct Shopping: DueWorkHandler {
        let inner: Recurring
        let shop: @Sendable () async throws -> Void
        var kind: String { inner.kind }
        var longestMilliseconds: Int64 { 24 * DueWorkOrderTests.month }

        func prepare(_ work: DueWork, in realm: Realm) async throws -> any DueWorkCommit<
            CustomerLine
        > {
            try await shop()
            return inner
        }
    }

    @Test func `a purchase during a jump is dated at its target, after the customer's own work`()
        async throws
    {
        let diary = Diary()
        let world = Mutex<TestWorld?>(nil)
        let bought = Mutex<(answer: PurchaseResponse, months: [Int64], jump: JumpDescription?)?>(
            nil)
        let buyer = Mutex<CustomerID?>(nil)
        let inner = Recurring(kind: "slow", months: 0, diary: diary)
        let opened = try await TestWorld.open(
            dueWork: [
                Recurring(kind: "renewal", months: 1, diary: diary),
                Shopping(inner: inner) {
                    guard let world = world.withLock({ $0 }), let id = buyer.withLock({ $0 }),
                        bought.withLock({ $0 == nil })
                    else { return }
                    let answer = try await world.buy("credits.5", purchaseID(1))
                    let jump = try await world.realm.clock().jump
                    bought.withLock { $0 = (answer, diary.months(of: id), jump) }
                },
            ])
        world.withLock { $0 = opened }
        let customer = try await opened.session().customer
        buyer.withLock { $0 = customer }
        let other = try #require(try await customers(1, opened).first)
        try await owe("slow", inMonth: 1, other, opened)
        try await owe("renewal", inMonth: 2, customer, opened)

        try await jump(months: 12, opened)

        let seen = try #require(bought.withLock { $0 })
        let sold = try #require(
            try await opened.realm.purchases.listTransactions().transactions.first)
        #expect(seen.months == Array(2...12))
        #expect(seen.jump != nil)
        #expect(sold.payload.purchaseDate == seen.jump?.target)
        #expect(try await opened.realm.clock().jump == nil)
        #expect(diary.months(of: customer) == Array(2...12))
    }

    @Test func `a jump that another move takes back reports the clock that it left`()
        async throws
    {
        let diary = Diary()
        let world = Mutex<TestWorld?>(nil)
        let opened = try await TestWorld.open(
            dueWork: [
                Shopping(inner: Recurring(kind: "once", months: 0, diary: diary)) {
                    guard let world = world.withLock({ $0 }) else { return }
                    try await world.setClock(MoveClockRequest(standAt: TestWall.start))
                }
            ])
        world.withLock { $0 = opened }
        let customer = try #require(try await customers(1, opened).first)
        try await owe("once", inMonth: 1, customer, opened)

        let moved = try await opened.realm.moveClock(
            MoveClockRequest(advanceMilliseconds: 12 * Self.month), TestWorld.context)

        #expect(diary.months(of: customer) == [], "it is not due any more")
        #expect(moved.now == TestWall.start)
        #expect(moved == (try await opened.realm.clock()))
    }

    @Test func `a late worker ends no jump to the same instant whose work is left`()
        async throws
    {
        let world = try await TestWorld.open()
        let customer = try #require(try await customers(1, world).first)
        let target = TestWall.start.adding(milliseconds: 2 * Self.month)
        let jump = ClockJump(target: target, reached: TestWall.start)
        func end() async throws -> ClockJump? {
            try await world.realm.storage(of: customer).write { writing in
                try ClockJump.note(from: TestWall.start, to: target, writing)
                try jump.end(writing)
                return try ClockJump.current(writing)
            }
        }

        try await owe("once", inMonth: 3, customer, world)
        #expect(try await end() == nil)
        try await owe("once", inMonth: 1, customer, world)
        #expect(try await end() == jump)
    }

    @Test func `a clock that goes back ends a jump, and one that goes on continues it`()
        async throws
    {
        let start = Timestamp(milliseconds: 1_000_000)
        let world = try await TestWorld.open()
        func note(_ from: Int64, _ to: Int64) async throws -> ClockJump? {
            try await world.realm.home.write { writing in
                try ClockJump.note(
                    from: start.adding(milliseconds: from), to: start.adding(milliseconds: to),
                    writing)
                return try ClockJump.current(writing)
            }
        }
        func jump(_ reached: Int64, _ target: Int64) -> ClockJump {
            ClockJump(
                target: start.adding(milliseconds: target),
                reached: start.adding(milliseconds: reached))
        }

        #expect(try await note(0, 10) == jump(0, 10))
        #expect(try await note(10, 30) == jump(0, 30))
        #expect(try await note(30, 5) == jump(0, 5))
        #expect(try await note(5, 0) == nil)
        #expect(try await note(0, 0) == nil)
        #expect(try await note(-5, 3) == jump(-5, 3))
    }

    /// Counts the tries.
    private struct Counted: DueWorkHandler {
        let inner: Recurring
        let tries = Tries()
        var kind: String { inner.kind }
        var longestMilliseconds: Int64 { .max }

        /// A class, because copies share it.
        final class Tries: Sendable {
            let count = Mutex(0)
        }

        func prepare(_ work: DueWork, in realm: Realm) async throws -> any DueWorkCommit<
            CustomerLine
        > {
            tries.count.withLock { $0 += 1 }
            return inner
        }
    }

    @Test(arguments: [(1, 1), (2, 4)])
    func `work that fails alone is tried once, and among others once more by itself`(
        count: Int, tries: Int
    ) async throws {
        let places = TestPlaces(far: [])
        let first = try await TestWorld.open(places: places)
        let made = try await customers(count, first)
        await first.store.close()
        let counted = Counted(
            inner: Recurring(kind: "renewal", months: 0, diary: Diary(), broken: made[0]))
        let world = try await TestWorld.open(places: places, randomness: 3, dueWork: [counted])
        for customer in made { try await owe("renewal", inMonth: 1, customer, world) }
        world.wall.advance(seconds: Self.month / 1000)

        #expect(try await world.realm.worker.workDue().count == count - 1)

        #expect(counted.tries.count.withLock { $0 } == tries)
        #expect(world.logged.count("due work failed") == 1)
    }

    @Test func `work that fails delays only its own customer`() async throws {
        let diary = Diary()
        let places = TestPlaces()
        let first = try await TestWorld.open(places: places)
        let made = try await customers(3, first)
        await first.store.close()
        let world = try await TestWorld.open(
            places: places, randomness: 3,
            dueWork: [
                Recurring(kind: "renewal", months: 1, diary: diary, broken: made[1]),
                Recurring(kind: "later", months: 0, diary: diary),
            ])
        for customer in made {
            try await owe("renewal", inMonth: 1, customer, world)
            try await owe("later", inMonth: 2, customer, world)
        }

        try await jump(months: 2, world)

        #expect(diary.months(of: made[0]) == [1, 2, 2])
        #expect(diary.months(of: made[1]) == [])
        #expect(diary.months(of: made[2]) == [1, 2, 2])
        #expect(world.logged.count("due work failed") == 1)
        await #expect(throws: StorageFault.self) {
            _ = try await world.realm.customers.endSessions(
                ofCustomer: made[1].description, TestWorld.context)
        }
    }
}
