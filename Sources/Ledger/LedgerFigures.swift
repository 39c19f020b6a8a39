// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Synchronization

/// What one process counts of its book, and when it was last found ready. A
/// class, because all calls of a ledger share it.
final class LedgerFigures: Sendable {
    private let taken = Atomic<Int>(0)
    private let redeemed = Atomic<Int>(0)
    let readyAt = Mutex<Timestamp?>(nil)

    func countTaken() { taken.add(1, ordering: .relaxed) }
    func countRedeemed() { redeemed.add(1, ordering: .relaxed) }

    var counts: (taken: Int, redeemed: Int) {
        (taken.load(ordering: .relaxed), redeemed.load(ordering: .relaxed))
    }
}

/// What a ledger tells those who watch it: of this process, since it started.
public struct LedgerCounts: Hashable, Sendable {
    /// Proofs that changed the book.
    public let taken: Int
    /// Units that were spent; the same redemption again counts once.
    public let redeemed: Int
    /// Nil where nobody counts them.
    public let commits: Int?
}

extension Ledger {
    /// More than a page, so that a database without room is found out.
    static let readinessRoom = 16_384
    /// How long an answer stands, so that asking often costs no commits.
    static let readinessSeconds: Int64 = 1

    /// Figures for whoever watches the server.
    public var counts: LedgerCounts {
        let counts = figures.counts
        return LedgerCounts(
            taken: counts.taken, redeemed: counts.redeemed,
            commits: ports.commits.map { $0() })
    }

    /// Returns where the book could be written now: its storage takes a write
    /// and makes it durable. Throws ``StorageFault`` where not. A yes stands
    /// for a second.
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
        figures.readyAt.withLock { $0 = nil }
        try? await storage.close()
    }
}
