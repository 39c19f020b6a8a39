// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire
import Work

/// Clocks that customers have instead of the realm's. Several customers can share one,
/// as a family does.
///
/// A customer's line reads the customer's clock, and due work falls due by it. Errands
/// fall due by the realm's clock, because they are calls to others, except the
/// notifications of a jump: those have a lane of the clock that jumped.
extension CustomerRoom {
    /// The most customers of one request.
    static let clockCustomersMax = 100

    /// Returns the clock that a customer has, which may be the realm's. Refusals:
    /// `customerNotFound`, and those of a text.
    public func clock(of customer: String) async throws -> ClockDescription {
        try await described(clockOf: try await known(customer))
    }

    /// Moves the clock that a customer has, for all who share it. Only their due work
    /// is done, like that of the realm in ``Realm/moveClock(_:_:)``, with its refusals.
    /// Further refusals: `customerNotFound`, `noOwnClock`, and `clockNotFound` for a clock
    /// that was removed meanwhile.
    public func moveClock(
        of customer: String, _ request: MoveClockRequest, _ context: RequestContext
    ) async throws -> ClockDescription {
        try realm.checkClocksMove()
        let id = try await realm.clockID(of: try await known(customer))
        guard id != .realm else { throw Self.noOwnClock }
        var moved = try await realm.moveClock(id, request, context)
        moved.customerIds = try await customers(of: id)
        return moved
    }

    /// Returns the clocks that customers have, by number.
    public func clocks() async throws -> ClockList {
        let ids = try await realm.readHouse { try Realm.customerClocks($0).keys.map(\.value) }
        let owners = try await owners()
        var clocks: [ClockDescription] = []
        for id in ids.sorted() {
            var clock: ClockDescription
            do {
                clock = try await realm.clock(ClockID(id))
            } catch let refusal as Refusal where refusal == Realm.clockNotFound {
                // It was removed meanwhile.
                continue
            }
            clock.customerIds = owners[id] ?? []
            clocks.append(clock)
        }
        return ClockList(clocks: clocks)
    }

    /// Gives customers a clock of their own: another customer's, or a new one that goes
    /// on from the time of the first of them. Their families get it too. What falls due
    /// by it is done before it returns. The answer is the clock that the first of them has
    /// then. If a part of them could not be moved, the request can be repeated with
    /// `clockId`. Refusals, in order: `sandboxOnly`, `processorCharges`,
    /// `customersUnclear`, `customerNotFound`, `clockNotFound`, `clocksTooMany`.
    public func attachClock(
        _ request: AttachClockRequest, _ context: RequestContext
    ) async throws -> ClockDescription {
        try realm.checkClocksMove()
        guard realm.processor == nil else { throw Self.processorCharges }
        guard (1...Self.clockCustomersMax).contains(request.customers.count) else {
            throw Self.customersUnclear
        }
        var customers: [CustomerID] = []
        for name in request.customers { customers.append(try await known(name)) }
        return try await realm.changeClockOwners(context) { left in
            var rounds = Realm.followRoundsMax
            while true {
                rounds -= 1
                let id = try await clock(request.clockId, after: customers[0], context)
                // A new one that no customer gets is removed.
                left.insert(id)
                do {
                    for customer in customers {
                        try await realm.setClock(withFamilyOf: customer, to: id, &left, context)
                    }
                } catch let fault as StorageFault
                    where fault.code == .busy && request.clockId == nil && rounds > 0
                {
                    // Another process took the new one from its first customers, and
                    // removed it.
                    continue
                }
                left.remove(try await realm.clockID(of: customers[0]))
                return try await described(clockOf: customers[0])
            }
        }
    }

    /// Gives a customer, and the customer's family, the realm's clock again. A clock that
    /// nobody has any more is removed, unless the realm's customers are on several
    /// clusters. Refusals, in order: `sandboxOnly`, `customerNotFound`.
    public func detachClock(
        of customer: String, _ context: RequestContext
    ) async throws -> ClockDescription {
        try realm.checkClocksMove()
        let customer = try await known(customer)
        return try await realm.changeClockOwners(context) { left in
            try await realm.setClock(withFamilyOf: customer, to: .realm, &left, context)
            return try await realm.clock()
        }
    }

    /// Describes the clock that a customer has. It is looked for again if the customer
    /// got another one meanwhile, and it was removed.
    private func described(clockOf customer: CustomerID) async throws -> ClockDescription {
        while true {
            let id = try await realm.clockID(of: customer)
            do {
                return try await described(id)
            } catch let refusal as Refusal where refusal == Realm.clockNotFound {
                guard try await realm.clockID(of: customer) != id else { throw refusal }
            }
        }
    }

    private func described(_ id: ClockID) async throws -> ClockDescription {
        var clock = try await realm.clock(id)
        if id != .realm { clock.customerIds = try await customers(of: id) }
        return clock
    }

    private func customers(of id: ClockID) async throws -> [String] {
        try await owners()[id.value] ?? []
    }

    /// The customers of each clock, by number.
    private func owners() async throws -> [Int64: [String]] {
        let pages = try await realm.readAll {
            try $0.query(Statement.Clocks.customers, []).map {
                (clock: try $0.integer("clock_id"), customer: try $0.integer("customer_id"))
            }
        }
        return Dictionary(grouping: pages.joined(), by: \.clock).mapValues {
            $0.map(\.customer).sorted().map(String.init)
        }
    }

    /// Returns the requested clock, or makes one that goes on from a customer's.
    private func clock(
        _ requested: String?, after customer: CustomerID, _ context: RequestContext
    ) async throws -> ClockID {
        if let requested {
            guard let number = Edge.number(requested), number > 0 else {
                throw Realm.clockNotFound
            }
            let isThere = try await realm.readHouse {
                try Realm.clockRow($0, of: ClockID(number)) != nil
            }
            guard isThere else { throw Realm.clockNotFound }
            return ClockID(number)
        }
        let former = try await realm.clockID(of: customer)
        return try await realm.house(.clock, context) { house in
            // One that the customer has behind the lock is not removed.
            let from =
                try realm.isOneCluster ? Realm.clockID(house.writing, of: customer) : former
            let count =
                try house.writing.first(Statement.Clocks.count)?.integer("clocks") ?? 1
            guard count <= RealmSchema.clocksMax else { throw Self.clocksTooMany }
            guard let row = try Realm.clockRow(house.writing, of: from),
                let made = try house.writing.first(Statement.Clocks.next)
            else { throw Realm.clockNotFound }
            let id = ClockID(try made.integer("clocks_made"))
            try Realm.putClock(id, row.clock, jump: nil, house.writing)
            return .commit(id)
        }
    }

    private static let noOwnClock = Refusal(
        .conflict, code: "noOwnClock", "The customer has the realm's clock.",
        field: "customer", rule: "only a clock of customers is moved for a customer",
        remedy: "attach the customer to a clock first, or move the realm's")

    private static let processorCharges = Refusal(
        .conflict, code: "processorCharges",
        "A payment processor charges by the realm's clock.", field: "realm",
        rule: "only in a sandbox without a processor customers have clocks",
        remedy: "move the realm's clock")

    private static let customersUnclear = Refusal(
        .badRequest, code: "customersUnclear", "It is not clear whose clock it is.",
        field: "customers", rule: "1 to \(clockCustomersMax) customers",
        remedy: "name the customers who share it")

    private static let clocksTooMany = Refusal(
        .conflict, code: "clocksTooMany", "The realm has too many clocks.",
        field: "customers", rule: "at most \(RealmSchema.clocksMax)",
        remedy: "detach customers who need none, or share one")
}
