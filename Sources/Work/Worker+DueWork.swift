// SPDX-License-Identifier: Apache-2.0

package import Commerce
import Storage

/// Does inner work in the order of each customer: the earliest first, until no
/// work of the customer is due. Each piece is done in its customer's line, and
/// one commit serves many customers.
extension Worker {
    /// Does the inner work that is due by a clock, or by any, and the work that this
    /// makes due, on every cluster. Returns how much this call did, and the time until the
    /// next. A failure is logged, delays only its own customer, and is retried
    /// by the next call. A cluster that does not answer does not stop the
    /// others.
    package func workDue(
        of clock: ClockID? = nil
    ) async throws -> (count: Int, next: Duration?) {
        var (count, next) = (0, Duration?.none)
        var failure: (any Error)?
        // The first comes last, because its jump ends after those of the others.
        for index in context.databases.indices.reversed() {
            do {
                let done = try await workDue(of: clock, in: index, waits: true)
                count += done.count
                next = [next, done.next].compactMap { $0 }.min()
            } catch { failure = error }
        }
        if let failure { throw failure }
        return (count, next)
    }

    /// The same for one cluster. `waits`: whether to wait for another task that does the
    /// work, and for another task or process that runs the errands of a jump.
    package func workDue(
        of clock: ClockID? = nil, in index: Int, waits: Bool = false
    ) async throws -> (count: Int, next: Duration?) {
        if let clock { return try await workDue(by: clock, in: index, waits: waits) }
        var (count, next) = try await workDue(by: .realm, in: index, waits: waits)
        let look = try await lookAtClocks(in: index)
        next = [next, look.next].compactMap { $0 }.min()
        for clock in look.due {
            let done = try await workDue(by: clock, in: index, waits: waits)
            count += done.count
            next = [next, done.next].compactMap { $0 }.min()
        }
        return (count, next)
    }

    /// One task of the process at a time. A worker does not wait for another, because
    /// what the other leaves is looked for soon.
    private func workDue(
        by clock: ClockID, in index: Int, waits: Bool
    ) async throws -> (count: Int, next: Duration?) {
        let turn = context.clockTurns[index].turn(of: clock)
        if waits {
            await turn.enter()
        } else if !turn.isEntered() {
            return (0, workSleepMax)
        }
        defer { turn.leave() }
        return try await workDueInTurn(by: clock, in: index, waits: waits)
    }

    private func workDueInTurn(
        by clock: ClockID, in index: Int, waits: Bool
    ) async throws -> (count: Int, next: Duration?) {
        var (count, cursor) = (0, DueWork.firstCursor)
        var failed: Set<CustomerID> = []
        var held = HeldErrands(of: heldKinds, waits: waits)
        // Whether work that is due stays, so that it is tried again soon.
        var leaves = false
        while true {
            let page = try await heads(of: clock, beyond: cursor, in: index)
            // Without a cursor nothing was passed over: the page is the first that is left.
            let isFirst = cursor == DueWork.firstCursor
            guard let last = page.works.last else {
                if page.isHeldUp, try await run(&held, in: index) != .stuck {
                    // Their results may have made work due.
                    cursor = DueWork.firstCursor
                    continue
                }
                try await end(page, isFirst: isFirst, in: index)
                leaves = leaves || page.jump != nil
                return (count, leaves ? min(page.next ?? workSleepMax, workSleepMax) : page.next)
            }
            let wanted = page.works.filter { isKnown($0) && !failed.contains($0.customer) }
            let begun = wanted.prefix(context.customersOfCommit).last
            guard try await note(page, begun: begun ?? last, isFirst: isFirst, in: index) else {
                // The clock was moved meanwhile.
                cursor = DueWork.firstCursor
                continue
            }
            let round = try await work(off: wanted, in: index) { begun, writing in
                guard let jump = page.jump, begun.dueAt > jump.through else { return true }
                return try jump.advance(to: jump.reached, beginning: begun.dueAt, writing)
            }
            count += round.done
            failed.formUnion(round.failed)
            leaves = leaves || wanted.count < page.works.count || !failed.isEmpty
            // What was done, here or by another worker, may have made more work
            // of the same customers due.
            if !round.hasMoved, round.mayGoOn { cursor = last.cursor }
        }
    }

