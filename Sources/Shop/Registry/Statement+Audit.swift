// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    enum Audits {
        static let next = Statement(
            "audit.next", [],
            "UPDATE realm SET audit_count = audit_count + 1 RETURNING audit_count")

        static let insert = Statement.insert("audit.insert", into: RealmSchema.audit)

        static let page = Statement(
            "audit.page", [.integer, .integer],
            """
            SELECT \(RealmSchema.audit.list()) FROM audit
            WHERE entry > $1 ORDER BY entry LIMIT $2
            """)

        static let all = [next, insert, page]
    }
}
