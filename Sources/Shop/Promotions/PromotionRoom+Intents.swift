// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Storage
public import StoreWire

/// Choices of products on the store's page. The app decides what follows.
extension PromotionRoom {
    /// Records that a customer has chosen a product outside of the app, and wakes the
    /// customer's devices. While an earlier choice of the product is open, it is
    /// returned: nothing is bought twice. `isNew` is then false. Refusals, in order:
    /// `bundleIdUnknown`, `productIdUnknown`, `productRemoved`, `customerNotFound`.
    public func choose(
        _ request: ChoosePromotionRequest, customer: CustomerID, isAudited: Bool = false,
        _ context: RequestContext
    ) async throws -> (record: PurchaseIntentRecord, isNew: Bool) {
        let (app, product) = (request.bundleId, request.productId)
        _ = try await realm.catalogue.app(app)
        try Edge.text(product, "productId")
        try Self.check(product, BundleID(app), try await realm.loadShelf(for: customer))
        let id = realm.ports.randomness.uuid()
        let (row, isNew) = try await realm.line(
            of: customer, else: CustomerRoom.customerNotFound
        ) { line in
            let choice = IntentChoice(line: line, bundleID: app, productID: product, id: id)
            let (row, isNew) = try choice.write()
            if isAudited {
                try AuditEntry(
                    who: context.actor, wall: line.wall, deed: "promotion.choose",
                    subject: "\(customer)/\(app)/\(product)",
                    before: isNew ? nil : ["intent": row.id], after: ["intent": row.id],
                    isChangeForSure: true
                ).write(line.writing)
            }
            return (row, isNew)
        }
        realm.wake(customer)
        return (row.record(at: realm.ports.wall.now), isNew)
    }

    /// Returns a choice. Refusal: `intentUnknown`, also for another customer's.
    public func intent(_ id: String, customer: CustomerID) async throws -> PurchaseIntentRecord {
        let key: [SQLValue] = [.integer(customer.value), .text(try Edge.uuid(id, "intentId").text)]
        let row = try await realm.read(of: customer) { try $0.first(Statement.Intents.one, key) }
        guard let row else { throw Self.intentUnknown }
        return try IntentRow(ofOne: row).record(at: realm.ports.wall.now)
    }

    /// Takes a choice back while no app has received it. One that is settled stays as it
    /// is. Refusals: `intentUnknown`, `intentReceived`.
    public func cancel(
        _ id: String, customer: CustomerID, isAudited: Bool = false, _ context: RequestContext
    ) async throws -> PurchaseIntentRecord {
        let before = try await intent(id, customer: customer)
        try await settle(
            before.intentId, .cancelled, of: customer, by: Statement.Intents.settleWaiting
        ) { line in
            guard isAudited else { return }
            try AuditEntry(
                who: context.actor, wall: line.wall, deed: "promotion.cancel",
                subject: "\(customer)/\(before.intentId)", before: ["state": before.state],
                after: ["state": PurchaseIntentState.cancelled.rawValue]
            ).write(line.writing)
        }
        let after = try await intent(id, customer: customer)
        guard PurchaseIntentState(rawValue: after.state)?.isOpen == false else {
            throw Refusal(
                .conflict, code: "intentReceived", "The app has received the choice.",
                field: "intentId", rule: "a choice that waits for an app is taken back",
                remedy: "let the app decide; it may have begun the payment")
        }
        return after
    }

    /// Takes up the open choices of the session's app for its device, also those that
    /// the device took up before. A choice whose purchase was begun is settled, and so is
    /// one of a product that is newer than the app or removed.
    public func claim(_ session: DeviceSession) async throws -> PurchaseIntentsResponse {
        let ending = try await realm.lineOrLeave(of: session.customer) {
            line -> Ending<[PurchaseIntentDescription]> in
            let claim = try IntentClaim(line: line, session: session)
            let ids = try claim.write()
            return claim.rows.isEmpty ? .leave(ids) : .commit(ids)
        }
        return PurchaseIntentsResponse(intents: ending.answer)
    }

