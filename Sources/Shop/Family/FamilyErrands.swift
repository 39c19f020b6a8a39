// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Work

/// The errands that bring families what their people buy. A jump of the clock runs
/// them, so that members have everything up to its target when it returns.
enum FamilyErrands {
    static let handlers: [any ErrandHandler<Realm>] = [
        FamilyCarryErrands(), FamilyChangeErrands(), FamilySweepErrands(),
    ]
}

/// After a commit that changed what a customer has bought.
private struct FamilyCarryErrands: ErrandHandler {
    var kind: String { WorkKind.family }
    var holdsUpDueWork: Bool { true }
    var isFollowUp: Bool { true }

    /// Does the same for all commits of the customer so far.
    func perform(_ errand: Errand, in realm: Realm) async throws -> RealmReport {
        let customer = errand.customer
        let seen = try await realm.read(of: customer) {
            try $0.first(Statement.Families.revision, [.integer(customer.value)])?
                .integer("revision") ?? 0
        }
        try await FamilyCarrier(realm: realm).carry(customer)
        return ErrandReport(.done) { try FamilyDebt.settle(customer, through: seen, $0) }
    }
}

/// After a change of a person's place.
private struct FamilyChangeErrands: ErrandHandler {
    var kind: String { WorkKind.familyChange }
    var holdsUpDueWork: Bool { true }
    var isFollowUp: Bool { true }

    func perform(_ errand: Errand, in realm: Realm) async throws -> RealmReport {
        guard let change = FamilyChangeKey(subject: errand.subject) else {
            throw StorageFault(.malformedRow, "an errand that names no change of a family")
        }
        try await change.record(in: realm)
        try await FamilyCarrier(realm: realm).carry(change.customer, former: change.organiser)
        return ErrandReport(.done)
    }
}

/// After a change that may concern every family.
private struct FamilySweepErrands: ErrandHandler {
    private static let pageMax: Int64 = 100

    var kind: String { WorkKind.familySweep }
    var holdsUpDueWork: Bool { true }
    var isFollowUp: Bool { true }

    func perform(_ errand: Errand, in realm: Realm) async throws -> RealmReport {
        var last: Int64 = 0
        while true {
            let start: [SQLValue] = [.integer(last), .integer(Self.pageMax)]
            let page = try await realm.readHouse {
                try $0.query(Statement.Families.everyone, start).map(FamilyPersonRow.init(row:))
            }
            for row in page {
                last = row.person.customer.value
                try await FamilyCarrier(realm: realm).carry(row.person.customer)
            }
            if page.count < Int(Self.pageMax) { return ErrandReport(.done) }
        }
    }
}

/// A change of a person's place, as the subject of its errand.
struct FamilyChangeKey: Hashable, Sendable {
    let customer: CustomerID
    /// The number of the change of this person's row.
    let number: Int64
    let at: Timestamp
    let kind: FamilyChange.Kind
    let organiser: CustomerID

    init(_ change: FamilyChange, number: Int64, at: Timestamp) {
        (customer, organiser) = (change.person.customer, change.organiser)
        (self.number, self.at, kind) = (number, at, change.kind)
    }

    /// Nil if the text is not one.
    init?(subject: String) {
        let parts = subject.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, let customer = Edge.number(String(parts[0])),
            let number = Edge.number(String(parts[1])), let at = Int64(parts[2]),
            let kind = FamilyChange.Kind(rawValue: String(parts[3])),
            let organiser = Edge.number(String(parts[4]))
        else { return nil }
        (self.customer, self.organiser) = (CustomerID(customer), CustomerID(organiser))
        (self.number, self.kind) = (number, kind)
        self.at = Timestamp(milliseconds: at)
    }

    var subject: String {
        "\(customer)/\(number)/\(at.milliseconds)/\(kind.rawValue)/\(organiser)"
    }

    /// Writes the event, once. From then on the customer's purchases owe an errand.
    func record(in realm: Realm) async throws {
        let change = self
        let ending = try await realm.lineOrLeave(of: customer) { line -> Ending<Void> in
            let known = try line.writing.first(
                Statement.Families.change,
                [.integer(change.customer.value), .integer(change.number)])
            guard known == nil else { return .leave(()) }
            try line.writing.execute(
                Statement.Families.begin,
                [.integer(change.customer.value), .integer(line.revision)])
            try FamilyEvent(
                at: change.at, cause: .operator,
                change: .place(kind: change.kind, organiser: change.organiser)
            ).write(number: 1, of: change.customer, change: change.number, line)
            return .commit(())
        }
        if case .commit = ending { realm.wake(customer) }
    }
}
