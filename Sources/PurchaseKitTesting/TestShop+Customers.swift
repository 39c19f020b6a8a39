// SPDX-License-Identifier: Apache-2.0

import Shop
public import StoreWire

/// Customers and their purchases, as the store's operators see them.
extension TestShop {
    /// Changes what a customer may do from now on. If `name` is nil, this is
    /// the sandbox's default customer. Throws ``Refusal`` `customerNotFound`.
    @discardableResult
    public func changeCustomer(
        _ name: String? = nil, canMakePayments: Bool? = nil, asksToBuy: Bool? = nil,
        interruptsPurchases: Bool? = nil
    ) async throws -> CustomerSummary {
        try await realm.customers.changeCustomer(
            try await customerID(name),
            ChangeCustomerRequest(
                canMakePayments: canMakePayments, asksToBuy: asksToBuy,
                interruptsPurchases: interruptsPurchases))
    }

    /// Deletes a customer's history. Devices are informed. If `name` is nil,
    /// this is the sandbox's default customer. Throws ``Refusal``
    /// `customerNotFound`, `chargesOwed`.
    @discardableResult
    public func clearHistory(of name: String? = nil) async throws -> HistoryCleared {
        try await realm.customers.clearHistory(
            ofCustomer: try await customerID(name), RequestContext(requestID: "test"))
    }

    /// Returns every transaction, or those of a customer, in the order of
    /// commits.
    public func transactions(of name: String? = nil) async throws -> [TransactionRecord] {
        var found: [TransactionRecord] = []
        var after: String?
        repeat {
            let page = try await realm.purchases.listTransactions(after: after)
            found += page.transactions
            after = page.next
        } while after != nil
        guard let name else { return found }
        let customer = try await customerID(name)
        return found.filter { $0.customerId == customer }
    }

    /// The number of a customer by name.
    func customerID(_ name: String?) async throws -> String {
        let name = name ?? Realm.defaultCustomer
        var after: String?
        while true {
            let page = try await realm.customers.listCustomers(after: after)
            if let found = page.first(where: { $0.name == name }) { return found.customerId }
            guard let last = page.last else {
                throw Refusal(
                    .notFound, code: "customerNotFound", "There is no such customer.",
                    field: "name", rule: "the name of a customer of this store",
                    remedy: "make one with `addCustomer`")
            }
            after = last.customerId
        }
    }
}
