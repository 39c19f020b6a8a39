// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@testable import Shop

/// What operators set of a customer, when it is made and later.
@Suite(.timeLimit(.minutes(5))) struct CustomerTests {
    private static let ann = RequestContext(requestID: "r", actor: "ann")

    private func answer(_ world: TestWorld, _ number: Int) async throws -> String {
        try await world.realm.purchases.answerApproval(
            purchaseID(number), AnswerApprovalRequest(answer: "approved", customerId: nil),
            TestWorld.context
        ).state
    }

    @Test func `all that can be set at creation is returned, and audited`() async throws {
        let world = try await TestWorld.open()
        let request = CreateCustomerRequest(
            name: "Kid", email: "kid@example.com", password: "secret", storefront: "DEU",
            canMakePayments: false, asksToBuy: true, interruptsPurchases: true)

        let made = try await world.realm.customers.createCustomer(request, Self.ann)

        #expect(
            made
                == CustomerSummary(
                    customerId: made.customerId, name: "Kid", email: "kid@example.com",
                    storefront: "DEU", canMakePayments: false, asksToBuy: true,
                    interruptsPurchases: true, hasPassword: true, createdDate: TestWall.start))
        #expect(try await world.realm.customers.listCustomers().last == made)
        let entry = try #require(try await world.realm.auditEntries().entries.last)
        #expect([entry.who, entry.deed] == ["ann", "customer.create"])
        #expect(entry.subject == made.customerId)
        #expect(
            entry.shown
                == "name: - > Kid; email: - > kid@example.com; canMakePayments: - > false; "
                + "asksToBuy: - > true; interruptsPurchases: - > true; storefront: - > DEU; "
                + "password: - > one")
    }

    @Test func `all that can be set later is returned, and audited`() async throws {
        let world = try await TestWorld.open()
        let made = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "kid"))
        let change = ChangeCustomerRequest(
            email: "kid@example.com", canMakePayments: false, asksToBuy: true,
            interruptsPurchases: true, password: "secret", storefront: "DEU")

        let changed = try await world.realm.customers.changeCustomer(
            made.customerId, change, Self.ann)
        let again = try await world.realm.customers.changeCustomer(
            made.customerId, ChangeCustomerRequest(asksToBuy: false), Self.ann)

        #expect(
            changed
                == CustomerSummary(
                    customerId: made.customerId, name: "kid", email: "kid@example.com",
                    storefront: "DEU", canMakePayments: false, asksToBuy: true,
                    interruptsPurchases: true, hasPassword: true, createdDate: TestWall.start))
        var asNamed = changed
        asNamed.asksToBuy = false
        #expect(again == asNamed, "what is not named stays")
        let entry = try #require(
            try await world.realm.auditEntries().entries.dropLast().last)
        #expect([entry.who, entry.deed] == ["ann", "customer.change"])
        #expect(entry.subject == made.customerId)
        #expect(
            entry.shown
                == "email: - > kid@example.com; canMakePayments: true > false; "
                + "asksToBuy: false > true; interruptsPurchases: false > true; "
                + "storefront: - > DEU; password: - > one")
    }

    @Test func `an address goes, and several customers may have one`() async throws {
        let world = try await TestWorld.open()
        let longest = String(repeating: "x", count: 252) + "@y"
        let request = CreateCustomerRequest(name: "ann", email: longest)
        let ann = try await world.realm.customers.createCustomer(request)
        let other = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(name: "other", email: longest))

        let gone = try await world.realm.customers.changeCustomer(
            ann.customerId, ChangeCustomerRequest(email: ""), Self.ann)
        let refused = try await refusal {
            try await world.realm.customers.changeCustomer(
                ann.customerId, ChangeCustomerRequest(email: "ann"))
        }

        #expect([ann.email, other.email] == [longest, longest])
        #expect(gone.email == nil)
        #expect(refused.error.code == "emailInvalid" && refused.error.field == "email")
        let entry = try #require(try await world.realm.auditEntries().entries.last)
        #expect(entry.shown == "email: \(longest) > -")
    }

    @Test func `a customer's purchases are interrupted, sold when answered, and then no more`()
        async throws
    {
        let world = try await TestWorld.open()
        let customer = try #require(try await world.realm.customers.listCustomers().first)
            .customerId
        func interrupt(_ interrupts: Bool) async throws {
            _ = try await world.realm.customers.changeCustomer(
                customer, ChangeCustomerRequest(interruptsPurchases: interrupts))
        }
        try await interrupt(true)

        let asked = try await world.buy("credits.5", purchaseID(1))
        #expect([asked.state, asked.waitingFor] == ["waiting", "attention"])
        #expect(try await answer(world, 1) == "sold")
        #expect(try await world.buy("credits.5", purchaseID(2)).state == "waiting")
        try await interrupt(false)
        #expect(try await world.buy("credits.5", purchaseID(2)).state == "waiting")
        #expect(try await world.buy("credits.5", purchaseID(3)).state == "sold")
    }

    @Test func `a customer with Ask to Buy waits for the approval only`() async throws {
        let world = try await TestWorld.open()
        let customer = try #require(try await world.realm.customers.listCustomers().first)
            .customerId
        _ = try await world.realm.customers.changeCustomer(
            customer, ChangeCustomerRequest(asksToBuy: true, interruptsPurchases: true))

        let asked = try await world.buy("credits.5", purchaseID(1))

        #expect(asked.waitingFor == "approval")
        #expect(try await answer(world, 1) == "sold")
    }

    @Test func `production interrupts no purchase`() async throws {
        let world = try await TestWorld.open(realm: "live", environment: .production)
        let made = try await world.realm.customers.createCustomer(
            CreateCustomerRequest(
                name: "ann", email: "ann@example.com", password: "correct horse",
                interruptsPurchases: false))

        let codes = [
            try await refusal {
                try await world.realm.customers.createCustomer(
                    CreateCustomerRequest(
                        name: "bob", password: "correct horse", interruptsPurchases: true))
            }.error,
            try await refusal {
                try await world.realm.customers.changeCustomer(
                    made.customerId, ChangeCustomerRequest(interruptsPurchases: true))
            }.error,
        ]

        #expect(codes.map(\.code) == ["sandboxOnly", "sandboxOnly"])
        #expect(codes.map(\.field) == ["interruptsPurchases", "interruptsPurchases"])
        #expect(made.email == "ann@example.com" && !made.interruptsPurchases)
    }
}
