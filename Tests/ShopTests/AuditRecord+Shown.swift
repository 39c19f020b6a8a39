// SPDX-License-Identifier: Apache-2.0

import StoreWire

extension AuditRecord {
    /// The changed fields in one line.
    var shown: String {
        changes.map { "\($0.field): \($0.before ?? "-") > \($0.after ?? "-")" }
            .joined(separator: "; ")
    }

    /// The old values, and `-` for none.
    func before(_ field: String) -> String {
        changes.first { $0.field == field }?.before ?? "-"
    }

    /// The new values, and `-` for none.
    func after(_ field: String) -> String {
        changes.first { $0.field == field }?.after ?? "-"
    }
}
