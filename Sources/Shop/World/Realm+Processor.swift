// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Work

extension Realm {
    /// Returns the processor's answer, or nil if there is none. If the charge
    /// may have been requested before, asks for its outcome first. Only if the
    /// processor does not know the key is the charge requested, under the same
    /// key.
    func said(
        of charge: Charge, _ errand: Errand, by processor: any Authoriser,
        _ context: RequestContext?
    ) async -> ChargeOutcome? {
        do {
            if errand.attempt > 1, let said = try await processor.outcome(of: charge.key) {
                return said
            }
            return try await processor.authorise(charge)
        } catch {
            ports.log(
                .warning, "the payment processor gave no answer", context,
                ["charge": charge.key])
            return nil
        }
    }

    /// Runs an errand, due or not, unless a worker has it.
    func settle(_ kind: String, _ subject: String, _ customer: CustomerID) async throws {
        if let errand = try await take(kind, subject, of: customer) {
            _ = await worker.run(errand)
        }
    }

    /// Leases an errand, due or not. Nil if a worker has it.
    func take(
        _ kind: String, _ subject: String, of customer: CustomerID
    ) async throws -> Errand? {
        let leases = leases
        return try await bookkeepingOrLeave(of: customer) { writing -> Ending<Errand?> in
            let taken = try Errands.take(
                kind: kind, subject: subject, of: customer, lease: try leases.now(writing),
                writing)
            return taken == nil ? .leave(nil) : .commit(taken)
        }
    }
}