    /// Writes down how far a jump has come, and which work is begun next. The first
    /// database's jump comes only as far as every other one's. Returns false if the
    /// clock was moved meanwhile.
    private func note(
        _ page: DuePage, begun: DueWork, isFirst: Bool, in index: Int
    ) async throws -> Bool {
        guard let jump = page.jump, let first = page.works.first else { return true }
        let far = isFirst ? try await farthest(of: page, in: index) : nil
        let reached = far.map { min(first.dueAt, $0) } ?? jump.reached
        guard reached > jump.reached || begun.dueAt > jump.through else { return true }
        return try await context.databases[index].write {
            try jump.advance(to: reached, beginning: begun.dueAt, $0)
        }
    }

    /// Ends a jump that has no due work left. If there is some that failed, or on
    /// another database, it records only that every piece was tried.
    private func end(_ page: DuePage, isFirst: Bool, in index: Int) async throws {
        guard let jump = page.jump else { return }
        let far = isFirst && !page.isHeldUp ? try await farthest(of: page, in: index) : nil
        if far == .latest, page.now >= jump.target {
            try await context.databases[index].write { try jump.end($0) }
            if index > 0 { context.bells[0].ring() }
            return
        }
        let reached = max(jump.reached, min(far ?? jump.reached, jump.target))
        guard !jump.isPassed || reached > jump.reached else { return }
        try await context.databases[index].write { writing in
            guard try jump.advance(to: reached, beginning: jump.through, writing) else { return }
            try jump.pass(writing)
        }
    }

    /// How far the jump has come on every other database: for the first one, whose
    /// row stands for all. Nil if one of them does not answer.
    private func farthest(of page: DuePage, in index: Int) async throws -> Timestamp? {
        guard index == 0, context.databases.count > 1 else { return .latest }
        guard
            let others = await context.farClocks(page.clock, of: page.id, asksAway: false),
            others.away.isEmpty
        else { return nil }
        return others.jump?.reached ?? .latest
    }

    /// Does the due work of one customer, the earliest first. Returns whether
    /// none of it is left. It returns false only if there is work of a kind
    /// that this program does not know. Throws if a piece fails.
    package func isCaughtUp(_ customer: CustomerID) async throws -> Bool {
        while let work = try await firstDue(of: customer) {
            guard isKnown(work) else { return false }
            let round = try await round(of: work, in: context.database(of: customer))
            if !round.hasMoved { return false }
        }
        return true
    }

    /// The same, in the turn of the customer's clock, so that no other task draws numbers for
    /// the same pieces. Not for what a jump may wait for.
    package func isCaughtUpInTurn(_ customer: CustomerID, by clock: ClockID) async throws -> Bool {
        let turn = context.clockTurns(of: customer).turn(of: clock)
        await turn.enter()
        defer { turn.leave() }
        return try await isCaughtUp(customer)
    }

    /// Work of an unknown kind belongs to a newer program and is left to it,
    /// with everything that comes after it in its customer's order.
    private func isKnown(_ work: DueWork) -> Bool { context.dueWorkHandlers[work.kind] != nil }

    private func firstDue(of customer: CustomerID) async throws -> DueWork? {
        let wall = context.wall
        return try await context.database(of: customer).read { reading in
            guard let now = try Context.now(of: customer, wall: wall, reading) else { return nil }
            return try reading.first(
                Statement.DueWorks.first,
                [.integer(customer.value), .integer(now.milliseconds)]
            ).map(DueWork.init)
        }
    }

