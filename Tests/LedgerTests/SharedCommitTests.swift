// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import TestSupport
import Testing

@testable import Ledger

/// Calls of one line that come at once are written together.
@Suite(.timeLimit(.minutes(5))) struct SharedCommitTests {
    @Test func `calls that come during a commit share the next one`() async throws {
        let disk = HeldDisk()
        let calls = await disk.begin(waiting: 2...3)
        #expect(disk.commits == [[1]])

        disk.letGo()
        for (call, answer) in zip(calls, [10, 20, 30]) { #expect(try await call.value == answer) }
        #expect(disk.commits == [[1], [2, 3]])
        #expect(try await disk.write(4) == 40)
        #expect(disk.commits == [[1], [2, 3], [4]])
    }

    @Test func `what has one name is written one after the other`() async throws {
        let disk = HeldDisk()
        async let first = disk.write(1, named: "a")
        await until("the first commit is under way") { disk.commits == [[1]] }
        async let second = disk.write(2, named: "b")
        await disk.untilWaiting(1)
        async let third = disk.write(3, named: "b")
        await disk.untilWaiting(2)
        async let fourth = disk.write(4, named: "a")
        await disk.untilWaiting(3)

        disk.letGo()
        #expect(try await [first, second, third, fourth] == [10, 20, 30, 40])
        #expect(disk.commits == [[1], [2, 4], [3]])
    }

    /// Also one whose name Swift takes for the same, because other bytes are another account.
    @Test func `a line waits for no other`() async throws {
        let disk = HeldDisk()
        async let first = disk.write(1, of: "caf\u{E9}")
        await until("the first commit is under way") { disk.commits == [[1]] }
        async let second = disk.write(2, of: "cafe\u{301}")
        await until("the other line's commit is under way") { disk.commits == [[1], [2]] }

        disk.letGo()
        #expect(try await [first, second] == [10, 20])
    }

    @Test func `no commit has more than thirty-two entries`() async throws {
        let disk = HeldDisk()
        async let first = disk.write(0)
        await until("the first commit is under way") { disk.commits == [[0]] }
        let others = Task {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for entry in 1...40 { group.addTask { try await disk.write(entry) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        await disk.untilWaiting(40)

        disk.letGo()
        _ = try await first
        #expect(try await others.value.sorted() == (1...40).map { $0 * 10 })
        #expect(disk.commits.map(\.count) == [1, 32, 8])
    }

    /// One of them may be what makes it fail.
    @Test func `if a shared commit fails, each is written alone`() async throws {
        let disk = HeldDisk(failing: [3])
        let calls = await disk.begin(waiting: 2...4)

        disk.letGo()
        #expect(try await calls[0].value == 10)
        #expect(try await calls[1].value == 20)
        await #expect(throws: StorageFault(.engine, "")) { try await calls[2].value }
        #expect(try await calls[3].value == 40)
        #expect(disk.commits == [[1], [2, 3, 4], [2], [3], [4]])
        #expect(try await disk.write(5) == 50)
    }

    /// What the database cannot do for several it cannot do for each.
    @Test func `if the database fails, a shared commit fails for all`() async throws {
        let disk = HeldDisk(failing: [3], with: .busy)
        let calls = await disk.begin(waiting: 2...3)

        disk.letGo()
        #expect(try await calls[0].value == 10)
        for call in calls.dropFirst() {
            await #expect(throws: StorageFault(.busy, "")) { try await call.value }
        }
        #expect(disk.commits == [[1], [2, 3]])
        #expect(try await disk.write(4) == 40)
    }

    @Test func `a caller that is cancelled while it waits has written nothing`() async throws {
        let disk = HeldDisk()
        let calls = await disk.begin(waiting: 2...3)
        calls[1].cancel()
        await #expect(throws: CancellationError.self) { try await calls[1].value }

        disk.letGo()
        #expect(try await calls[0].value == 10)
        #expect(try await calls[2].value == 30)
        #expect(disk.commits == [[1], [3]])
    }

    @Test func `a caller that is cancelled while it writes for others leaves them alone`()
        async throws
    {
        let disk = HeldDisk()
        let calls = await disk.begin(waiting: 2...4)
        disk.letGo(1)
        #expect(try await calls[0].value == 10)
        await until("the second commit is under way") { disk.commits == [[1], [2, 3, 4]] }
        calls[3].cancel()
        calls[1].cancel()

        disk.letGo()
        await #expect(throws: CancellationError.self) { try await calls[1].value }
        await #expect(throws: CancellationError.self) { try await calls[3].value }
        #expect(try await calls[2].value == 30)
        #expect(disk.commits == [[1], [2, 3, 4], [3]])
    }

    /// Every kind of outcome beside the others, in one commit.
    @Test func `redemptions that share a commit have outcomes of their own`() async throws {
        let book = try await Book.open()
        try await book.take { $0.quantity = 2 }
        try await book.take(2) { $0.productId = "other" }
        let before = try await book.redeem("old", id: 1)
        func wish(_ key: String, id: Int, purpose: String = "feed a monkey") throws
            -> NotedRedemption
        {
            NotedRedemption(
                prepared: try book.ledger.prepare(
                    RedeemRequest(
                        idempotencyKey: key, transactionId: "\(2_000_000_000_000_000 + id)",
                        purpose: purpose), account: "blob"),
                note: nil)
        }
        let all = [
            try wish("old", id: 1), try wish("old", id: 1, purpose: "other"),
            try wish("new", id: 1), try wish("late", id: 1), try wish("unknown", id: 9),
            try wish("second", id: 2),
        ]

        let outcomes = try await book.storage.write { try NotedRedemption.redeem(all, in: $0) }

        let words = outcomes.map { outcome in
            switch outcome {
            case .success((let made, let isNew)): "\(made.transactionId.suffix(1)) \(isNew)"
            case .failure(let error): (error as? LedgerRefusal)?.error.code ?? "\(error)"
            }
        }
        #expect(
            words == [
                "1 false", "redemptionContradicts", "1 true", "purchaseSpent", "purchaseUnknown",
                "2 true",
            ])
        #expect(try await book.redeem("old", id: 1) == before)
        #expect(try await book.redeem("new", id: 1).unit == 2)
        #expect(try await book.redeem("second", id: 2).unit == 1)
        #expect(try await book.unspent().isEmpty)
        let free = try await refusal { try await book.redeem("late", id: 1) }
        #expect(free?.first == "purchaseSpent")
    }
}

/// A line whose commits wait until they are let go. The answer to an entry is ten times it.
private final class HeldDisk: Sendable {
    private struct State {
        var commits: [[Int]] = []
        /// How many more commits are let go. Nil: all.
        var free: Int? = 0

        mutating func passes() -> Bool {
            guard let free else { return true }
            self.free = max(free - 1, 0)
            return free > 0
        }
    }

    private let state = Mutex(State())
    private let shared = SharedCommits<Int, Int>()
    /// The entries with which a commit fails.
    private let failing: Set<Int>
    private let code: StorageFault.Code

    init(failing: Set<Int> = [], with code: StorageFault.Code = .engine) {
        (self.failing, self.code) = (failing, code)
    }

    /// The entries of each commit that has begun.
    var commits: [[Int]] { state.withLock { $0.commits } }

    func write(_ entry: Int, named name: String? = nil, of line: String = "line") async throws
        -> Int
    {
        try await shared.write(entry, named: name ?? "\(entry)", of: line) {
            try await self.commit($0)
        }
    }

    /// Writes 1, and makes others wait for its commit, one after the other.
    func begin(waiting entries: ClosedRange<Int>) async -> [Task<Int, any Error>] {
        var calls = [Task { try await write(1) }]
        await until("the first commit is under way") { commits == [[1]] }
        for entry in entries {
            calls.append(Task { try await write(entry) })
            await untilWaiting(calls.count - 1)
        }
        return calls
    }

    func untilWaiting(_ count: Int) async {
        await until("\(count) calls wait", seen: "\(shared.waiting)") { shared.waiting == count }
    }

    /// Lets commits go: so many, or all from now on.
    func letGo(_ count: Int? = nil) { state.withLock { $0.free = count } }

    private func commit(_ entries: [Int]) async throws -> [Result<Int, any Error>] {
        state.withLock { $0.commits.append(entries) }
        let isFree = await becomes { state.withLock { $0.passes() } }
        try Task.checkCancellation()
        guard isFree else { throw StorageFault(.engine, "nobody has let this commit go") }
        guard failing.isDisjoint(with: entries) else { throw StorageFault(code, "as scripted") }
        return entries.map { .success($0 * 10) }
    }
}
