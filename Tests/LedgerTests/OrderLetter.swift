// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Suites that take long if all of their cases are played.
enum LongPlay {
    /// The time limit.
    static let minutes = SeededShare.isAll ? 240 : 5

    /// The calls at which a story is cut. A story of hundreds of calls is cut at a share
    /// of them on PostgreSQL, also when all are played, because it takes seconds there.
    static func cuts(of calls: Int, oneIn count: Int, onPostgres: Int) -> [Int] {
        guard Shelf.isOnPostgres else { return SeededShare.of(0..<calls, oneIn: count) }
        let first = Int(Seeds.fresh % UInt64(onPostgres))
        let share = Array(stride(from: first, to: calls, by: onPostgres))
        return SeededShare.of(share, oneIn: 5)
    }
}

/// One of a few things that can happen, in every order.
protocol OrderLetter: CaseIterable, Sendable where AllCases == [Self] {}

extension OrderLetter {
    /// Every sequence of a length, by letters of `alphabet`.
    static func sequences(
        of alphabet: [Self] = allCases, length: Int
    ) -> some RandomAccessCollection<[Self]> {
        let count = (0..<length).reduce(1) { product, _ in product * alphabet.count }
        return (0..<count).lazy.map { sequence($0, of: alphabet, length: length) }
    }

    /// A share of them, which the run's seed draws; all with `SHOPKEEPER_CUTS=all`.
    /// `count` is coprime to the alphabet, so that every first letter is in the share.
    static func share(
        of length: Int, by alphabet: [Self] = allCases, oneIn count: Int
    ) -> [[Self]] {
        let all = (0..<length).reduce(1) { product, _ in product * alphabet.count }
        return SeededShare.of(0..<all, oneIn: count).map {
            sequence($0, of: alphabet, length: length)
        }
    }

    private static func sequence(_ number: Int, of alphabet: [Self], length: Int) -> [Self] {
        var rest = number
        return (0..<length).map { _ in
            defer { rest /= alphabet.count }
            return alphabet[rest % alphabet.count]
        }
    }
}
