// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Storage

/// The rules for the values of a ledger's backup. A test compares the tables
/// and columns with the schema.
enum LedgerArchiveRules {
    static let tables = [
        TableRules("accounts", ["account": .name, "revision": .count]),
        TableRules(
            "purchases",
            key.merging([
                "original_transaction_id": .name, "product_id": .name, "product_type": .name,
                "quantity": quantity, "purchased_at": signedTime, "price": anything.optional,
                "currency": .text(bytes: 1...255).optional, "recorded_at": .time,
                "signed_at": signedTime, "revoked_at": signedTime.optional,
                "revocation_reason": anything.optional,
                "account": .name.optional, "spent": .integer(0...quantityMax),
                "revision": .count,
            ]) { first, _ in first }
        ) { row in
            let spent = (try? row.integer("spent")) ?? 0
            let quantity = (try? row.integer("quantity")) ?? 0
            return spent <= quantity ? nil : "no more units spent than there are"
        },
        TableRules(
            "redemptions",
            key.merging([
                "account": .name, "idempotency_key": .name,
                "purpose": .text(bytes: 1...Edge.purposeBytesMax),
                "asked_transaction_id": .name.optional, "asked_product_id": .name.optional,
                "product_id": .name, "unit": quantity, "redeemed_at": .time,
            ]) { first, _ in first }),
        TableRules(
            "ledger_keys",
            ["door": .word(["merchant", "metrics"]), "secret": .text(bytes: 16...255)]),
    ]

    private static let quantityMax = Int64(BookedFacts.quantityMax)
    private static let quantity = ValueRule.integer(1...quantityMax)
    /// A value that another store has signed. The ledger books it unchanged.
    private static let anything = ValueRule.integer(Int64.min...Int64.max)
    private static let signedTime = ValueRule.integer(
        -Int64(Timestamp.magnitudeMax)...Int64(Timestamp.magnitudeMax))

    private static let key: [String: ValueRule] = [
        "root": .text("64 hexadecimal digits in lower case") {
            $0.utf8.count == 64
                && $0.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        },
        "environment": .text("an environment that a ledger books") {
            LedgerEnvironment(named: $0) != nil
        },
        "bundle_id": .name, "transaction_id": .name,
    ]

    static var judge: ArchiveJudge {
        ArchiveJudge(rules: { $0 == LedgerBackup.database ? tables : nil })
    }
}

extension LedgerRestore {
    /// Checks a backup like a restore does before it writes anything. Throws
    /// ``ArchiveFault``.
    public static func check(_ bytes: [UInt8], name: String) throws {
        _ = try ArchiveContents(
            bytes: bytes, name: name, holds: LedgerBackup.holds, judge: LedgerArchiveRules.judge)
    }
}
