// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire
import Work

/// Families: their people, and what these share.
public struct FamilyRoom: Sendable {
    let realm: Realm
}

extension Realm {
    /// Families: their people, and what these share.
    public var families: FamilyRoom { FamilyRoom(realm: self) }
}

/// Each change is audited, and returns when the family has got, or lost, what follows
/// from it. What cannot be written then, because a cluster does not answer, follows by
/// itself.
extension FamilyRoom {
    /// Returns the family of a customer. Refusals, in order: `customerNotFound`,
    /// `notInFamily`.
    public func show(_ customer: String) async throws -> FamilyRecord {
        let id = try await known(customer, "customerId")
        let organiser = try await realm.readHouse {
            try FamilyPersonRow.find(id, $0).person.organiser
        }
        guard let organiser else { throw FamilyRefusal.notInFamily.refusal }
        return try await record(organiser)
    }

    /// Adds a customer to the family that another one organises, whose clock the customer
    /// gets. Refusals, in order:
    /// `customerNotFound`, `sameCustomer`, `notOrganiser`, `inAnotherFamily`,
    /// `familyFull`.
    @discardableResult
    public func join(
        _ organiser: String, member: String, _ context: RequestContext
    ) async throws -> FamilyRecord {
        let owner = try await known(organiser, "customerId")
        let joining = try await known(member, "memberId")
        try await change("family.join", "\(owner)/\(joining)", by: owner, context) { reading, now in
            try FamilyRules.joining(
                try FamilyPersonRow.find(joining, reading).person,
                to: try FamilyPersonRow.find(owner, reading).person,
                people: try FamilyPersonRow.all(of: owner, reading).count, at: now)
        }
        try await realm.changeClockOwners(context) { left in
            try await realm.follow(owner, [joining], &left, context)
        }
        return try await record(owner)
    }

    /// Removes a customer from a family. If it is the organiser, the family is
    /// dissolved, and the answer has no people. Refusals, in order: `customerNotFound`,
    /// `notInFamily`.
    @discardableResult
    public func leave(
        _ organiser: String, member: String, _ context: RequestContext
    ) async throws -> FamilyRecord {
        let owner = try await known(organiser, "customerId")
        let leaving = try await known(member, "memberId")
        try await change("family.leave", "\(owner)/\(leaving)", by: owner, context) { reading, _ in
            try FamilyRules.leaving(
                try FamilyPersonRow.find(leaving, reading).person, from: owner,
                people: try FamilyPersonRow.all(of: owner, reading).map(\.person))
        }
        return try await record(owner)
    }

    /// Switches on or off whether the family gets what a customer buys. Refusals, in
    /// order: `customerNotFound`, `notInFamily`.
    @discardableResult
    public func setSharing(
        _ customer: String, _ request: FamilySharingRequest, _ context: RequestContext
    ) async throws -> FamilyRecord {
        let id = try await known(customer, "customerId")
        try await change("family.sharing", "\(id)", by: id, context) { reading, now in
            try FamilyRules.sharing(
                try FamilyPersonRow.find(id, reading).person, isOn: request.isSharing, at: now)
        }
        return try await show(customer)
    }

    /// Returns the people of a customer's family, the organiser first. Only the customer,
    /// if the customer is in none.
    func people(with customer: CustomerID) async throws -> [CustomerID] {
        try await realm.readHouse { reading in
            let person = try FamilyPersonRow.find(customer, reading).person
            guard let organiser = person.organiser else { return [customer] }
            let others = try FamilyPersonRow.all(of: organiser, reading).map(\.person.customer)
            return [organiser] + others.filter { $0 != organiser }
        }
    }

    private func known(_ customer: String, _ field: String) async throws -> CustomerID {
        guard let number = Edge.number(customer),
            try await realm.read(
                of: CustomerID(number),
                { reading in
                    try reading.first(Statement.Families.revision, [.integer(number)]) != nil
                })
        else {
            throw Refusal(
                .notFound, code: "customerNotFound", "There is no such customer.",
                field: field, rule: "the number of a customer", remedy: "list the customers")
        }
        return CustomerID(number)
    }

    private func record(_ organiser: CustomerID) async throws -> FamilyRecord {
        let people = try await realm.readHouse { try FamilyPersonRow.all(of: organiser, $0) }
        return FamilyRecord(
            organiserId: organiser.description,
            people: people.map { row in
                FamilyPersonRecord(
                    customerId: row.person.customer.description,
                    joinedDate: row.person.joinedAt ?? Timestamp(milliseconds: 0),
                    isSharing: row.person.sharesSince != nil)
            })
    }

