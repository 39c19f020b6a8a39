// SPDX-License-Identifier: Apache-2.0

/// The set of transactions that a snapshot sees, by their 64-bit numbers: all
/// below ``end`` except those that were running.
struct PostgresSnapshot: Equatable {
    /// If the numbers are further apart, the set is not kept.
    private static let gapMax: UInt64 = 10_000

    /// The first number of those that the snapshot cannot see.
    let end: UInt64
    let running: Set<UInt64>

    private init(end: UInt64, running: Set<UInt64>) {
        self.end = end
        self.running = running
    }

    /// Parses PostgreSQL's text: `xmin:xmax:xip,xip…`.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, UInt64(parts[0]) != nil, let end = UInt64(parts[1]) else {
            return nil
        }
        let running = parts[2].split(separator: ",").map { UInt64($0) }
        guard running.allSatisfy({ $0 != nil }) else { return nil }
        self.init(end: end, running: Set(running.compactMap(\.self)))
    }

    /// The transactions that are durable once the transaction `own` is, which
    /// saw `seen` just before its commit. The server has a single log, so they
    /// are all that were committed by then. Numbers above `own` are left out.
    /// Nil if too many numbers lie between.
    init?(committed own: UInt64, seeing seen: PostgresSnapshot) {
        guard own < UInt64.max, own <= seen.end + Self.gapMax else { return nil }
        let unseen = seen.end < own ? Array(seen.end..<own) : []
        self.init(end: own + 1, running: seen.running.filter { $0 < own }.union(unseen))
    }

    func sees(_ number: UInt64) -> Bool { number < end && !running.contains(number) }

    /// Whether the other snapshot sees everything that this one sees.
    func isWithin(_ other: PostgresSnapshot) -> Bool {
        end <= other.end && !other.running.contains(where: sees)
    }

    /// The transactions that one or both of them see.
    func union(_ other: PostgresSnapshot) -> PostgresSnapshot {
        let (low, high) = end <= other.end ? (self, other) : (other, self)
        return PostgresSnapshot(end: high.end, running: high.running.filter { !low.sees($0) })
    }
}
