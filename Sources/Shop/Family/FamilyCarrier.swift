// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// Brings members what others have bought. A purchaser's commit cannot write a
/// member's rows, because the member may be on another cluster. So it owes an errand
/// (``FamilyDebt``), which reads the purchaser's rows and writes in the member's line
/// what is missing there. A repeated errand finds nothing to do.
struct FamilyCarrier: Sendable {
    let realm: Realm

    /// How often a state is read again because another process was faster.
    private static let attemptsMax = 16

    /// Brings everything that concerns a customer up to date: what the family gets from
    /// the customer, and what the customer gets from the family. `former`: the
    /// organiser of a family that the customer has left.
    func carry(_ customer: CustomerID, former: CustomerID? = nil) async throws {
        let people = try await realm.readHouse { reading -> Set<CustomerID> in
            let own = try FamilyPersonRow.find(customer, reading).person.organiser
            let families = Set([own, former].compactMap { $0 })
            return Set(
                try families.flatMap { try FamilyPersonRow.all(of: $0, reading) }
                    .map(\.person.customer)
            ).subtracting([customer])
        }
        // Of two people who have left, each looks for what it had from the other.
        let purchasers = try await realm.read(of: customer) { reading in
            try reading.query(Statement.Families.purchasers, [.integer(customer.value)])
                .map { CustomerID(try $0.integer("purchaser_id")) }
        }
        try await recordChanges(of: people.union(purchasers).union([customer]))
        for other in people.sorted(by: { $0.value < $1.value }) {
            try await carry(from: customer, to: other)
        }
        for other in people.union(purchasers).sorted(by: { $0.value < $1.value }) {
            try await carry(from: other, to: customer)
        }
    }

    /// Records the changes of places that are still to be followed, so that each is in
    /// the history before what it causes.
    private func recordChanges(of people: Set<CustomerID>) async throws {
        let pending = try await realm.readHouse { reading in
            try reading.query(Statement.Families.pending, []).map { try $0.text("subject") }
        }
        let changes = pending.compactMap(FamilyChangeKey.init(subject:))
            .filter { people.contains($0.customer) }
            .sorted { ($0.customer.value, $0.number) < ($1.customer.value, $1.number) }
        for change in changes { try await change.record(in: realm) }
    }

    /// Brings what one customer gets from another up to date.
    func carry(from purchaser: CustomerID, to member: CustomerID) async throws {
        for _ in 0..<Self.attemptsMax {
            let wall = realm.ports.wall.now
            let (rows, time) = try await realm.read(of: member) { reading in
                (
                    try FamilyMemberRows(member, from: purchaser, reading),
                    try Realm.now(of: member, wall: wall, reading)
                )
            }
            // A snapshot may have removed the member.
            guard let now = time else { return }
            let source = try await FamilySource(
                from: purchaser, to: member, after: rows, in: realm)
            let steps = source.steps(rows, at: now)
            let isDone =
                try await steps.isEmpty
                ? note(source, rows) : write(source, grants: steps.grants)
            if isDone { return }
        }
        throw StorageFault(.busy, "a family changes faster than it can be followed")
    }

    /// Records that a member is up to date. False if that is not so any more.
    private func note(_ source: FamilySource, _ rows: FamilyMemberRows) async throws -> Bool {
        guard rows.link != source.linkParts else { return true }
        let wall = realm.ports.wall.now
        return try await realm.bookkeepingOrLeave(of: source.member) { writing in
            guard let now = try Realm.now(of: source.member, wall: wall, writing) else {
                return .leave(true)
            }
            guard try writing.first(Statement.Families.advance, source.link) != nil else {
                return .leave(false)
            }
            // Another process may have written since. Behind the link none can.
            var present = try FamilyMemberRows(source.member, from: source.purchaser, writing)
            guard source.isEnough(for: present) else { return .leave(false) }
            (present.seen, present.link) = (rows.seen, rows.link)
            return source.steps(present, at: now).isEmpty ? .commit(true) : .leave(false)
        }
    }

    /// Writes what is missing, in the member's line. False if another process has
    /// written a later state.
    private func write(_ source: FamilySource, grants: Int) async throws -> Bool {
        var numbers: [Int64] = []
        for _ in 0..<grants {
            numbers.append(
                try await realm.newNumber(.transaction, bucket: source.member.bucket))
        }
        let commit = FamilyCommit(
            source: source, numbers: numbers, shelf: try await realm.loadShelf(for: source.member)
        ) { [realm] in realm.uuid(for: $0) }
        let ending = try await realm.lineOrLeave(of: source.member) { try commit.write($0) }
        for number in numbers.dropFirst(ending.answer).reversed() { realm.giveBack(number) }
        guard case .commit = ending else { return false }
        realm.wake(source.member)
        realm.ring(source.member)
        realm.ports.log(
            .info, "family", nil,
            [
                "customer": source.member.description,
                "purchaser": source.purchaser.description,
            ])
        return true
    }
}

extension [FamilyStep] {
    /// The number of transactions that they give.
    fileprivate var grants: Int {
        count { if case .granted = $0 { true } else { false } }
    }
}
