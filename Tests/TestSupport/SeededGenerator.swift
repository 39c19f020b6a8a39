// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation

/// A source of examples for property tests. The seed is the test's argument,
/// so that a failure names it:
///
///     @Test(arguments: Seeds.all) func `…`(seed: UInt64) {
///         var generator = SeededGenerator(seed)
public struct SeededGenerator: RandomNumberGenerator {
    private var bits: SplitMix64

    public init(_ seed: UInt64) {
        bits = SplitMix64(state: seed)
    }

    public mutating func next() -> UInt64 { bits.next() }

    public mutating func integer(in range: ClosedRange<Int64>) -> Int64 {
        Int64.random(in: range, using: &self)
    }

    public mutating func integer(in range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &self)
    }

    public mutating func boolean() -> Bool { next() & 1 == 1 }

    public mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// Returns one of `elements`, which must not be empty.
    public mutating func one<Element>(of elements: some Collection<Element>) -> Element {
        let index = integer(in: 0...(elements.count - 1))
        return elements[elements.index(elements.startIndex, offsetBy: index)]
    }

    /// Returns up to `count` characters of several scripts, including quotes
    /// and symbols, without U+0000.
    public mutating func text(upTo count: Int) -> String {
        let letters = Array("aZ09 _-'\"\\$%/{}[]:,\n\t\u{7F}éß€猴🐒\u{0301}\u{FFFD}")
        return String((0..<integer(in: 0...count)).map { _ in one(of: letters) })
    }
}

/// Which of many similar cases a run plays: a share that its seed draws. All of
/// them with `SHOPKEEPER_CUTS=all`, as `make soak` sets it.
public enum SeededShare {
    public static let isAll = ProcessInfo.processInfo.environment["SHOPKEEPER_CUTS"] == "all"

    /// Returns one case in `count`, in order, beginning with the one that the
    /// run's seed draws.
    public static func of<Cases: RandomAccessCollection>(
        _ cases: Cases, oneIn count: Int
    ) -> [Cases.Element] where Cases.Index == Int {
        guard !isAll, count > 1 else { return Array(cases) }
        let first = Int(Seeds.fresh % UInt64(count))
        return stride(from: cases.startIndex + first, to: cases.endIndex, by: count)
            .map { cases[$0] }
    }
}

/// The seeds of property tests: three constant ones, and one for this run.
/// `SHOPKEEPER_SEED=N` uses N instead of the last.
public enum Seeds {
    public static let all: [UInt64] = [1, 2, 3, fresh]

    /// The same for a whole run. Printed once.
    public static let fresh: UInt64 = {
        let given = ProcessInfo.processInfo.environment["SHOPKEEPER_SEED"].flatMap(UInt64.init)
        let seed = given ?? UInt64.random(in: 1_000...999_999_999)
        print("fresh seed \(seed) (SHOPKEEPER_SEED=\(seed) replays this run's)")
        return seed
    }()
}
