// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StorageSQLite
import StoreWire
import Testing

@testable import Shop
@testable import Work

@Suite(.timeLimit(.minutes(5))) struct EdgeTests {
    @Test(arguments: [
        (
            "x", PurchaseRequest(productId: "p", quantity: 1, unitPrice: 1, currency: "USD"),
            "uuidInvalid", "purchaseId"
        ),
        (
            purchaseID(1),
            PurchaseRequest(productId: "p\0", quantity: 1, unitPrice: 1, currency: "USD"),
            "textInvalid", "productId"
        ),
        (
            purchaseID(1),
            PurchaseRequest(
                productId: String(repeating: "p", count: 256), quantity: 1, unitPrice: 1,
                currency: "USD"), "textTooLong", "productId"
        ),
        (
            purchaseID(1),
            PurchaseRequest(productId: "p", quantity: 1, unitPrice: -1, currency: "USD"),
            "priceInvalid", "unitPrice"
        ),
        (
            purchaseID(1),
            PurchaseRequest(productId: "p", quantity: 1, unitPrice: .max, currency: "USD"),
            "priceInvalid", "unitPrice"
        ),
        (
            purchaseID(1),
            PurchaseRequest(productId: "p", quantity: 1, unitPrice: 1, currency: "usd"),
            "currencyInvalid", "currency"
        ),
        (
            purchaseID(1), PurchaseRequest(productId: "p", quantity: 1, unitPrice: 1, currency: ""),
            "currencyInvalid", "currency"
        ),
        (
            purchaseID(1),
            PurchaseRequest(
                productId: "p", quantity: 1, unitPrice: 1, currency: "USD",
                applicationUsername: "a\0"), "textInvalid", "applicationUsername"
        ),
        (
            purchaseID(1),
            PurchaseRequest(
                productId: "p", quantity: 1, unitPrice: 1, currency: "USD",
                applicationUsername: String(repeating: "x", count: 1025)), "textTooLong",
            "applicationUsername"
        ),
        (
            purchaseID(1),
            PurchaseRequest(
                productId: "p", quantity: 1, unitPrice: 1, currency: "USD", replaces: "x"),
            "uuidInvalid", "replaces"
        ),
    ])
    func `a payment that breaks a rule is refused and nothing is written`(
        id: String, request: PurchaseRequest, code: String, field: String
    ) async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        world.places.counter.reset()

        let refusal = try await refusal {
            try await world.realm.purchases.purchase(id, request, session, TestWorld.context)
        }

        #expect(refusal.kind == .badRequest)
        #expect(refusal.error.code == code)
        #expect(refusal.error.field == field)
        #expect(refusal.error.rule != nil && refusal.error.remedy != nil)
        #expect(world.places.counter.commits == 0)
    }

    @Test(arguments: [
        ("0", Int64(0)), ("2000000000000000", 2_000_000_000_000_000),
        ("9223372036854775807", Int64.max),
    ])
    func `a number is decimal digits`(text: String, number: Int64) {
        #expect(Edge.number(text) == number)
    }

    @Test(arguments: ["", "-1", "+1", "1.0", "0x1", "9223372036854775808", "1 ", "٣"])
    func `text that is not a number is rejected`(text: String) {
        #expect(Edge.number(text) == nil)
    }

    @Test func `hexadecimal digits spell bytes`() {
        #expect(bytes(hexadecimal: "00ff1A") == [0, 255, 26])
        #expect(bytes(hexadecimal: "") == [])
        #expect(bytes(hexadecimal: "0") == nil)
        #expect(bytes(hexadecimal: "0g") == nil)
    }

    @Test func `every refusal has words for a device`() {
        for refusal in PurchaseRefusal.allCases {
            let error = refusal.wireError
            #expect(error.code == refusal.rawValue)
            #expect(error.message.hasSuffix("."))
            #expect(error.rule?.isEmpty == false && error.remedy?.isEmpty == false)
        }
    }

    @Test func `every named statement prepares`() async throws {
        let registry = try await SQLiteStorage.open(
            file: nil, migrations: RegistrySchema.migrations)
        let realm = try await SQLiteStorage.open(file: nil, migrations: RealmSchema.migrations)
        var names: Set<String> = []
        for (storage, statements) in [
            (registry, Statement.Shop.registry), (realm, Statement.Shop.realm),
        ] {
            for statement in statements {
                #expect(names.insert(statement.name).inserted, "\(statement.name) twice")
                let explained = Statement(
                    statement.name, statement.parameters, "EXPLAIN " + statement.sql)
                let nulls = statement.parameters.map { _ in SQLValue.null }
                _ = try await storage.read { try $0.query(explained, nulls) }
            }
        }
        #expect(names.count > 40)
    }

    @Test func `the way of a purchase finds every row by an index`() async throws {
        let realm = try await SQLiteStorage.open(file: nil, migrations: RealmSchema.migrations)
        let statements = [
            Statement.Sessions.find, Statement.Lines.line, Statement.Lines.foreseen,
            Statement.Lines.now, Statement.Clocks.one,
            Statement.Customers.revision, Statement.Customers.byName, Statement.Purchases.facts,
            Statement.Purchases.move, Statement.Purchases.one,
            Statement.Purchases.waitingByID, Statement.Purchases.waitingPage,
            Statement.Purchases.answeredSince, Statement.DueWorks.heads, Statement.DueWorks.take,
            Statement.Errands.take,
            Statement.Transactions.one, Statement.Transactions.byID,
            Statement.Transactions.since, Statement.Transactions.finish,
            Statement.Transactions.records, Statement.ServerKeys.byID,
        ]

        for statement in statements {
            let steps = try await plan(of: statement, in: realm)
            // The realm's own row is the only one of its table.
            let scans = steps.filter { $0.hasPrefix("SCAN") && $0 != "SCAN r" }
            #expect(scans.isEmpty, "\(statement.name): \(steps)")
            #expect(!steps.contains { $0.contains("TEMP B-TREE") }, "\(statement.name): \(steps)")
        }
    }

    /// From the transactions it took 60 ms for a customer with 1,000 of them.
    @Test func `what a family shares is looked for from the shares`() async throws {
        let realm = try await SQLiteStorage.open(file: nil, migrations: RealmSchema.migrations)

        let steps = try await plan(of: Statement.Families.periods, in: realm)

        #expect(steps.filter { $0.hasPrefix("SEARCH") }.first?.hasPrefix("SEARCH s ") == true)
        #expect(!steps.contains { $0.hasPrefix("SCAN") })
    }

    private func plan(of statement: Statement, in storage: SQLiteStorage) async throws -> [String] {
        let plan = Statement(
            statement.name, statement.parameters, "EXPLAIN QUERY PLAN " + statement.sql)
        let nulls = statement.parameters.map { _ in SQLValue.null }
        return try await storage.read { reading in
            try reading.query(plan, nulls).map { try $0.text("detail") }
        }
    }

    @Test func `the customer's line is the first statement of every write`() async throws {
        let world = try await TestWorld.open()
        let token = try await world.signIn().token
        let session = try await world.realm.customers.session(token: token)

        world.places.counter.reset()
        let sold = try await world.buy(purchaseID(1), session: session)
        #expect(world.places.counter.statements.first == "customers.line")

        world.places.counter.reset()
        let id = try #require(try world.verified(sold.signedTransaction).transactionId)
        _ = try await world.realm.purchases.finish(id, session, TestWorld.context)
        #expect(
            world.places.counter.statements == [
                "customers.line", "customers.now", "transactions.finish",
            ])
    }
}
