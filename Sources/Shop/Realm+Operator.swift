// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Realm {
    /// How many entries one answer of the operator's verbs holds at most.
    public static let operatorPageMax = 1000

    /// Makes a customer. Refusals, in order: `textEmpty`, `textInvalid`,
    /// `textTooLong`, `storefrontUnknown`, `passwordMissing`, `customerExists`.
    public func createCustomer(
        _ request: CreateCustomerRequest,
        _ context: RequestContext = RequestContext(requestID: "none", actor: "server")
    ) async throws -> CustomerSummary {
        try Edge.name(request.name, "name", bytesMax: 100)
        if let storefront = request.storefront, Storefront.named(storefront) == nil {
            throw Self.unknownStorefront(field: "storefront")
        }
        let hash = try await passwordHash(request.password)
        let number = try await newNumber(.customer)
        let wall = ports.wall.now
        let entry = audit(
            "customer.create", "\(number)", before: nil, after: request.name, context)
        let inserted = try await storage.write { writing -> Row? in
            guard let clock = try writing.first(Statement.Realms.clock) else {
                throw StorageFault(.malformedRow, "the realm has no row")
            }
            let now = try ClockRow(clock, hasLastEvent: false).now(wall: wall)
            let key = SQLValue.text(Self.signInKey(request.name))
            guard
                try writing.first(Statement.Customers.claimName, [key, .integer(number)]) != nil
            else { return nil }
            try writing.execute(
                Statement.Customers.insert,
                [
                    .integer(number), .text(request.name), .optional(request.storefront),
                    .boolean(request.canMakePayments ?? true), .optional(hash),
                    .integer(now.milliseconds), .boolean(request.asksToBuy ?? false),
                ])
            try entry.write(writing)
            return try writing.first(Statement.Customers.byName, [key])
        }
        guard let inserted else {
            throw Refusal(
                .conflict, code: "customerExists", "There is a customer of this name already.",
                field: "name", rule: "a sign-in name is one customer's",
                remedy: "choose another name")
        }
        return try summary(inserted, shelf: try await loadShelf())
    }

    /// Customers in the order of their numbers, `limit` at a time, beyond the
    /// customer whose number is `after`.
    public func listCustomers(
        after: String? = nil, limit: Int = operatorPageMax
    ) async throws -> [CustomerSummary] {
        let values: [SQLValue] = [
            .integer(try Self.cursor(after, "after") ?? 0), .integer(Self.limit(limit)),
        ]
        let rows = try await storage.read {
            try $0.query(Statement.Customers.page, values)
        }
        let shelf = try await loadShelf()
        return try rows.map { try summary($0, shelf: shelf) }
    }

    /// Transactions, customer by customer in the order of their commits.
    /// Refusal: `cursorInvalid`.
    public func listTransactions(
        bundleID: String? = nil, customer: String? = nil, after: String? = nil,
        limit: Int = operatorPageMax
    ) async throws -> TransactionRecords {
        if let bundleID { try Edge.text(bundleID, "bundleId") }
        let parts = after?.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts == nil || parts?.count == 2 else { throw Self.cursorInvalid("after") }
        let values: [SQLValue] = [
            .integer(try Self.cursor(parts?.first, "after") ?? 0),
            .integer(try Self.cursor(parts?.last, "after") ?? 0), .optional(bundleID),
            .optional(try Self.cursor(customer, "customer")), .integer(Self.limit(limit)),
        ]
        let (clock, rows) = try await storage.read { reading in
            (
                try reading.first(Statement.Realms.clock),
                try reading.query(Statement.Transactions.page, values)
                    .map(TransactionFacts.init(row:))
            )
        }
        guard let clock else { throw StorageFault(.malformedRow, "the realm has no row") }
        let now = try ClockRow(clock, hasLastEvent: false).now(wall: ports.wall.now)
        let isFull = Int64(rows.count) == Self.limit(limit)
        return TransactionRecords(
            transactions: try rows.map { try record($0, at: max(now, $0.purchasedAt)) },
            next: isFull ? rows.last.map { "\($0.customer).\($0.revision)" } : nil)
    }

    private func record(_ facts: TransactionFacts, at now: Timestamp) throws -> TransactionRecord {
        let payload = facts.payload(environment: description.environment, signedAt: now)
        return TransactionRecord(
            payload: payload, signedTransactionInfo: try sign(payload),
            customerId: facts.customer.description, purchaseId: facts.purchaseID?.value,
            unitPrice: facts.unitPrice.milliunits, isFinished: facts.finishedAt != nil)
    }

    private func passwordHash(_ password: String?) async throws -> String? {
        guard let password else {
            guard !isProduction else {
                throw Refusal(
                    .badRequest, code: "passwordMissing",
                    "A production realm's customer needs a password.", field: "password",
                    rule: "only a sandbox's customers may have none", remedy: "give one")
            }
            return nil
        }
        return try await passwordHash(changedTo: password)
    }

    /// Nil where nothing is changed.
    func passwordHash(changedTo password: String?) async throws -> String? {
        guard let password else { return nil }
        try Edge.name(password, "password", bytesMax: Passwords.bytesMax)
        return try await passwords.hash(password)
    }

    func summary(_ row: Row, shelf: Shelf) throws -> CustomerSummary {
        let own = try row.optionalText("storefront")
        let first = shelf.apps.values.min { $0.bundleID.value < $1.bundleID.value }
        return CustomerSummary(
            customerId: String(try row.integer("customer_id")), name: try row.text("name"),
            storefront: own ?? first?.storefront ?? "USA",
            canMakePayments: try row.boolean("may_buy"),
            asksToBuy: try row.boolean("asks_to_buy"),
            hasPassword: try row.optionalText("password_hash") != nil,
            createdDate: Timestamp(milliseconds: try row.integer("created_at")))
    }

    static func limit(_ limit: Int) -> Int64 {
        Int64(min(max(limit, 1), operatorPageMax))
    }

    static func cursor(_ text: String?, _ field: String) throws -> Int64? {
        guard let text else { return nil }
        guard let number = Edge.number(text) else { throw cursorInvalid(field) }
        return number
    }

    static func cursorInvalid(_ field: String) -> Refusal {
        Refusal(
            .badRequest, code: "cursorInvalid", "This is no place to go on from.", field: field,
            rule: "as an earlier answer gave it", remedy: "leave it out to start over")
    }
}
