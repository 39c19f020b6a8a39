// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage

/// The statements of one purchase's commit, to be run again under fresh keys
/// and for other customers: by a storage, or written down for pgbench.
struct PurchaseScript: Sendable {
    let steps: [RecordingStorage.Step]
    let customer: Int64
    let purchaseID: String
    let transactionID: Int64

    /// One commit through a storage.
    func run(_ storage: any Storage, customer: Int64, number: Int64) async throws {
        let id = UUID().uuidString.lowercased()
        try await storage.write { writing in
            for step in steps {
                let values = step.values.map { value -> SQLValue in
                    switch value {
                    case .integer(self.customer): return .integer(customer)
                    case .integer(transactionID): return .integer(number)
                    case .text(purchaseID): return .text(id)
                    case .text(let text):
                        return .text(
                            text.replacingOccurrences(of: "\(transactionID)", with: "\(number)"))
                    default: return value
                    }
                }
                try step.run(writing, values)
            }
        }
    }

    /// The same for pgbench, which knows numbers alone: client n buys for the
    /// n-th of `customers`, whose numbers are `step` apart.
    func pgbench(first: Int64, step: Int64) -> String {
        var lines = [
            #"\set id random(1000000000000000, 8000000000000000)"#,
            #"\set customer \#(first) + :client_id * \#(step)"#, "BEGIN;",
        ]
        for step in steps {
            var sql = step.statement.sql.replacingOccurrences(of: "\n", with: " ")
            for (index, value) in step.values.enumerated().reversed() {
                sql = sql.replacingOccurrences(of: "$\(index + 1)", with: literal(value))
            }
            lines.append(sql + ";")
        }
        return (lines + ["COMMIT;", ""]).joined(separator: "\n")
    }

    private func literal(_ value: SQLValue) -> String {
        switch value {
        case .null: return "NULL"
        case .boolean(let flag): return flag ? "TRUE" : "FALSE"
        case .integer(customer): return ":customer::bigint"
        case .integer(transactionID): return ":id::bigint"
        case .integer(let number): return "\(number)"
        case .text(purchaseID): return "(:id::text)"
        case .text(let text):
            let parts = text.components(separatedBy: "\(transactionID)").map(quoted)
            return parts.count == 1 ? parts[0] : "(\(parts.joined(separator: " || :id::text || ")))"
        case .blob(let bytes):
            let digits = bytes.map { String(format: "%02x", $0) }.joined()
            return #"'\x\#(digits)'::bytea"#
        }
    }

    private func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
    }
}
