// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Work

extension Realm {
    /// Lets a customer's commercial time be that of a clock, in the customer's line.
    /// What is due by it then is done.
    func setClock(
        of customer: CustomerID, to id: ClockID, _ context: RequestContext
    ) async throws {
        let who = context.actor
        let ending = try await lineOrLeave(of: customer, else: CustomerLine.missing) {
            line -> Ending<Void> in
            guard line.clock != id else { return .leave(()) }
            guard let clock = try Realm.clockRow(line.writing, of: id)?.clock else {
                throw StorageFault(.busy, "the clock is on its way to the customer's cluster")
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
            return .commit(())
        }
        guard case .commit = ending else { return }
        await bringForward(of: id, for: customer)
        do { _ = try await worker.isCaughtUp(customer) } catch {
            // The customer has the clock. A worker will do the due work.
            ports.log(.error, "due work was not done", context, ["fault": "\(error)"])
        }
        await worker.followUp()
        wake(customer)
        wakeWorkers()
    }
}

extension ClockID {
    /// The name in the audit.
    fileprivate var word: String { self == .realm ? "the realm's" : description }
}
