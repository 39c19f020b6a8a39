// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// Writes of the store's own bookkeeping about a customer: a session's last use,
/// a password's new hash, the lease of an errand, the bytes of a signed
/// notification, a claim on an offer, a review.
///
/// None of it is a fact on which a decision rests or that a device receives.
/// So these writes do not lock the customer, do no due work first, and do not
/// raise the revision, which would wake the customer's devices. Everything else
/// is written in ``line(of:asking:else:_:)`` or ``house(_:_:_:)``.
extension Realm {
    func bookkeeping<Answer: Sendable>(
        of customer: CustomerID, _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer { try await storage(of: customer).write(body) }

    /// Like ``bookkeeping(of:_:)``, for a closure that may find nothing to write.
    func bookkeepingOrLeave<Answer: Sendable>(
        of customer: CustomerID,
        _ body: @escaping @Sendable (any Writing) throws -> Ending<Answer>
    ) async throws -> Answer { try await storage(of: customer).writeOrLeave(body).answer }

    /// Like ``bookkeepingOrLeave(of:_:)``, at the home, for what is counted over all
    /// customers: claims on offers, and reviews.
    func bookkeepingAtHome<Answer: Sendable>(
        _ body: @escaping @Sendable (any Writing) throws -> Ending<Answer>
    ) async throws -> Answer { try await home.writeOrLeave(body).answer }

    /// Like ``bookkeeping(of:_:)``, in a separate task, so that a processor's
    /// answer is recorded even if the caller was cancelled.
    func uncancelledBookkeeping<Answer: Sendable>(
        of customer: CustomerID, _ body: @escaping @Sendable (any Writing) throws -> Answer
    ) async throws -> Answer {
        let storage = storage(of: customer)
        return try await Task { try await storage.write(body) }.value
    }
}
