// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// Customers, which operators create, change and list. Each change is audited.
extension CustomerRoom {
    /// Creates a customer. Refusals, in order: `textEmpty`, `textInvalid`,
    /// `textTooLong`, `emailInvalid`, `storefrontUnknown`, in production
    /// `sandboxOnly`, `passwordMissing` and `passwordTooShort`,
    /// `customerExists`.
    public func createCustomer(
        _ request: CreateCustomerRequest,
        _ context: RequestContext = RequestContext(requestID: "none", actor: "server")
    ) async throws -> CustomerSummary {
        try Edge.name(request.name, "name", bytesMax: 100)
        guard !VisibleText.isBlank(request.name) else {
            throw Refusal(
                .badRequest, code: "textEmpty", "The text has spaces only.", field: "name",
                rule: "letters, digits or signs", remedy: "give it")
        }
        try Edge.label(request.name, "name", bytesMax: 100)
        if let email = request.email { try Edge.email(email, "email") }
        try checkCustomer(request.storefront, interrupts: request.interruptsPurchases)
        let hash = try await passwordHash(request.password)
        let number = try await realm.newNumber(.customer)
        let key = Self.signInKey(request.name)
        let isFar = realm.isFar(CustomerID(number))
        let customer = NewCustomer(request, number: number, passwordHash: hash)
        let inserted = try await realm.house(.rows, context) { house -> Ending<Row?> in
            let writing = house.writing
            let now = try Realm.now(writing, wall: house.wall)
            guard
                try writing.first(
                    Statement.Customers.claimName, [.text(key), .integer(number)]) != nil
            else { return .leave(nil) }
            try house.audit("customer.create", "\(number)", before: nil, after: request.audited)
            guard !isFar else {
                try writing.execute(
                    Statement.Clustering.arrive, RealmSchema.arrivals.row(customer.account(at: now))
                )
                return .commit(
                    try writing.first(Statement.Clustering.arrival, [.integer(number)]))
            }
            try writing.execute(
                Statement.Customers.insert,
                RealmSchema.customers.row(customer.account(at: now), ["revision": .integer(1)]))
            return .commit(try writing.first(Statement.Customers.byName, [.text(key)]))
        }
        guard let inserted else {
            realm.giveBack(number)
            throw Refusal(
                .conflict, code: "customerExists", "There is a customer of this name already.",
                field: "name", rule: "a sign-in name is one customer's",
                remedy: "choose another name")
        }
        if isFar { await realm.settleArrivalQuietly(CustomerID(number)) }
        return try summary(inserted, shelf: try await realm.loadShelf())
    }

    /// Returns up to `limit` customers with numbers above `after`, ordered by
    /// number.
    public func listCustomers(
        after: String? = nil, limit: Int = ListPage.max
    ) async throws -> [CustomerSummary] {
        let values: [SQLValue] = [
            .integer(try ListPage.cursor(after, "after") ?? 0), .integer(ListPage.limit(limit)),
        ]
        let shelf = try await realm.loadShelf()
        let pages = try await realm.readAll {
            try $0.query(Statement.Customers.page, values)
                .map { (number: try $0.integer("customer_id"), row: $0) }
        }
        return try pages.joined().sorted { $0.number < $1.number }
            .prefix(Int(ListPage.limit(limit))).map { try summary($0.row, shelf: shelf) }
    }

    /// Changes a customer and the customer's rights. Earlier purchases do not
    /// change. A new password ends every session of the customer. Refusals, in
    /// order: `emailInvalid`, `storefrontUnknown`, in production `sandboxOnly`,
    /// those of a password, `textEmpty`, `textInvalid` and `textTooLong`,
    /// `customerNotFound` (first, if the id is not a number).
    public func changeCustomer(
        _ customerID: String, _ request: ChangeCustomerRequest,
        _ context: RequestContext = RequestContext(requestID: "none")
    ) async throws -> CustomerSummary {
        guard let number = Edge.number(customerID) else { throw Self.customerNotFound }
        if let email = request.email, !email.isEmpty { try Edge.email(email, "email") }
        try checkCustomer(request.storefront, interrupts: request.interruptsPurchases)
        let values: [SQLValue] = [
            .integer(number), request.canMakePayments.map(SQLValue.boolean) ?? .null,
            request.asksToBuy.map(SQLValue.boolean) ?? .null, .optional(request.storefront),
            request.interruptsPurchases.map(SQLValue.boolean) ?? .null, .optional(request.email),
        ]
        let password = try await passwordHash(changedTo: request.password)
        let who = context.actor
        let row = try await realm.line(of: CustomerID(number), else: Self.customerNotFound) {
            line in
            let (writing, wall) = (line.writing, line.wall)
            guard let before = try writing.first(Statement.Customers.byID, [.integer(number)])
            else { throw Self.customerNotFound }
            try writing.execute(Statement.Customers.change, values)
            if request != ChangeCustomerRequest() {
                try AuditEntry(
                    who: who, wall: wall, deed: "customer.change", subject: customerID,
                    before: try request.audited(before: before),
                    after: try request.audited(after: before)
                ).write(writing)
            }
            if let password {
                try writing.execute(
                    Statement.Customers.setPassword, [.integer(number), .text(password)])
                _ = try Self.endSessions(of: number, at: wall, writing)
            }
            return try writing.first(Statement.Customers.byID, [.integer(number)])
        }
        guard let row else { throw Self.customerNotFound }
        if password != nil { realm.wake(CustomerID(number)) }
        return try summary(row, shelf: try await realm.loadShelf())
    }

