// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StoreWire
import Testing

@testable import Shop

@Suite(.timeLimit(.minutes(5))) struct OperatorTests {
    @Test func `a customer is made once`() async throws {
        let world = try await TestWorld.open()

        let made = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "Ann", password: "pw", storefront: "DEU"))
        let again = try await refusal {
            try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "ann"))
        }

        #expect(made.name == "Ann")
        #expect(made.storefront == "DEU")
        #expect(made.hasPassword && made.canMakePayments)
        #expect(made.createdDate == TestWall.start)
        #expect(again.kind == .conflict)
        #expect(again.error.code == "customerExists")
        #expect(try await world.realm.customers.listCustomers().map(\.name) == ["customer", "Ann"])
    }

    @Test(arguments: [
        (CreateCustomerRequest(name: ""), "textEmpty", "name"),
        (CreateCustomerRequest(name: " \u{3000}"), "textEmpty", "name"),
        (CreateCustomerRequest(name: "a\0"), "textInvalid", "name"),
        (
            CreateCustomerRequest(name: String(repeating: "x", count: 101)), "textTooLong",
            "name"
        ),
        (CreateCustomerRequest(name: "a", storefront: "XX"), "storefrontUnknown", "storefront"),
        (CreateCustomerRequest(name: "a", email: ""), "emailInvalid", "email"),
        (CreateCustomerRequest(name: "a", email: "ann"), "emailInvalid", "email"),
        (CreateCustomerRequest(name: "a", email: "ann@"), "emailInvalid", "email"),
        (CreateCustomerRequest(name: "a", email: "@x.org"), "emailInvalid", "email"),
        (CreateCustomerRequest(name: "a", email: "a@b@c"), "emailInvalid", "email"),
        (CreateCustomerRequest(name: "a", email: "a b@x.org"), "emailInvalid", "email"),
        (CreateCustomerRequest(name: "a", email: "a@x.org\n"), "emailInvalid", "email"),
        (CreateCustomerRequest(name: "a", email: "a\u{202E}@x.org"), "emailInvalid", "email"),
        (
            CreateCustomerRequest(name: "a", email: String(repeating: "x", count: 253) + "@y"),
            "emailInvalid", "email"
        ),
        (CreateCustomerRequest(name: "a", password: ""), "textEmpty", "password"),
        (
            CreateCustomerRequest(name: "a", password: String(repeating: "x", count: 257)),
            "textTooLong", "password"
        ),
    ])
    func `a customer that breaks a rule is refused`(
        request: CreateCustomerRequest, code: String, field: String
    ) async throws {
        let world = try await TestWorld.open()

        let refusal = try await refusal { try await world.realm.customers.createCustomer(request) }

        #expect(refusal.error.code == code)
        #expect(refusal.error.field == field)
    }

    @Test func `customers come in pages`() async throws {
        let world = try await TestWorld.open()
        for n in 0..<4 {
            _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "c\(n)"))
        }

        var names: [String] = []
        var after: String?
        while true {
            let page = try await world.realm.customers.listCustomers(after: after, limit: 2)
            names += page.map(\.name)
            guard let last = page.last else { break }
            after = last.customerId
        }

        #expect(names == ["customer", "c0", "c1", "c2", "c3"])
    }

    @Test func `transactions are listed with all that is known`() async throws {
        let world = try await TestWorld.open()
        let sold = try await world.buy("credits.5", purchaseID(1), quantity: 2)

        let list = try await world.realm.purchases.listTransactions()

        let record = try #require(list.transactions.first)
        #expect(list.transactions.count == 1)
        #expect(list.next == nil)
        #expect(record.payload == (try world.verified(record.signedTransactionInfo)))
        #expect(
            record.payload.transactionId
                == (try world.verified(sold.signedTransaction).transactionId))
        #expect(record.payload.price == 1980)
        #expect(record.unitPrice == 990)
        #expect(record.purchaseId == purchaseID(1))
        #expect(!record.isFinished)
    }

    @Test func `a record is one flat object`() async throws {
        let world = try await TestWorld.open()
        try await world.buy(purchaseID(1))
        let record = try #require(
            try await world.realm.purchases.listTransactions().transactions.first)

        let json = try JSONEncoder().encode(record)

        let object = try #require(
            try JSONSerialization.jsonObject(with: json) as? [String: Any])
        #expect(object["productId"] as? String == "credits.5")
        #expect(object["signedTransactionInfo"] as? String == record.signedTransactionInfo)
        #expect(object["payload"] == nil)
        #expect(try JSONDecoder().decode(TransactionRecord.self, from: json) == record)
    }

    @Test func `transactions come in pages and by app and customer`() async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "other"))
        let other = try await world.session(customer: "other")
        let mine = try await world.session()
        for n in 0..<3 {
            try await world.buy(purchaseID(n), session: mine)
            try await world.buy(purchaseID(n), session: other)
        }

        var ids: [String?] = []
        var after: String?
        repeat {
            let page = try await world.realm.purchases.listTransactions(after: after, limit: 2)
            ids += page.transactions.map(\.payload.transactionId)
            after = page.next
        } while after != nil

        #expect(Set(ids).count == 6 && ids.count == 6)
        let theirs = try await world.realm.purchases.listTransactions(
            customer: other.customer.description)
        #expect(theirs.transactions.count == 3)
        #expect(theirs.transactions.allSatisfy { $0.customerId == "\(other.customer)" })
        let none = try await world.realm.purchases.listTransactions(bundleID: "com.example.nothing")
        #expect(none.transactions.isEmpty)
    }

    @Test func `a commit larger than a page of the list is listed whole`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        for n in 0..<5 { try await world.buy(purchaseID(n), session: session) }
        try await world.writeAsOneCommit(session)

        var ids: [String?] = []
        var after: String?
        repeat {
            let page = try await world.realm.purchases.listTransactions(after: after, limit: 2)
            ids += page.transactions.map(\.purchaseId)
            after = page.next
        } while after != nil && ids.count < 10

        #expect(ids == (0..<5).map { purchaseID($0) })
    }

    @Test(arguments: ["x", "1", "1.2", "1.2.x", "..", "-1.0.0", "1.2.3.4"])
    func `an invalid cursor is refused`(after: String) async throws {
        let world = try await TestWorld.open()

        let refusal = try await refusal {
            try await world.realm.purchases.listTransactions(after: after)
        }

        #expect(refusal.error.code == "cursorInvalid")
    }
}
