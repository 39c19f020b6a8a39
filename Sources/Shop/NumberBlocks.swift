// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Synchronization

/// Counts for new numbers, each given out once in the whole store. Blocks
/// are reserved ahead in the registry, so that a purchase does not wait for
/// it; what a process does not use is a gap. A class, because all realms
/// draw from the same blocks.
final class NumberBlocks: Sendable {
    /// Big enough that reserving is rare, small enough that gaps stay small.
    static let blockSize: Int64 = 1000

    private let registry: any Storage
    private let blocks = Mutex<[IDKind: [Range<Int64>]]>([:])

    init(registry: any Storage) {
        self.registry = registry
    }

    /// A count never given out before.
    func next(_ kind: IDKind) async throws -> Int64 {
        if let count = take(kind) { return count }
        let block = try await reserve(kind)
        blocks.withLock { blocks in
            let rest = block.lowerBound + 1..<block.upperBound
            blocks[kind, default: []].append(rest)
        }
        return block.lowerBound
    }

    /// Reserves a block now, so that the first who needs one need not wait.
    func prepare(_ kind: IDKind) async throws {
        let block = try await reserve(kind)
        blocks.withLock { $0[kind, default: []].append(block) }
    }

    private func take(_ kind: IDKind) -> Int64? {
        blocks.withLock { blocks in
            guard let first = blocks[kind]?.first else { return nil }
            if first.count == 1 {
                blocks[kind]?.removeFirst()
            } else {
                blocks[kind]?[0] = first.lowerBound + 1..<first.upperBound
            }
            return first.lowerBound
        }
    }

    private func reserve(_ kind: IDKind) async throws -> Range<Int64> {
        let values: [SQLValue] = [.integer(kind.rawValue), .integer(Self.blockSize)]
        let upper = try await registry.write { writing in
            if let row = try writing.first(Statement.Registry.reserveNumbers, values) {
                return try row.integer("next_count")
            }
            try writing.execute(
                Statement.Registry.insertNumbers, [.integer(kind.rawValue), .integer(0)])
            guard let row = try writing.first(Statement.Registry.reserveNumbers, values) else {
                throw StorageFault(.malformedRow, "no block of numbers could be reserved")
            }
            return try row.integer("next_count")
        }
        return upper - Self.blockSize..<upper
    }
}

/// Counts of a seeded realm, from 0: what its database holds tells where to
/// go on. A class, because all calls of the realm draw from the same counts.
final class SeededNumbers: Sendable {
    private let counts: Mutex<[IDKind: Int64]>

    /// `next` is the first count of each kind not in use.
    init(next: [IDKind: Int64]) {
        counts = Mutex(next)
    }

    var nextCounts: [IDKind: Int64] { counts.withLock { $0 } }

    func next(_ kind: IDKind) -> Int64 {
        counts.withLock { counts in
            defer { counts[kind, default: 0] += 1 }
            return counts[kind, default: 0]
        }
    }
}
