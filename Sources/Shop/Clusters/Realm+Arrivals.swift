// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// Customers of other clusters come in two commits. The first, at home, takes
/// the name and keeps all that the row will say; the second writes the row on
/// the customer's own cluster, unless it is there. What lies between the two
/// is made good by the customer's next sign-in, or by whoever works here.
extension Realm {
    /// Arrivals looked at in one page.
    private static let arrivalPage: Int64 = 100

    /// Writes the customer's row where it is missing. Answers false where
    /// nothing was on its way.
    @discardableResult
    func settleArrival(_ customer: CustomerID) async throws -> Bool {
        let key = SQLValue.integer(customer.value)
        let row = try await home.read { try $0.first(Statement.Clustering.arrival, [key]) }
        guard let row else { return false }
        try await settle(arrival: row)
        return true
    }

    func settleArrivalQuietly(_ customer: CustomerID) async {
        do { try await settleArrival(customer) } catch {
            ports.log(
                .warning, "a customer is on the way to a cluster that cannot take it now", nil,
                ["customer": customer.description, "fault": "\(error)"])
        }
    }

    /// All that are on their way to one cluster.
    func settleArrivals(in index: Int) async throws {
        var last: Int64 = 0
        while true {
            let from: [SQLValue] = [.integer(last), .integer(Self.arrivalPage)]
            let rows = try await home.read { try $0.query(Statement.Clustering.arrivals, from) }
            for row in rows {
                last = try row.integer("customer_id")
                guard clusters.map.cluster(of: last) == index else { continue }
                try await settle(arrival: row)
            }
            if rows.count < Int(Self.arrivalPage) { return }
        }
    }

    /// Once or twice, it is the same.
    func settle(arrival row: Row) async throws {
        let number = try row.integer("customer_id")
        let values: [SQLValue] = [
            .integer(number), .text(try row.text("name")),
            .optional(try row.optionalText("storefront")), .boolean(try row.boolean("may_buy")),
            .optional(try row.optionalText("password_hash")),
            .integer(try row.integer("created_at")), .boolean(try row.boolean("asks_to_buy")),
            .boolean(try row.boolean("interrupts_purchases")),
            .optional(try row.optionalText("email")),
        ]
        try await clusters.of(number: number).write {
            try $0.execute(Statement.Clustering.settle, values)
        }
        try await home.write {
            try $0.execute(Statement.Clustering.arrived, [.integer(number)])
        }
    }

    /// Who has the name: one question with one cluster, else the home is
    /// asked who, and the customer's cluster all about them. Where nobody has
    /// it, a cluster is asked all the same, so that the time tells nothing.
    func customer(named name: String) async throws -> Row? {
        let key = SQLValue.text(Self.signInKey(name))
        if clusters.isOne {
            return try await home.read { try $0.first(Statement.Customers.byName, [key]) }
        }
        let owner = try await home.read {
            try $0.first(Statement.Clustering.owner, [key])?.integer("customer_id")
        }
        let number = owner ?? Self.nobody(Self.signInKey(name))
        let far = clusters.of(number: number)
        let row = try await far.read {
            try $0.first(Statement.Customers.byID, [.integer(number)])
        }
        guard let owner, row == nil else { return row }
        try await settleArrival(CustomerID(owner))
        return try await far.read { try $0.first(Statement.Customers.byID, [.integer(owner)]) }
    }
}
