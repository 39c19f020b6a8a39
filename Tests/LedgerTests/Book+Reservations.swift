// SPDX-License-Identifier: Apache-2.0

import StoreWire

@testable import Ledger

/// The two steps of a redemption.
extension Book {
    @discardableResult
    func reserve(
        _ key: String, id: Int? = 1, account: String = "blob", purpose: String = "feed a monkey",
        seconds: Int? = nil
    ) async throws -> LedgerReservation {
        try await ledger.reserve(
            ReserveRequest(
                idempotencyKey: key,
                transactionId: id.map { "\(2_000_000_000_000_000 + $0)" }, purpose: purpose,
                seconds: seconds), account: account)
    }

    @discardableResult
    func confirm(
        _ key: String, account: String = "blob"
    ) async throws -> LedgerRedemption {
        try await ledger.confirm(reservation: key, account: account)
    }

    @discardableResult
    func release(
        _ key: String, account: String = "blob"
    ) async throws -> LedgerReservation {
        try await ledger.release(reservation: key, account: account)
    }
}
