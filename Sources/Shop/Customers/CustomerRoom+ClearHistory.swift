// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire
import Work

extension CustomerRoom {
    /// Deletes a sandbox customer's history in one commit: purchases and
    /// transactions, and its reviews of apps. Waiting payments are declined. The
    /// customer, its sessions
    /// and its devices stay, and the devices are informed. Deleted numbers are
    /// not reused. Signed notifications stay and are sent, unsigned ones are
    /// deleted with their transactions. Refusals, in order: `sandboxOnly`,
    /// `customerNotFound`, `chargesOwed`.
    public func clearHistory(
        ofCustomer customerID: String, _ context: RequestContext
    ) async throws -> HistoryCleared {
        guard !realm.isProduction else { throw Self.historyIsKept }
        guard let number = Edge.number(customerID) else { throw Self.customerNotFound }
        let who = context.actor
        let question = LineQuestion(
            statement: Statement.Clearing.facts, values: [.text(WorkKind.processorLane)])
        let cleared = try await realm.line(
            of: CustomerID(number), asking: question, else: Self.customerNotFound
        ) { line in
            let (key, writing, facts) = (SQLValue.integer(number), line.writing, line.facts)
            guard try facts.integer("charges") == 0 else { throw Self.chargesOwed }
            let cleared = HistoryCleared(
                customerId: customerID, purchases: try facts.integer("purchases"),
                transactions: try facts.integer("transactions"),
                revision: line.revision)
            let last = try facts.optionalInteger("last_transaction")
            if let number = last.flatMap(NumberLayout.init(number:)) {
                try writing.execute(
                    Statement.Resets.markNumber,
                    [.integer(number.kind.rawValue), .integer(number.count + 1)])
            }
            for statement in Statement.Clearing.deletions {
                try writing.execute(statement, [key])
            }
            try FamilyDebt.owe(line)
            let revised: [SQLValue] = [key, .integer(cleared.revision)]
            try writing.execute(Statement.Clearing.decline, revised)
            try writing.execute(Statement.Clearing.mark, revised)
            try AuditEntry(
                who: who, wall: line.wall, deed: "customer.clearHistory", subject: customerID,
                before: [
                    "purchases": "\(cleared.purchases)",
                    "transactions": "\(cleared.transactions)",
                ], after: ["purchases": "0", "transactions": "0"], isChangeForSure: true
            ).write(writing)
            return cleared
        }
        // What the customer has redeemed and said of apps is at the home.
        try await realm.bookkeepingAtHome { writing -> Ending<Void> in
            for statement in Statement.Clearing.atHome {
                try writing.execute(statement, [.integer(number)])
            }
            return .commit(())
        }
        realm.wake(CustomerID(number))
        realm.ring(CustomerID(number))
        realm.ports.log(
            .info, "history cleared", context,
            ["customer": customerID, "transactions": "\(cleared.transactions)"])
        return cleared
    }

    private static var historyIsKept: Refusal {
        Refusal(
            .forbidden, code: "sandboxOnly", "A production realm keeps what was sold.",
            field: "realm", rule: "histories are cleared in sandboxes only",
            remedy: "create a sandbox")
    }

    private static var chargesOwed: Refusal {
        Refusal(
            .conflict, code: "chargesOwed",
            "The payment processor has still to be asked about charges of this customer.",
            field: "customerId",
            rule: "nothing is cleared while a charge waits to be settled, captured or voided",
            remedy: "try again when the processor has answered")
    }
}

extension Statement {
    /// Statements for deleting a customer's history, behind the customer's
    /// line.
    enum Clearing {
        static let facts = Statement(
            "clearing.facts", [.integer, .text],
            """
            SELECT \(Lines.lineColumns),
                (SELECT count(*) FROM purchases p WHERE p.customer_id = $1) AS purchases,
                (SELECT count(*) FROM transactions t WHERE t.customer_id = $1) AS transactions,
                (SELECT max(t.transaction_id) FROM transactions t WHERE t.customer_id = $1)
                    AS last_transaction,
                (SELECT count(*) FROM errands e WHERE e.customer_id = $1 AND e.lane = $2)
                    + (SELECT count(*) FROM purchases u WHERE u.customer_id = $1
                        AND (u.state = 'authorising' OR u.void_owed_at IS NOT NULL)) AS charges
            FROM \(Lines.withClocks)
            """)

        static let mark = Statement(
            "clearing.mark", [.integer, .integer],
            """
            UPDATE customers SET cleared_revision = $2, history_revision = $2
            WHERE customer_id = $1
            """)

        /// The row is kept, so that a device that asks again does not buy
        /// again.
        static let decline = Statement(
            "clearing.decline", [.integer, .integer],
            """
            UPDATE purchases SET state = 'refused', refusal = 'approvalDeclined',
                approval = 'declined', revision = $2
            WHERE customer_id = $1 AND state = 'waiting'
            """)

        /// What ``RealmTable/history`` says of each table.
        static let deletions = RealmSchema.tables.compactMap { one -> Statement? in
            guard case .deleted(let condition) = one.history else { return nil }
            let rest = condition.map { " AND \($0)" } ?? ""
            return Statement(
                "clearing.\(one.table.name)", [.integer],
                "DELETE FROM \(one.table.name) WHERE customer_id = $1\(rest)")
        }

        /// What is deleted at the home, wherever the customer is.
        static let atHome =
            [Offers.forget]
            + [RealmSchema.reviews, RealmSchema.reviewRequests].map {
                Statement(
                    "clearing.\($0.name)", [.integer],
                    "DELETE FROM \($0.name) WHERE customer_id = $1")
            }

        static let all = [facts, mark, decline] + deletions + atHome.dropFirst()
    }
}
