// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// Creates customers of other clusters in two commits. The first one, at the
/// home, takes the name and keeps the contents of the row. The second one
/// writes the row on the customer's own cluster, unless it exists. If the
/// process dies in between, the customer's next sign-in or a worker completes
/// it.
extension Realm {
    /// The number of arrivals on one page.
    private static let arrivalPage: Int64 = 100

    /// Writes the customer's row if it is missing. Returns false if there was
    /// no arrival.
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
                .warning, "a customer cannot be written to its cluster at present", nil,
                ["customer": customer.description, "fault": "\(error)"])
        }
    }

    /// Completes all arrivals of one cluster.
    func settleArrivals(in index: Int) async throws {
        var last: Int64 = 0
        while true {
            let from: [SQLValue] = [.integer(last), .integer(Self.arrivalPage)]
            let rows = try await home.read {
                try $0.query(Statement.Clustering.arrivals, from)
            }
            for row in rows {
                last = try row.integer("customer_id")
                guard clusters.map.cluster(of: last) == index else { continue }
                try await settle(arrival: row)
            }
            if rows.count < Int(Self.arrivalPage) { return }
        }
    }

    /// Completes an arrival. A repeated call has no effect.
    func settle(arrival row: Row) async throws {
        let number = try row.integer("customer_id")
        let values = RealmSchema.customers.row(
            try RealmSchema.arrivals.values(row), ["revision": .integer(1)])
        try await clusters.of(number: number).write {
            try $0.execute(Statement.Clustering.settle, values)
        }
        try await home.write {
            try $0.execute(Statement.Clustering.arrived, [.integer(number)])
        }
    }
}
