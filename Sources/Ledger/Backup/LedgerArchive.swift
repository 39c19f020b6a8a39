// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// A ledger's backup, read to its end and judged before any of it is written.
struct LedgerArchive {
    let contents: ArchiveContents

    init(path: String) throws {
        let (units, credits) = (SpentUnits(), CreditBalance())
        contents = try ArchiveContents(
            path: path, holds: LedgerBackup.holds, judge: Self.judge(units, credits))
        try check(units, credits)
    }

    init(bytes: [UInt8], name: String) throws {
        let (units, credits) = (SpentUnits(), CreditBalance())
        contents = try ArchiveContents(
            bytes: bytes, name: name, holds: LedgerBackup.holds, judge: Self.judge(units, credits))
        try check(units, credits)
    }

    private static func judge(_ units: SpentUnits, _ credits: CreditBalance) -> ArchiveJudge {
        LedgerSchema.judge { _, table, row in
            do { try units.add(table, row) } catch { return BrokenRule("spent", SpentUnits.rule) }
            do { try credits.add(table, row) } catch {
                return BrokenRule("wallet", CreditBalance.rule)
            }
            return nil
        }
    }

    private func check(_ units: SpentUnits, _ credits: CreditBalance) throws {
        guard units.isBalanced else {
            throw ArchiveContents.invalid(
                contents.path, "`spent` of `purchases`, or `unit` of `redemptions`",
                SpentUnits.rule)
        }
        guard credits.isBalanced else {
            throw ArchiveContents.invalid(
                contents.path, "`credit_books`, `credit_entries` or `grants`",
                CreditBalance.rule)
        }
    }
}

/// Compares the units that purchases have spent with those that redemptions name.
/// If they differed, the next redemption could spend a unit that is spent already.
/// Sums of hashes with this process's own seed show this without keeping the
/// rows. A class, because the judge's closure updates it.
private final class SpentUnits {
    static let rule = "units 1 to `spent` of a purchase, each in one redemption"

    private var balance: UInt64 = 0

    var isBalanced: Bool { balance == 0 }

    func add(_ table: String, _ row: Row) throws {
        switch table {
        case "purchases":
            for unit in 0..<(try row.integer("spent")) {
                balance &+= try Self.hash(row, unit: unit + 1)
            }
        case "redemptions":
            if let unit = try row.optionalInteger("unit") {
                balance &-= try Self.hash(row, unit: unit)
            }
        default: break
        }
    }

    private static func hash(_ row: Row, unit: Int64) throws -> UInt64 {
        var hasher = Hasher()
        for column in ["root", "environment", "bundle_id", "transaction_id"] {
            try row.text(column).hashBytes(into: &hasher)
        }
        hasher.combine(unit)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
