// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// Compares each book of credits with its entries and with the grants that are
/// spent from it. If they differed, a spending could find credits that no purchase
/// has brought in. Every number is multiplied by a hash of its book, with this
/// process's own seed. So sums show a difference without keeping the rows. A class,
/// because the judge's closure updates it.
final class CreditBalance {
    static let rule = "a book is the sum of its entries, numbered from 1, and of its grants"

    /// The legs, the entries and their numbers, what is left and what is spent.
    private var sums = [UInt64](repeating: 0, count: 8)
    private static let legs = ["wallet", "issued", "spent", "written_off"]

    var isBalanced: Bool { sums.allSatisfy { $0 == 0 } }

    func add(_ table: String, _ row: Row) throws {
        switch table {
        case "credit_books":
            let count = UInt64(bitPattern: try row.integer("entries"))
            let legs = try Self.legs.map { UInt64(bitPattern: try row.integer($0)) }
            // The least sum of so many numbers is that of 1 to `count`.
            let numbers =
                count % 2 == 0 ? count / 2 &* (count &+ 1) : (count &+ 1) / 2 &* count
            add(legs + [count, numbers, legs[0], legs[2]], try Self.hash(row, "currency"))
        case "credit_entries":
            let legs = try Self.legs.map { UInt64(bitPattern: try row.integer($0)) }
            let number = UInt64(bitPattern: try row.integer("number"))
            subtract(legs + [1, number, 0, 0], try Self.hash(row, "currency"))
        case "grants":
            guard try row.text("kind") == GrantKind.credits else { return }
            let left = UInt64(bitPattern: try Self.left(row))
            let spent = UInt64(bitPattern: try row.integer("consumed"))
            subtract([0, 0, 0, 0, 0, 0, left, spent], try Self.hash(row, "name"))
        default: break
        }
    }

    /// What a grant adds to the balance of its book.
    private static func left(_ row: Row) throws -> Int64 {
        let (amount, consumed) = (try row.integer("amount"), try row.integer("consumed"))
        // True and false are 1 and 0 in an archive of SQLite.
        let isReversed =
            switch try row.value("is_reversed") {
            case .boolean(let flag): flag
            case .integer(let number): number != 0
            default: false
            }
        guard isReversed, try row.text("on_reversal") != Grant.Reversal.keep.rawValue else {
            return amount &- consumed
        }
        return try row.text("on_reversal") == Grant.Reversal.debt.rawValue ? 0 &- consumed : 0
    }

    private func add(_ numbers: [UInt64], _ factor: UInt64) {
        for (place, number) in numbers.enumerated() { sums[place] &+= number &* factor }
    }

    private func subtract(_ numbers: [UInt64], _ factor: UInt64) {
        for (place, number) in numbers.enumerated() { sums[place] &-= number &* factor }
    }

    /// Odd, so that no number but zero becomes zero.
    private static func hash(_ row: Row, _ currency: String) throws -> UInt64 {
        var hasher = Hasher()
        for column in ["account", "environment", currency] {
            try row.text(column).hashBytes(into: &hasher)
        }
        return UInt64(bitPattern: Int64(hasher.finalize())) | 1
    }
}
