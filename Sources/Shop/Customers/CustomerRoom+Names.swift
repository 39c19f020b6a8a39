// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

extension CustomerRoom {
    /// Finds the customer with a sign-in name. With one cluster this is one
    /// query. Otherwise the home returns the number, and the customer's cluster
    /// the facts. For an unknown name a cluster is queried too, so that the
    /// time does not reveal whether the name exists.
    func customer(named name: String) async throws -> Row? {
        let key = SQLValue.text(CustomerRoom.signInKey(name))
        if realm.isOneCluster {
            return try await realm.readHouse { try $0.first(Statement.Customers.byName, [key]) }
        }
        let owner = try await realm.readHouse {
            try $0.first(Statement.Clustering.owner, [key])?.integer("customer_id")
        }
        let number = owner ?? CustomerRoom.nobody(CustomerRoom.signInKey(name))
        let row = try await row(ofCustomer: number)
        guard let owner, row == nil else { return row }
        try await realm.settleArrival(CustomerID(owner))
        return try await self.row(ofCustomer: owner)
    }

    /// Returns a customer by number or by sign-in name. Nil is the one that a sandbox
    /// was created with. Refusal: `customerNotFound`.
    func known(_ text: String?) async throws -> CustomerID {
        if let number = text.flatMap(Edge.number), try await row(ofCustomer: number) != nil {
            return CustomerID(number)
        }
        let name = text ?? Realm.defaultCustomer
        try Edge.text(name, "customer")
        guard let row = try await customer(named: name) else { throw Self.customerNotFound }
        return CustomerID(try row.integer("customer_id"))
    }

    private func row(ofCustomer number: Int64) async throws -> Row? {
        try await realm.read(ofNumber: number) {
            try $0.first(Statement.Customers.byID, [.integer(number)])
        }
    }
}