    /// Returns the first due piece of each of the earliest customers, and the
    /// time until the first one that is not due yet.
    private func heads(
        of id: ClockID, beyond cursor: [SQLValue], in index: Int
    ) async throws -> DuePage {
        let (wall, kinds) = (context.wall, heldKinds)
        return try await context.databases[index].read { reading in
            guard let clock = try Context.clock(reading, of: id) else { return DuePage(id) }
            let now = clock.now(wall: wall)
            let jump = try ClockJump.current(reading, of: id)
            let instant = SQLValue.integer(now.milliseconds)
            let (isFirst, own) = (id == .realm, SQLValue.integer(id.value))
            let most = SQLValue.integer(Int64(DueWork.customersMax))
            let rows =
                isFirst
                ? try reading.query(Statement.DueWorks.heads, [instant] + cursor + [most])
                : try reading.query(
                    Statement.DueWorks.headsOfClock, [instant] + cursor + [most, own])
            let next =
                isFirst
                ? try reading.first(Statement.DueWorks.next, [instant])
                : try reading.first(Statement.DueWorks.nextOfClock, [instant, own])
            let date = try next.map { Timestamp(milliseconds: try $0.integer("due_at")) }
            return DuePage(
                id: id, works: try rows.map(DueWork.init),
                next: date.flatMap { clock.pause(from: now, to: $0) },
                clock: clock, now: now, jump: jump,
                isHeldUp: try jump != nil && kinds.contains { try Errands.isOwed($0, reading) })
        }
    }

    /// Returns the customers' clocks by which work is due now or that have a jump under
    /// way, and the time until any other has work. One look, however many there are.
    private func lookAtClocks(in index: Int) async throws -> (due: [ClockID], next: Duration?) {
        let wall = context.wall
        return try await context.databases[index].read { reading in
            let firsts = try reading.query(Statement.DueWorks.clocks, [])
            let jumps = try reading.query(Statement.Jumps.clocks, [])
                .map { ClockID(try $0.integer("clock_id")) }
            if firsts.isEmpty, jumps.isEmpty { return ([], nil) }
            let clocks = try Context.customerClocks(reading)
            var (due, next) = (Set(jumps), Duration?.none)
            for row in firsts {
                let id = ClockID(try row.integer("clock_id"))
                guard let clock = clocks[id] else { continue }
                let first = Timestamp(milliseconds: try row.integer("first_due"))
                let now = clock.now(wall: wall)
                if first <= now {
                    due.insert(id)
                } else {
                    next = [next, clock.pause(from: now, to: first)].compactMap { $0 }.min()
                }
            }
            return (due.sorted { $0.value < $1.value }, next)
        }
    }
}

/// What is due first in one database.
private struct DuePage: Sendable {
    let id: ClockID
    /// The first due piece of each of the earliest customers.
    let works: [DueWork]
    /// The time until the first piece that is not due yet.
    let next: Duration?
    let clock: RealmClock
    let now: Timestamp
    let jump: ClockJump?
    /// Whether the jump waits for errands.
    let isHeldUp: Bool

    init(
        id: ClockID, works: [DueWork], next: Duration?, clock: RealmClock, now: Timestamp,
        jump: ClockJump?, isHeldUp: Bool
    ) {
        self.id = id
        self.works = works
        self.next = next
        self.clock = clock
        self.now = now
        self.jump = jump
        self.isHeldUp = isHeldUp
    }

    /// Of a clock that was removed.
    init(_ id: ClockID) {
        self.init(
            id: id, works: [], next: nil, clock: .running(offsetMilliseconds: 0),
            now: RealmClock.earliest, jump: nil, isHeldUp: false)
    }
}

extension RealmClock {
    /// The time until a date. Nil while it stands, because then a move of the clock
    /// says when there is work.
    fileprivate func pause(from now: Timestamp, to date: Timestamp) -> Duration? {
        standsAt == nil ? .milliseconds(wallMilliseconds(from: now, to: date)) : nil
    }
}

extension Timestamp {
    /// After every instant of a clock.
    fileprivate static let latest = RealmClock.latest.adding(seconds: 1)
}
