// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// The errands that a jump, or another call that finishes what it causes, has tried so far.
struct HeldErrands {
    let kinds: [String]
    /// Whether to wait for those that another task or process runs.
    let waits: Bool
    /// Each is tried once in a call. One without an answer leaves the jump under
    /// way, and is tried again by the next call.
    var tried: Set<[SQLValue]> = []

    init(of kinds: [String], waits: Bool) {
        (self.kinds, self.waits) = (kinds, waits)
    }

    /// What a look at all of them came to.
    enum Round {
        /// None is left.
        case done
        /// Some were run.
        case ran
        /// Another task or process runs what is left, and was waited for.
        case waited
        /// What is left was tried before, or belongs to another that is not waited for.
        case stuck
    }
}

/// Runs the errands on which the inner work of a jump depends.
extension Worker {
    /// The kinds of errands that hold up inner work, in order.
    var heldKinds: [String] {
        context.errandHandlers.values.filter(\.holdsUpDueWork).map(\.kind).sorted()
    }

    /// Runs errands, due or not, one task of the process at a time.
    func run(_ held: inout HeldErrands, in index: Int) async throws -> HeldErrands.Round {
        let turn = context.jumpTurns[index]
        if held.waits {
            await turn.enter()
        } else if !turn.isEntered() {
            return .stuck
        }
        defer { turn.leave() }
        let ends = turn.ends()
        var (didRun, isAway, isOwed) = (false, false, false)
        for kind in held.kinds {
            var cursor = Errands.firstCursor
            while let last = cursor {
                try Task.checkCancellation()
                let page = try await page(of: kind, beyond: last, in: index)
                isOwed = isOwed || !page.isEmpty
                let found = Self.oneEach(page.filter { !held.tried.contains($0) })
                let taken = try await take(found, kind, in: index)
                held.tried.formUnion(taken.map { [$0.key[0], $0.key[2]] })
                await runAll(taken)
                didRun = didRun || !taken.isEmpty
                isAway = isAway || taken.count < found.count
                cursor = page.count < Errands.pageMax ? nil : page.last
            }
        }
        // The last of them may have ended since the caller looked.
        if !isOwed { return .done }
        if didRun { return .ran }
        guard isAway, held.waits else { return .stuck }
        // Another task or process runs them. It is done soon, or loses its leases.
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in ends { return } }
            group.addTask { try? await context.sleep(.milliseconds(50)) }
            await group.next()
            group.cancelAll()
        }
        return .waited
    }

    /// The first one of each customer. It may do what the others are for.
    private static func oneEach(_ found: [[SQLValue]]) -> [[SQLValue]] {
        let realms = SQLValue.integer(0)
        var customers: Set<SQLValue> = []
        return found.filter { key in
            guard let customer = key.first, customer != realms else { return true }
            return customers.insert(customer).inserted
        }
    }

    private func page(
        of kind: String, beyond cursor: [SQLValue], in index: Int
    ) async throws -> [[SQLValue]] {
        try await context.databases[index].read { reading in
            try reading.query(
                Statement.Errands.page,
                [.text(kind)] + cursor + [.integer(Int64(Errands.pageMax))]
            ).map { [.integer(try $0.integer("customer_id")), .text(try $0.text("subject"))] }
        }
    }

    /// Leases those that no other worker has.
    private func take(
        _ found: [[SQLValue]], _ kind: String, in index: Int
    ) async throws -> [Errand] {
        if found.isEmpty { return [] }
        let leases = context.leases
        return try await context.databases[index].writeOrLeave { writing -> Ending<[Errand]> in
            let now = try leases.now(writing)
            let taken = try found.compactMap { key -> Errand? in
                guard case .integer(let customer) = key[0], case .text(let subject) = key[1]
                else { return nil }
                return try Errands.take(
                    kind: kind, subject: subject, of: CustomerID(customer), lease: now, writing)
            }
            return taken.isEmpty ? .leave([]) : .commit(taken)
        }.answer
    }

    /// Runs them, a lane's most at once, or one after the other where everything repeats
    /// itself.
    private func runAll(_ errands: [Errand]) async {
        let most = context.repeatsItself ? 1 : Errands.laneMax
        await FollowUps.$areRun.withValue(true) {
            await withTaskGroup(of: Void.self) { group in
                for (index, errand) in errands.enumerated() {
                    if index >= most { await group.next() }
                    group.addTask { await run(errand) }
                }
            }
        }
    }
}

extension Errands {
    /// The number of errands that a jump leases at once. All of them should be done
    /// before a lease ends.
    static let pageMax = 2 * laneMax
    fileprivate static var firstCursor: [SQLValue]? { [.integer(-1), .text("")] }

    /// Whether there is an errand of a kind, due or not.
    static func isOwed(_ kind: String, _ reading: any Reading) throws -> Bool {
        try reading.first(
            Statement.Errands.page, [.text(kind), .integer(-1), .text(""), .integer(1)]) != nil
    }
}
