// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Synchronization

/// The counters of one process, and when the ledger was last found ready. A
/// class, because all calls of a ledger share it.
final class LedgerFigures: Sendable {
    private let taken = Atomic<Int>(0)
    private let redeemed = Atomic<Int>(0)
    private let gaps = Atomic<Int>(0)
    /// When this process has last deleted what is not kept any longer.
    let forgottenAt = Mutex<Timestamp?>(nil)
    let readyAt = Mutex<Timestamp?>(nil)

    func countTaken() { taken.add(1, ordering: .relaxed) }
    func countGap() { gaps.add(1, ordering: .relaxed) }
    func countRedeemed() { redeemed.add(1, ordering: .relaxed) }

    var counts: (taken: Int, redeemed: Int) {
        (taken.load(ordering: .relaxed), redeemed.load(ordering: .relaxed))
    }
    var gapsFilled: Int { gaps.load(ordering: .relaxed) }
}

/// The figures of a ledger's process since it started, for monitoring.
public struct LedgerCounts: Hashable, Sendable {
    /// The number of proofs that changed the books.
    public let taken: Int
    /// The number of units that were spent. A repeated redemption is not
    /// counted.
    public let redeemed: Int
    /// The number of notifications that were missed, and found in a store's history.
    public let gapsFilled: Int
    /// Nil if commits are not counted.
    public let commits: Int?
}

extension Ledger {
    /// Bytes, more than a page, so that a full database is detected.
    static let readinessRoom = 16_384
    /// How long a positive result is reused, so that frequent requests cost no
    /// commits.
    static let readinessSeconds: Int64 = 1

    /// The figures for monitoring.
    public var counts: LedgerCounts {
        let counts = figures.counts
        return LedgerCounts(
            taken: counts.taken, redeemed: counts.redeemed,
            gapsFilled: figures.gapsFilled, commits: ports.commits.map { $0() })
    }

    /// Returns if a write to the books is possible and durable at present.
    /// Throws ``StorageFault`` if not. A positive result is reused for a
    /// second.
    public func checkStorage() async throws {
        let now = ports.wall.now
        if let last = figures.readyAt.withLock({ $0 }), last <= now,
            now < last.adding(seconds: Self.readinessSeconds)
        {
            return
        }
        figures.readyAt.withLock { $0 = nil }
        let room = [UInt8](repeating: 0, count: Self.readinessRoom)
        try await storage.write { writing in
            try writing.execute(Statement.Upkeep.askReadiness, [.blob(room)])
            try writing.execute(Statement.Upkeep.leaveReadiness, [])
        }
        figures.readyAt.withLock { $0 = now }
    }

    /// Closes the storage. Later calls throw.
    public func close() async {
        news.finish()
        figures.readyAt.withLock { $0 = nil }
        try? await storage.close()
    }
}
