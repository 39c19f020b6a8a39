// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import Synchronization
import Testing

@testable import Shop
@testable import Work

/// A store with customers who can be a family. Ann and Ben use the app.
struct FamilyWorld: Sendable {
    let world: TestWorld

    static let names = ["ann", "ben", "cat", "dan", "eve", "fay", "gus"]

    private static let numbers = Atomic<Int>(1000)

    init(_ world: TestWorld? = nil) async throws {
        if let world {
            self.world = world
            return
        }
        self.world = try await TestWorld.openWithSubscriptions()
        try await begin()
    }

    /// Makes customers and products.
    func begin() async throws {
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: TestWorld.bundleID.value, TestWorld.context)
        for product in ["pro", "news", "premium"] { try await share(product) }
        for name in Self.names {
            _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: name))
        }
        for name in ["ann", "ben"] { _ = try await session(name) }
    }

    var room: FamilyRoom { world.realm.families }

    /// Makes a product shareable.
    func share(_ product: String) async throws {
        var change = ProductChange()
        change.isFamilyShareable = true
        _ = try await world.realm.catalogue.changeProduct(
            product, bundleID: TestWorld.bundleID.value, change, TestWorld.context)
    }

    func id(_ name: String) async throws -> String {
        let all = try await world.realm.customers.listCustomers()
        return try #require(all.first { $0.name == name }?.customerId)
    }

    func session(_ name: String) async throws -> DeviceSession {
        try await world.session(customer: name, device: Self.device(name))
    }

    private static func device(_ name: String) -> String {
        let n = (names.firstIndex(of: name) ?? 0) + 1
        return "0f0f0f0f-1111-4222-8333-44444444444\(n)"
    }

    @discardableResult
    func add(_ member: String, to organiser: String = "ann") async throws -> FamilyRecord {
        try await room.join(
            try await id(organiser), member: try await id(member), TestWorld.context)
    }

    /// What the errand of a purchase does.
    func carry(_ name: String) async throws {
        let customer = CustomerID(try #require(Int64(try await id(name))))
        try await FamilyCarrier(realm: world.realm).carry(customer)
    }

    func work() async throws { _ = try await world.realm.keeping.workOnce() }

    func buy(_ product: String, _ name: String) async throws {
        let n = Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue
        try await world.buy(
            product, purchaseID(n), price: product == "yearly" ? 39990 : nil,
            session: try await session(name))
    }

    /// Runs a command of the tables, and all work that it causes.
    func run(_ command: String) async throws {
        try await start(command)
        try await work()
    }

    /// Runs a command of the tables. What it causes is done by a later one.
    func start(_ command: String) async throws {
        let parts = command.split(separator: ":").map(String.init)
        let (realm, context) = (world.realm, TestWorld.context)
        switch parts[0] {
        case "join": try await add("ben")
        case "leave", "dissolve":
            let member = parts[0] == "leave" ? "ben" : "ann"
            try await room.leave(try await id("ann"), member: try await id(member), context)
        case "stop", "resume":
            try await room.setSharing(
                try await id("ann"), FamilySharingRequest(isSharing: parts[0] == "resume"), context)
        case "offer": try await share(parts[1])
        case "buy": try await buy(parts[1], "ann")
        case "own": try await buy(parts[1], "ben")
        case "refund": try await decide("granted", "full")
        case "revoke": try await decide("granted", "nothing")
        case "reverse": try await decide("reversed", nil)
        case "refundFirst", "reverseFirst":
            let first = try #require(try await payloads("ann").first?.transactionId)
            _ =
                try await parts[0] == "refundFirst"
                ? world.decide(first, "granted", "full") : world.decide(first, "reversed")
        case "off", "on":
            try await realm.subscriptions.switchRenewal(
                of: try await last("ann"), on: parts[0] == "on", context)
        case "extend":
            try await realm.subscriptions.extend(try await last("ann"), days: 5, context)
        case "renew":
            try await realm.subscriptions.renew(try await last("ann"), context)
        case "expire":
            try await realm.subscriptions.expire(try await last("ann"), context)
        case "fail", "fix":
            try await realm.subscriptions.failBilling(
                of: try await last("ann"), parts[0] == "fail", context)
        case "grace":
            var change = AppChange()
            change.gracePeriodDays = 16
            _ = try await realm.catalogue.changeApp(TestWorld.bundleID.value, change, context)
        case "clock":
            _ = try await realm.customers.attachClock(
                AttachClockRequest(customers: [try await id("ann")]), context)
        case "month":
            for period in ["P1M", "P1D"] { try await advance(period) }
        case "clear":
            _ = try await realm.customers.clearHistory(
                ofCustomer: try await id("ann"), context)
        default: Issue.record("no command \(command)")
        }
    }

    /// Moves the clock that Ann has, which may be the realm's.
    func advance(_ period: String, _ notifications: JumpNotifications? = nil) async throws {
        let (realm, ann) = (world.realm, try await id("ann"))
        let request = MoveClockRequest(
            advancePeriod: period, notifications: notifications?.rawValue)
        _ =
            try await realm.customers.clock(of: ann).clockId == nil
            ? realm.moveClock(request, TestWorld.context)
            : realm.customers.moveClock(of: ann, request, TestWorld.context)
    }

    private func decide(_ state: String, _ kind: String?) async throws {
        _ = try await world.decide(try await last("ann"), state, kind)
    }

    private func last(_ name: String) async throws -> String {
        try #require(try await payloads(name).last?.transactionId)
    }

    // MARK: What is there

    func payloads(_ name: String) async throws -> [JWSTransactionDecodedPayload] {
        let id = try await id(name)
        return try await world.realm.purchases.listTransactions(customer: id).transactions
            .map(\.payload).sorted { first, second in
                (first.purchaseDate?.milliseconds ?? 0, first.transactionId ?? "")
                    < (second.purchaseDate?.milliseconds ?? 0, second.transactionId ?? "")
            }
    }

    func shown(_ name: String) async throws -> String {
        let now = try await world.realm.customers.clock(of: try await id(name)).now
        let words = try await payloads(name).map { payload in
            (payload.productId ?? "") + (payload.revocationDate == nil ? "" : "-")
                + (payload.isUpgraded == true ? "^" : "")
                + (payload.expiresDate.map { $0 <= now } == true ? "x" : "")
        }
        return words.isEmpty ? "none" : words.joined(separator: ",")
    }

    func owed(_ name: String) async throws -> [(type: String, subtype: String?, at: Int64)] {
        let owed = Statement(
            "test.owed", [.integer],
            """
            SELECT notification_type, subtype, created_at FROM outbox WHERE customer_id = $1
            ORDER BY revision, created_at, cause
            """)
        let number = try #require(Int64(try await id(name)))
        return try await world.realm.read(of: CustomerID(number)) { reading in
            try reading.query(owed, [.integer(number)]).map { row in
                (
                    try row.text("notification_type"), try row.optionalText("subtype"),
                    try row.integer("created_at")
                )
            }
        }
    }

    /// The notifications of a customer's transactions, with their subtypes.
    func told(_ name: String) async throws -> String {
        let words = try await owed(name).map { owed in
            owed.type + (owed.subtype.map { "/\($0)" } ?? "")
        }
        return words.isEmpty ? "none" : words.joined(separator: ",")
    }

    /// The number of a customer's notifications that are still to be sent.
    func unsent(_ name: String) async throws -> Int {
        let owed = Statement(
            "test.unsent", [.text, .integer],
            "SELECT subject FROM errands WHERE kind = $1 AND customer_id = $2")
        let number = try #require(Int64(try await id(name)))
        return try await world.realm.read(of: CustomerID(number)) {
            try $0.query(owed, [.text(WorkKind.notification), .integer(number)]).count
        }
    }

    /// The notifications of ``told(_:)``, signed.
    func notifications(_ name: String) async throws -> [ResponseBodyV2DecodedPayload] {
        let causes = Statement(
            "test.causes", [.integer],
            "SELECT cause FROM outbox WHERE customer_id = $1 ORDER BY revision, created_at, cause")
        let number = try #require(Int64(try await id(name)))
        let found = try await world.realm.read(of: CustomerID(number)) { reading in
            try reading.query(causes, [.integer(number)]).map { try $0.text("cause") }
        }
        var signed: [ResponseBodyV2DecodedPayload] = []
        for cause in found {
            let ready = try await world.realm.merchant.readyNotification(
                cause, of: CustomerID(number))
            signed.append(try world.opened(ready?.signedPayload))
        }
        return signed
    }

    /// All rows that a second look must not change.
    func everything() async throws -> [String] {
        let names: Set = [
            "family_people", "family_shares", "family_events", "transactions", "outbox",
            "subscription_events", "refund_events", "audit",
        ]
        var all: [String] = []
        for table in RealmSchema.tables.map(\.table) where names.contains(table.name) {
            let rows = try await world.realm.rows(
                Statement("test.all", "SELECT \(table.list()) FROM \(table.name)"))
            all += try rows.map { row in
                "\(table.name) \(try table.columns.map { try $0.value(in: row) })"
            }
        }
        return all.sorted()
    }

    /// Each shared transaction belongs to one share, and says what the share says.
    func checkMembers() async throws {
        let wrong = try await world.realm.rows(Statement.Restores.otherShare)
        #expect(wrong.isEmpty)
        let twice = Statement(
            "test.twice",
            """
            SELECT customer_id FROM family_shares WHERE ending IS NULL
            GROUP BY customer_id, sale_id HAVING count(*) > 1
            """)
        #expect(try await world.realm.rows(twice).isEmpty)
        let owed = Statement("test.owed", "SELECT kind FROM errands WHERE lane = 'family'")
        #expect(try await world.realm.rows(owed).isEmpty)
    }
}