    private func checkCustomer(_ storefront: String?, interrupts: Bool?) throws {
        if let storefront, Storefront.named(storefront) == nil {
            throw CatalogueRules.unknownStorefront(field: "storefront")
        }
        guard interrupts == true, realm.isProduction else { return }
        throw Refusal(
            .forbidden, code: "sandboxOnly", "Nothing interrupts a production realm's purchases.",
            field: "interruptsPurchases", rule: "purchases are interrupted in sandboxes only",
            remedy: "leave it out, or make the customer in a sandbox")
    }

    private func passwordHash(_ password: String?) async throws -> String? {
        guard let password else {
            guard !realm.isProduction else {
                throw Refusal(
                    .badRequest, code: "passwordMissing",
                    "A production realm's customer needs a password.", field: "password",
                    rule: "only a sandbox's customers may have none", remedy: "give one")
            }
            return nil
        }
        return try await passwordHash(changedTo: password)
    }

    /// Nil if the password is not changed.
    func passwordHash(changedTo password: String?) async throws -> String? {
        guard let password else { return nil }
        try Edge.name(password, "password", bytesMax: Passwords.bytesMax)
        guard !realm.isProduction || password.count >= Passwords.productionCharactersMin else {
            throw Refusal(
                .badRequest, code: "passwordTooShort", "The password is too short.",
                field: "password",
                rule: "a production realm's customer has one of at least "
                    + "\(Passwords.productionCharactersMin) characters",
                remedy: "choose a longer one")
        }
        return try await realm.passwords.hash(password)
    }

    func summary(_ row: Row, shelf: Shelf) throws -> CustomerSummary {
        let own = try row.optionalText("storefront")
        let first = shelf.apps.values.min { $0.bundleID.value < $1.bundleID.value }
        return CustomerSummary(
            customerId: String(try row.integer("customer_id")), name: try row.text("name"),
            email: try row.optionalText("email"),
            storefront: own ?? first?.storefront ?? "USA",
            canMakePayments: try row.boolean("may_buy"),
            asksToBuy: try row.boolean("asks_to_buy"),
            interruptsPurchases: try row.boolean("interrupts_purchases"),
            hasPassword: try row.optionalText("password_hash") != nil,
            createdDate: Timestamp(milliseconds: try row.integer("created_at")))
    }

    static var customerNotFound: Refusal {
        Refusal(
            .notFound, code: "customerNotFound", "There is no such customer.",
            field: "customerId", rule: "the number that a customer was made with",
            remedy: "list the customers")
    }
}

/// A customer that is about to be created.
private struct NewCustomer: Sendable {
    let request: CreateCustomerRequest
    let number: Int64
    let passwordHash: String?

    init(_ request: CreateCustomerRequest, number: Int64, passwordHash: String?) {
        self.request = request
        self.number = number
        self.passwordHash = passwordHash
    }

    /// Returns the common columns of `customers` and `arrivals`.
    func account(at now: Timestamp) -> Table.Values {
        [
            "customer_id": .integer(number), "name": .text(request.name),
            "storefront": .optional(request.storefront),
            "may_buy": .boolean(request.canMakePayments ?? true),
            "password_hash": .optional(passwordHash), "created_at": .integer(now.milliseconds),
            "asks_to_buy": .boolean(request.asksToBuy ?? false),
            "interrupts_purchases": .boolean(request.interruptsPurchases ?? false),
            "email": .optional(request.email),
        ]
    }
}

extension CreateCustomerRequest {
    /// The fields for the audit. Never a password.
    fileprivate var audited: AuditFields {
        [
            "name": name, "email": email, "canMakePayments": "\(canMakePayments ?? true)",
            "asksToBuy": "\(asksToBuy ?? false)",
            "interruptsPurchases": "\(interruptsPurchases ?? false)", "storefront": storefront,
            "password": password.map { _ in "one" },
        ]
    }
}

extension ChangeCustomerRequest {
    /// The present values of the fields that this change names. Never a password.
    fileprivate func audited(before row: Row) throws -> AuditFields {
        [
            "email": try email.flatMap { _ in try row.optionalText("email") },
            "canMakePayments": try canMakePayments.map { _ in "\(try row.boolean("may_buy"))" },
            "asksToBuy": try asksToBuy.map { _ in "\(try row.boolean("asks_to_buy"))" },
            "interruptsPurchases": try interruptsPurchases.map { _ in
                "\(try row.boolean("interrupts_purchases"))"
            },
            "storefront": try storefront.flatMap { _ in try row.optionalText("storefront") },
            "password": try password.flatMap { _ in try row.optionalText("password_hash") }
                .map { _ in "one" },
        ]
    }

    /// The values that it sets.
    fileprivate func audited(after row: Row) throws -> AuditFields {
        let hadPassword = try row.optionalText("password_hash") != nil
        return [
            "email": email.flatMap { $0.isEmpty ? nil : $0 },
            "canMakePayments": canMakePayments.map { "\($0)" },
            "asksToBuy": asksToBuy.map { "\($0)" },
            "interruptsPurchases": interruptsPurchases.map { "\($0)" },
            "storefront": storefront,
            "password": password.map { _ in hadPassword ? "another" : "one" },
        ]
    }
}
