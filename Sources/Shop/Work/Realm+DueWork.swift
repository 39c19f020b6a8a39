// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

extension Realm {
    /// Who does which kind of inner work. Every process does all kinds.
    static let dueWorkHandlers: [String: any DueWorkHandler] = {
        let handlers: [any DueWorkHandler] = [ApprovalTimeout()]
        return Dictionary(uniqueKeysWithValues: handlers.map { ($0.kind, $0) })
    }()

    /// Does the inner work that is due, in the order of its dates, and what
    /// that makes due. Answers how much of it this call did, and how long the
    /// next is off; what failed is logged, and tried when this is called again.
    ///
    /// Of every cluster; one that does not answer keeps none of the others from it.
    func workDue() async throws -> (count: Int, next: Duration?) {
        var (count, next) = (0, Duration?.none)
        var failure: (any Error)?
        for index in clusters.all.indices {
            do {
                let done = try await workDue(in: index)
                count += done.count
                next = [next, done.next].compactMap { $0 }.min()
            } catch { failure = error }
        }
        if let failure { throw failure }
        return (count, next)
    }

    /// Of one cluster, whose customers' dates are in order.
    func workDue(in index: Int) async throws -> (count: Int, next: Duration?) {
        let storage = clusters[index]
        let wall = ports.wall.now
        var (count, cursor) = (0, DueWork.firstCursor)
        while true {
            let from = cursor
            let (page, clock, next) = try await storage.read { reading in
                let clock = try Self.clock(reading)
                let instant = SQLValue.integer(clock.now(wall: wall).milliseconds)
                let rows = try reading.query(
                    Statement.DueWorks.page, [instant] + from + [.integer(Int64(DueWork.pageMax))])
                let next = try reading.first(Statement.DueWorks.next, [instant])
                return (
                    try rows.map(DueWork.init), clock,
                    try next.map { Timestamp(milliseconds: try $0.integer("due_at")) }
                )
            }
            for work in page where await isDone(work) { count += 1 }
            if let last = page.last {
                cursor = last.cursor
            } else {
                let now = clock.now(wall: wall)
                return (
                    count,
                    next.map { .milliseconds(clock.wallMilliseconds(from: now, to: $0)) }
                )
            }
        }
    }

    /// Whether this call did it. A kind that this program does not know is a
    /// newer one's, and left to it.
    private func isDone(_ work: DueWork) async -> Bool {
        guard let handler = Self.dueWorkHandlers[work.kind] else { return false }
        do {
            let commit = try await handler.prepare(work, in: self)
            try await storage(of: work.customer).write { writing in
                guard
                    let line = try writing.first(
                        Statement.Customers.line, [.integer(work.customer.value)]),
                    try writing.first(
                        Statement.DueWorks.take,
                        work.key + [.integer(work.dueAt.milliseconds)]) != nil
                else { throw DoneBefore() }
                try commit.write(work, line: line, writing)
            }
        } catch is DoneBefore {
            return false
        } catch {
            ports.log(
                .error, "due work failed", nil, ["kind": work.kind, "fault": "\(error)"])
            return false
        }
        wake(work.customer)
        ports.log(
            .info, "due work", nil,
            ["kind": work.kind, "customer": work.customer.description])
        return true
    }

    /// Thrown to leave a write without committing.
    private struct DoneBefore: Error {}
}
