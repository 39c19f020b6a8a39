// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Merchant {
    /// The most transactions on one page.
    static let transactionPage = 20
    /// How many rows are read at once, before the filters.
    private static let rowsRead = 200

    /// Returns a page of a customer's transactions, in the order in which they last
    /// changed: `GET /inApps/v2/history/{transactionId}`, and without finished
    /// consumables `GET /inApps/v1/history/{transactionId}`. `parameters` returns
    /// the values of a query parameter. A page's revision is required for the next
    /// one. The last one shows later what changed since.
    ///
    /// Throws ``AppleRefusal``, in order: 4000005, 4000015, 4000016, 4000013,
    /// 4000023, 4000022, 4000021, 4000024, 4000026, 4000030, 4000025, 4000006,
    /// 4040010.
    public func history(
        of id: String, omitsFinishedConsumables: Bool, _ parameters: (String) -> [String]
    ) async throws -> HistoryResponse {
        let filter = try TransactionFilter(
            parameters, omitsFinishedConsumables: omitsFinishedConsumables)
        let (customer, now) = try await customerAndTime(of: id)
        var (place, found) = (filter.start, [TransactionFacts]())
        var hasMore = false
        while true {
            let rows = try await rows(of: customer, from: place, isAscending: filter.isAscending)
            for row in rows {
                if filter.admits(row) {
                    guard found.count < Self.transactionPage else {
                        hasMore = true
                        break
                    }
                    found.append(row)
                }
                place = HistoryPlace(row)
            }
            if hasMore || rows.count < Self.rowsRead { break }
        }
        return HistoryResponse(
            revision: place.token(isAscending: filter.isAscending), hasMore: hasMore,
            bundleId: bundleID.value, appAppleId: try await officialID,
            environment: realm.description.environment.rawValue,
            signedTransactions: try found.map { try realm.sign($0, at: now) })
    }

    private func rows(
        of customer: CustomerID, from place: HistoryPlace, isAscending: Bool
    ) async throws -> [TransactionFacts] {
        let statement: Statement = isAscending ? .Transactions.since : .Merchants.historyBackwards
        let values: [SQLValue] = [
            .integer(customer.value), .text(bundleID.value), .integer(place.revision),
            .integer(place.transaction), .integer(Int64(Self.rowsRead)),
        ]
        return try await realm.read(of: customer) {
            try $0.query(statement, values).map(TransactionFacts.init(row:))
        }
    }

    /// Returns the customer's transactions that were refunded or revoked, by the
    /// date of that: `GET /inApps/v2/refund/lookup/{transactionId}`. Throws
    /// ``AppleRefusal``, in order: 4000005, 4000006, 4040010.
    public func refundHistory(
        of id: String, revision: String?
    ) async throws -> RefundHistoryResponse {
        let place = try revision.map { token in
            guard let place = HistoryPlace(token, isAscending: true) else {
                throw AppleRefusal(.invalidRequestRevision)
            }
            return place
        }
        let all = try await revoked(of: try await customer(of: id))
        let left = all.filter { facts in
            place.map { $0.isBefore(HistoryPlace(revoked: facts)) } ?? true
        }
        let page = left.prefix(Self.transactionPage)
        let last = page.last.map(HistoryPlace.init(revoked:)) ?? place ?? .first
        return RefundHistoryResponse(
            signedTransactions: try await signed(page), revision: last.token(isAscending: true),
            hasMore: left.count > page.count)
    }

    /// The same in the earlier form: at most 50, the last first: `GET
    /// /inApps/v1/refund/lookup/{originalTransactionId}`. Throws ``AppleRefusal``,
    /// in order: 4000008, 4040005.
    public func refundHistoryV1(of id: String) async throws -> RefundLookupResponse {
        let facts = try await transaction(
            id, invalid: .invalidOriginalTransactionId, unknown: .originalTransactionIdNotFound)
        let all = try await revoked(of: facts.customer)
        return RefundLookupResponse(
            signedTransactions: try await signed(all.reversed().prefix(50)))
    }

    private func revoked(of customer: CustomerID) async throws -> [TransactionFacts] {
        var (place, found) = (HistoryPlace.first, [TransactionFacts]())
        while true {
            let rows = try await rows(of: customer, from: place, isAscending: true)
            found += rows.filter { $0.revokedAt != nil }
            guard rows.count == Self.rowsRead, let last = rows.last else { break }
            place = HistoryPlace(last)
        }
        return found.sorted { HistoryPlace(revoked: $0).isBefore(HistoryPlace(revoked: $1)) }
    }

    private func signed(_ page: some Sequence<TransactionFacts>) async throws -> [String] {
        var signed: [String] = []
        for facts in page {
            signed.append(try realm.sign(facts, at: try await now(of: facts.customer)))
        }
        return signed
    }
}

/// A place in a history: of a revision, or of a date, and a transaction. Its text is
/// what merchants call a revision.
struct HistoryPlace: Hashable, Sendable {
    let revision: Int64
    let transaction: Int64

    /// Before everything.
    static let first = HistoryPlace(revision: -1, transaction: 0)
    /// After everything.
    static let last = HistoryPlace(revision: .max, transaction: .max)

    init(revision: Int64, transaction: Int64) {
        (self.revision, self.transaction) = (revision, transaction)
    }

    init(_ facts: TransactionFacts) {
        self.init(revision: facts.revision, transaction: facts.id.value)
    }

    /// The place among what was revoked.
    init(revoked facts: TransactionFacts) {
        self.init(
            revision: facts.revokedAt?.milliseconds ?? 0, transaction: facts.id.value)
    }

    func isBefore(_ other: HistoryPlace) -> Bool {
        (revision, transaction) < (other.revision, other.transaction)
    }
}

extension HistoryPlace {
    /// Parses a ``token(isAscending:)`` of the same order. Nil if the text is none.
    init?(_ token: String, isAscending: Bool) {
        let parts = token.split(separator: "_", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts[0] == (isAscending ? "a" : "d"),
            let revision = parts[1] == "none" ? -1 : Edge.number(parts[1]),
            let transaction = Edge.number(parts[2])
        else { return nil }
        self.init(revision: revision, transaction: transaction)
    }

    func token(isAscending: Bool) -> String {
        let number = revision < 0 ? "none" : "\(revision)"
        return "\(isAscending ? "a" : "d")_\(number)_\(transaction)"
    }
}
