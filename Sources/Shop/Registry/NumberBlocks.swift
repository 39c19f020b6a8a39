// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Synchronization

/// Draws new numbers, each only once in the whole store. Counts are reserved in
/// advance in the registry, one block at a time. Each count is good for one
/// number of every bucket. Counts that a process does not use remain gaps. A
/// class, because all realms draw from the same blocks.
final class NumberBlocks: Sendable {
    /// Large enough that reservations are rare, and small enough that gaps stay
    /// small.
    static let blockSize: Int64 = 1000

    /// The process's numbers of one kind.
    private struct Pool {
        /// What is left of a block for one bucket.
        private struct Rest {
            var counts: Range<Int64> = 0..<0
            var block = 0
            /// Counts that were drawn and given back, the smallest last.
            var returned: [Int64] = []

            /// The smallest is drawn first, so that numbers ascend as far as they can.
            mutating func giveBack(_ count: Int64) {
                let place = returned.firstIndex { $0 < count } ?? returned.endIndex
                returned.insert(count, at: place)
            }
        }

        private var latest: Range<Int64> = 0..<0
        /// The number of blocks that this process has reserved.
        private(set) var blocks = 0
        private var rests: [Int64: Rest] = [:]
        /// The bucket of the next number for which any bucket will do.
        private var turn: Int64 = 0
        var reservation: Task<Range<Int64>, any Error>?

        mutating func add(_ block: Range<Int64>) {
            // So that the first customers of several processes are in different
            // buckets.
            if blocks == 0 {
                turn = block.lowerBound / NumberBlocks.blockSize % NumberLayout.buckets
            }
            latest = block
            blocks += 1
        }

        mutating func take(_ bucket: Int64) -> Int64? {
            var rest = rests[bucket] ?? Rest()
            defer { rests[bucket] = rest }
            if let count = rest.returned.popLast() { return count }
            if rest.counts.isEmpty, rest.block < blocks {
                (rest.counts, rest.block) = (latest, blocks)
            }
            guard let count = rest.counts.first else { return nil }
            rest.counts = rest.counts.dropFirst()
            return count
        }

        mutating func takeAny() -> (bucket: Int64, count: Int64)? {
            guard let count = take(turn) else { return nil }
            defer { turn = (turn + 1) % NumberLayout.buckets }
            return (turn, count)
        }

        mutating func giveBack(_ layout: NumberLayout) {
            rests[layout.bucket, default: Rest()].giveBack(layout.count)
        }
    }

    private let registry: any Storage
    private let pools = Mutex<[IDKind: Pool]>([:])

    init(registry: any Storage) {
        self.registry = registry
    }

    /// Returns a number that was never drawn before: of the given bucket, or of
    /// each bucket in turn.
    func next(_ kind: IDKind, bucket: Int64? = nil) async throws -> Int64 {
        while true {
            if let number = take(kind, bucket) { return number }
            try await reserve(kind)
        }
    }

    /// Takes back a number that was drawn and then neither written nor returned
    /// to any caller.
    func giveBack(_ number: Int64) {
        guard let layout = NumberLayout(number: number) else { return }
        pools.withLock { $0[layout.kind, default: Pool()].giveBack(layout) }
    }

    /// Reserves a block in advance, so that the first caller need not wait.
    func prepare(_ kind: IDKind) async throws { try await reserve(kind) }

    private func take(_ kind: IDKind, _ bucket: Int64?) -> Int64? {
        pools.withLock { pools in
            if let bucket {
                return pools[kind, default: Pool()].take(bucket).map {
                    NumberLayout(kind: kind, count: $0, bucket: bucket).number
                }
            }
            return pools[kind, default: Pool()].takeAny().map {
                NumberLayout(kind: kind, count: $0.count, bucket: $0.bucket).number
            }
        }
    }

    /// Adds a block. Concurrent callers share one reservation.
    private func reserve(_ kind: IDKind) async throws {
        let task = pools.withLock { pools in
            if let task = pools[kind, default: Pool()].reservation { return task }
            let task = Task {
                do {
                    let block = try await self.block(kind)
                    self.pools.withLock { pools in
                        pools[kind, default: Pool()].add(block)
                        pools[kind]?.reservation = nil
                    }
                    return block
                } catch {
                    self.pools.withLock { $0[kind]?.reservation = nil }
                    throw error
                }
            }
            pools[kind, default: Pool()].reservation = task
            return task
        }
        _ = try await task.value
    }

    private func block(_ kind: IDKind) async throws -> Range<Int64> {
        let values: [SQLValue] = [
            .integer(kind.rawValue), .integer(Self.blockSize), .integer(NumberLayout.countMax),
        ]
        let upper = try await registry.write { writing in
            if let row = try writing.first(Statement.Registry.reserveNumbers, values) {
                return try row.integer("next_count")
            }
            try writing.execute(
                Statement.Registry.insertNumbers, [.integer(kind.rawValue), .integer(0)])
            guard let row = try writing.first(Statement.Registry.reserveNumbers, values) else {
                throw StorageFault(.numbersSpent, "no numbers of the kind \(kind) are left")
            }
            return try row.integer("next_count")
        }
        guard upper >= Self.blockSize else {
            throw StorageFault(.malformedRow, "numbers of the kind \(kind) begin below 0")
        }
        return upper - Self.blockSize..<upper
    }
}

extension StorageFault.Code {
    /// All numbers of a kind are used or were skipped by restores.
    static let numbersSpent = StorageFault.Code("numbersSpent")
}

/// The counts of a seeded realm, from 0. The rows of its database determine the
/// next one. A class, because all calls of the realm draw from the same counts.
final class SeededNumbers: Sendable {
    private struct State {
        var next: [IDKind: Int64]
        /// Counts below the next one that were given back.
        var unused: [IDKind: Set<Int64>] = [:]
    }

    private let state: Mutex<State>

    /// `next`: the first free count of each kind.
    init(next: [IDKind: Int64]) {
        state = Mutex(State(next: next))
    }

    var nextCounts: [IDKind: Int64] { state.withLock(\.next) }

    func next(_ kind: IDKind) -> Int64 {
        state.withLock { state in
            defer { state.next[kind, default: 0] += 1 }
            return state.next[kind, default: 0]
        }
    }

    /// Takes back a count that was not used. The next one follows the last that is in use,
    /// in whatever order others are given back, as after a restart.
    func giveBack(_ kind: IDKind, _ count: Int64) {
        state.withLock { state in
            guard var next = state.next[kind], count < next else { return }
            state.unused[kind, default: []].insert(count)
            while state.unused[kind]?.remove(next - 1) != nil { next -= 1 }
            state.next[kind] = next
        }
    }
}