    /// Records what an app has decided. The first decision counts; the answer has the
    /// state that was recorded. Refusals: `uuidInvalid`, `outcomeUnknown`,
    /// `intentUnknown`.
    public func decide(
        _ id: String, _ request: PurchaseIntentOutcome, _ session: DeviceSession
    ) async throws -> PurchaseIntentOutcome {
        guard let state = PurchaseIntentState(rawValue: request.outcome),
            PurchaseIntentState.outcomes.contains(state)
        else {
            let words = PurchaseIntentState.outcomes.map { "`\($0.rawValue)`" }
            throw Refusal(
                .badRequest, code: "outcomeUnknown", "There is no such outcome.",
                field: "outcome", rule: words.joined(separator: ", "),
                remedy: "send one of them")
        }
        let before = try await intent(id, customer: session.customer)
        guard before.bundleId == session.bundleID.value else { throw Self.intentUnknown }
        try await settle(before.intentId, state, of: session.customer)
        return PurchaseIntentOutcome(
            outcome: try await intent(id, customer: session.customer).state)
    }

    /// Whether a device that has signed in has something to take up.
    func hasIntents(_ response: SignInResponse, deviceUUID: String) async throws -> Bool {
        let customer = try CustomerRoom.customerID(response.customerId)
        let values: [SQLValue] = [
            .integer(customer.value), .text(response.bundleId),
            .text(try Edge.uuid(deviceUUID, "deviceUUID").text),
        ]
        return try await realm.read(of: customer) {
            try $0.first(Statement.Intents.claimable, values) != nil
        }
    }

    /// Whether a purchase came of a choice that another device has taken up since.
    func isElsewhere(_ purchase: PurchaseID, _ session: DeviceSession) async throws -> Bool {
        let key: [SQLValue] = [.integer(session.customer.value), .text(purchase.value)]
        let row = try await realm.read(of: session.customer) {
            try $0.first(Statement.Intents.one, key)
        }
        return try row?.optionalText("device_uuid").map { $0 != session.deviceUUID } ?? false
    }

    private func settle(
        _ id: String, _ state: PurchaseIntentState, of customer: CustomerID,
        by statement: Statement = Statement.Intents.settle,
        also body: @escaping @Sendable (CustomerLine) throws -> Void = { _ in }
    ) async throws {
        _ = try await realm.lineOrLeave(of: customer) { line -> Ending<Bool> in
            let owner = SQLValue.integer(customer.value)
            let wall = SQLValue.integer(line.wall.milliseconds)
            try line.writing.execute(Statement.Intents.expire, [owner, wall])
            let isSettled = try line.writing.first(
                statement, [owner, .text(id), .text(state.rawValue), wall])
            if isSettled != nil { try body(line) }
            return .commit(isSettled != nil)
        }
    }

    static let intentUnknown = Refusal(
        .notFound, code: "intentUnknown", "The customer has not made this choice.",
        field: "intentId", rule: "a choice of the customer in the last 30 days",
        remedy: "choose the product again")
}

/// A choice as its row contains it.
struct IntentRow: Sendable {
    let customer: CustomerID
    let id: String
    let bundleID: String
    let productID: String
    let state: PurchaseIntentState
    let madeAt: Timestamp
    let expiresAt: Timestamp
    let settledAt: Timestamp?
    /// Whether a purchase came of it.
    var isBought = false

    init(ofOne row: Row) throws {
        try self.init(row: row)
        isBought = try row.optionalText("bought") != nil
    }

    init(row: Row) throws {
        guard let state = PurchaseIntentState(rawValue: try row.text("state")) else {
            throw StorageFault(.malformedRow, "a choice in no known state")
        }
        self.state = state
        customer = CustomerID(try row.integer("customer_id"))
        id = try row.text("intent_id")
        bundleID = try row.text("bundle_id")
        productID = try row.text("product_id")
        madeAt = Timestamp(milliseconds: try row.integer("made_at"))
        expiresAt = Timestamp(milliseconds: try row.integer("expires_at"))
        settledAt = try row.optionalInteger("settled_at").map(Timestamp.init(milliseconds:))
    }

    /// A choice whose time is over counts as expired before a commit says so. One whose
    /// purchase has begun goes on, whatever was decided before.
    func record(at wall: Timestamp) -> PurchaseIntentRecord {
        let isOver = state.isOpen && expiresAt <= wall
        let state =
            isBought ? PurchaseIntentState.continued : isOver ? .expired : self.state
        return PurchaseIntentRecord(
            intentId: id, customerId: customer.description, bundleId: bundleID,
            productId: productID, state: state.rawValue, message: state.sentence,
            createdDate: madeAt, expiresDate: expiresAt,
            settledDate: isOver ? expiresAt : settledAt)
    }
}