    /// Makes the changes at the home, in one commit, and then brings everybody what
    /// follows. All changes of families are one after the other, so that no two of them
    /// decide by the same state. They are dated by a customer's clock, like the sales, and
    /// their errands are due by the realm's.
    private func change(
        _ deed: String, _ subject: String, by customer: CustomerID, _ context: RequestContext,
        _ decide: @escaping @Sendable (any Reading, Timestamp) throws -> [FamilyChange]
    ) async throws {
        let made: [FamilyChangeKey]
        let clock = try await realm.clockID(of: customer)
        do {
            made = try await realm.house(.clock, context) { house in
                let own = try Realm.clockRow(house.writing, of: clock)
                let now =
                    try own?.now(wall: house.wall) ?? Realm.now(house.writing, wall: house.wall)
                let changes = try decide(house.writing, now)
                guard !changes.isEmpty else { return .leave([]) }
                return .commit(try Self.write(changes, deed, subject, at: now, house))
            }
        } catch let refusal as FamilyRefusal {
            throw refusal.refusal
        }
        if made.isEmpty { return }
        for key in made { await followQuietly(key) }
        realm.ring(OwedNotification.nobody)
        realm.ports.log(.info, "family changed", context, ["deed": deed, "family": subject])
    }

    private static func write(
        _ changes: [FamilyChange], _ deed: String, _ subject: String, at now: Timestamp,
        _ house: HouseLine
    ) throws -> [FamilyChangeKey] {
        let dueAt = try Realm.now(house.writing, wall: house.wall)
        var keys: [FamilyChangeKey] = []
        var (before, after): ([(name: String, value: String?)], [(name: String, value: String?)]) =
            ([], [])
        for change in changes {
            var row = try FamilyPersonRow.find(change.person.customer, house.writing)
            before.append(("\(row.person.customer)", row.person.audited))
            row.person = change.person
            row.revision += 1
            after.append(("\(row.person.customer)", row.person.audited))
            try house.writing.execute(Statement.Families.put, row.row)
            let key = FamilyChangeKey(change, number: row.revision, at: now)
            try Errands.add(
                kind: WorkKind.familyChange, subject: key.subject, lane: WorkKind.familyLane,
                dueAt: dueAt, customer: OwedNotification.nobody, house.writing)
            keys.append(key)
        }
        try house.audit(
            deed, subject, before: AuditFields(before), after: AuditFields(after))
        return keys
    }

    /// Does what the errand does, so that the caller finds it done. The errand finds
    /// nothing left to do, or does it later.
    private func followQuietly(_ change: FamilyChangeKey) async {
        do {
            try await change.record(in: realm)
            try await FamilyCarrier(realm: realm).carry(
                change.customer, former: change.organiser)
        } catch {
            realm.ports.log(
                .warning, "a family cannot be brought up to date at present", nil,
                ["customer": change.customer.description, "fault": "\(error)"])
        }
    }
}

extension FamilyPerson {
    /// The place in words, for the audit.
    fileprivate var audited: String {
        guard let organiser else { return "in no family" }
        return "in the family of \(organiser)" + (sharesSince == nil ? ", shares nothing" : "")
    }
}

extension FamilyRefusal {
    var refusal: Refusal {
        switch self {
        case .sameCustomer:
            Refusal(
                .conflict, code: rawValue, "A customer cannot join the own family.",
                field: "memberId", rule: "another customer than the organiser",
                remedy: "name another customer")
        case .notOrganiser:
            Refusal(
                .conflict, code: rawValue, "The customer is a member of another family.",
                field: "customerId", rule: "a member of a family organises no other",
                remedy: "name the organiser of the family")
        case .inAnotherFamily:
            Refusal(
                .conflict, code: rawValue, "The customer is in another family.",
                field: "memberId", rule: "a person is in one family at most",
                remedy: "remove the customer from that family first")
        case .familyFull:
            Refusal(
                .conflict, code: rawValue, "The family is full.", field: "memberId",
                rule: "an organiser and at most \(FamilyPerson.peopleMax - 1) others",
                remedy: "remove a member first")
        case .notInFamily:
            Refusal(
                .conflict, code: rawValue, "The customer is not in this family.",
                field: "customerId", rule: "a person of the family",
                remedy: "show the family of the organiser")
        }
    }
}
