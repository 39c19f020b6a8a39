// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Work

/// A family has the clock of its organiser.
extension Realm {
    /// How often the people of a family are made to follow its organiser. Each time,
    /// another process has changed a clock of theirs in between.
    static let followRoundsMax = 16

    /// Changes which customers have which clocks. In this process, such changes are made
    /// one after the other. `left`: the clocks that may have no customers any more. They
    /// are removed if so, also if the closure throws.
    func changeClockOwners<Answer: Sendable>(
        _ context: RequestContext, _ body: (_ left: inout Set<ClockID>) async throws -> Answer
    ) async throws -> Answer {
        await clockOwnersTurn.enter()
        defer { clockOwnersTurn.leave() }
        var left: Set<ClockID> = []
        let answer: Answer
        do { answer = try await body(&left) } catch {
            // In a separate task, because the caller may have been cancelled.
            let unused = left
            await Task { for id in unused { try? await self.removeIfUnused(id, context) } }.value
            throw error
        }
        for id in left { try await removeIfUnused(id, context) }
        return answer
    }

    /// Gives a customer, and the customer's family, a clock: first the organiser, whom the
    /// others follow.
    func setClock(
        withFamilyOf customer: CustomerID, to id: ClockID, _ left: inout Set<ClockID>,
        _ context: RequestContext
    ) async throws {
        let people = try await families.people(with: customer)
        try await setClock(of: people[0], to: id, &left, context)
        try await follow(people[0], Array(people.dropFirst()), &left, context)
    }

    /// Gives people the clock of their family's organiser. Another process, which has a
    /// turn of its own, may give the organiser another one meanwhile, and may have seen
    /// other people in the family. So both are read again until all have the same clock.
    func follow(
        _ organiser: CustomerID, _ others: [CustomerID], _ left: inout Set<ClockID>,
        _ context: RequestContext
    ) async throws {
        var behind = others
        for _ in 0..<Self.followRoundsMax {
            let id = try await clockID(of: organiser)
            do {
                for person in behind { try await setClock(of: person, to: id, &left, context) }
            } catch let fault as StorageFault where fault.code == .busy {
                // Unless the clock was removed, because the organiser had got another.
                guard try await clockID(of: organiser) != id else { throw fault }
            }
            behind = try await people(behind: organiser, others)
            if behind.isEmpty { return }
        }
        throw StorageFault(.busy, "a family's clock changes faster than it can be followed")
    }

    /// Returns those of these people, and of the family, who have another clock than the
    /// organiser.
    private func people(
        behind organiser: CustomerID, _ others: [CustomerID]
    ) async throws -> [CustomerID] {
        let id = try await clockID(of: organiser)
        var behind: [CustomerID] = []
        let family = try await families.people(with: organiser)
        for person in Set(family + others) where person != organiser {
            if try await clockID(of: person) != id { behind.append(person) }
        }
        return behind.sorted { $0.value < $1.value }
    }

    /// Lets a customer's commercial time be that of a clock, in the customer's line.
    /// What is due by it then is done. Adds the customer's former clock to `left`.
    private func setClock(
        of customer: CustomerID, to id: ClockID, _ left: inout Set<ClockID>,
        _ context: RequestContext
    ) async throws {
        let who = context.actor
        let ending = try await lineOrLeave(of: customer, else: CustomerLine.missing) {
            line -> Ending<ClockID> in
            guard line.clock != id else { return .leave(id) }
            guard let clock = try Realm.clockRow(line.writing, of: id)?.clock else {
                throw Self.clockIsAway
            }
            try line.writing.execute(
                Statement.Clocks.setOfCustomer,
                [.integer(customer.value), .optional(id == .realm ? nil : id.value)])
            try AuditEntry(
                who: who, wall: line.wall, deed: "customer.clock",
                subject: customer.description,
                before: ["clock": line.clock.word, "now": "\(line.now)"],
                after: ["clock": id.word, "now": "\(clock.now(wall: line.wall))"]
            ).write(line.writing)
            // Another process may have removed it. The audit has locked the realm's row,
            // which a removal locks first.
            guard try Realm.clockRow(line.writing, of: id) != nil else {
                throw Self.clockIsAway
            }
            return .commit(line.clock)
        }
        guard case .commit(let former) = ending else { return }
        left.insert(former)
        await bringForward(of: id, for: customer)
        do { _ = try await worker.isCaughtUpInTurn(customer, by: id) } catch {
            // The customer has the clock. A worker will do the due work.
            ports.log(.error, "due work was not done", context, ["fault": "\(error)"])
        }
        await worker.followUp()
        wake(customer)
        wakeWorkers()
    }

    private static let clockIsAway = StorageFault(
        .busy, "the clock is on its way to the customer's cluster, or was removed")

    /// Removes a clock that no customer has any more, unless the realm's customers are on
    /// several clusters.
    private func removeIfUnused(_ id: ClockID, _ context: RequestContext) async throws {
        guard id != .realm, isOneCluster else { return }
        try await house(.clock, context) { house in
            let key: [SQLValue] = [.integer(id.value)]
            try house.writing.execute(Statement.Clocks.removeJump, key)
            guard try house.writing.first(Statement.Clocks.removeUnused, key) != nil else {
                return .leave(())
            }
            return .commit(())
        }
    }
}

extension ClockID {
    /// The name in the audit.
    fileprivate var word: String { self == .realm ? "the realm's" : description }
}