/// The commit that records a choice.
private struct IntentChoice {
    let line: CustomerLine
    let bundleID: String
    let productID: String
    let id: String

    /// Returns the choice and whether it is new. An open one whose purchase has begun is
    /// settled, although its device has not reported that yet.
    func write() throws -> (IntentRow, Bool) {
        let (writing, wall) = (line.writing, line.wall)
        let owner = SQLValue.integer(line.customer.value)
        try writing.execute(Statement.Intents.expire, [owner, .integer(wall.milliseconds)])
        let old = wall.adding(seconds: -PurchaseIntentRules.outcomeKeptSeconds)
        try writing.execute(Statement.Intents.forget, [owner, .integer(old.milliseconds)])
        let values = [owner, .text(bundleID), .text(productID)]
        if let row = try writing.first(Statement.Intents.open, values) {
            let open = try stored(try IntentRow(row: row).id)
            if open.isBought {
                try writing.execute(
                    Statement.Intents.settle,
                    [
                        owner, .text(open.id), .text(PurchaseIntentState.continued.rawValue),
                        .integer(wall.milliseconds),
                    ])
                return try add(owner)
            }
            let held = wall.adding(seconds: -PurchaseIntentRules.heldSeconds)
            try writing.execute(
                Statement.Intents.release,
                [owner, .text(open.id), .integer(held.milliseconds), .integer(line.revision)])
            return (try stored(open.id), false)
        }
        return try add(owner)
    }

    private func add(_ owner: SQLValue) throws -> (IntentRow, Bool) {
        let (writing, wall) = (line.writing, line.wall)
        let expires = wall.adding(seconds: PurchaseIntentRules.keptSeconds)
        try writing.execute(
            Statement.Intents.add,
            RealmSchema.purchaseIntents.row([
                "customer_id": owner, "intent_id": .text(id), "bundle_id": .text(bundleID),
                "product_id": .text(productID),
                "state": .text(PurchaseIntentState.waiting.rawValue),
                "revision": .integer(line.revision), "made_at": .integer(wall.milliseconds),
                "expires_at": .integer(expires.milliseconds),
            ]))
        return (try stored(id), true)
    }

    private func stored(_ id: String) throws -> IntentRow {
        let key: [SQLValue] = [.integer(line.customer.value), .text(id)]
        guard let row = try line.writing.first(Statement.Intents.one, key) else {
            throw StorageFault(.unreadable, "a choice cannot be read back")
        }
        return try IntentRow(ofOne: row)
    }
}

/// The commit with which a device takes up choices.
private struct IntentClaim {
    let line: CustomerLine
    let rows: [Row]
    private let session: DeviceSession

    init(line: CustomerLine, session: DeviceSession) throws {
        self.line = line
        self.session = session
        rows = try line.writing.query(
            Statement.Intents.claimable,
            [
                .integer(session.customer.value), .text(session.bundleID.value),
                .text(session.deviceUUID),
            ])
    }

    func write() throws -> [PurchaseIntentDescription] {
        guard !rows.isEmpty else { return [] }
        let owner = SQLValue.integer(line.customer.value)
        let wall = SQLValue.integer(line.wall.milliseconds)
        try line.writing.execute(Statement.Intents.expire, [owner, wall])
        return try rows.compactMap { row in
            let intent = try IntentRow(row: row)
            guard intent.expiresAt > line.wall else { return nil }
            if let state = try settled(row) {
                try line.writing.execute(
                    Statement.Intents.settle,
                    [owner, .text(intent.id), .text(state.rawValue), wall])
                return nil
            }
            try line.writing.execute(
                Statement.Intents.claim,
                [owner, .text(intent.id), .text(session.deviceUUID), wall])
            return PurchaseIntentDescription(intentId: intent.id, productId: intent.productID)
        }
    }

    /// The state of a choice that no app is asked about.
    private func settled(_ row: Row) throws -> PurchaseIntentState? {
        if try row.optionalText("bought") != nil { return .continued }
        if try row.text("product_state") == ReviewState.removed.rawValue { return .cancelled }
        if let needed = try row.optionalText("came_with"),
            PurchaseIntentRules.isOlder(session.appVersion, than: needed)
        {
            return .tooOld
        }
        return nil
    }
}
