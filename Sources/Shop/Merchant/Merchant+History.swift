// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Merchant {
    /// The most transactions on one page.
    static let transactionPage = 20
    /// The most refunds in the earlier form, which has no pages.
    private static let refundsWithoutPages = 50
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
    /// 4040010, and 4000005 for a revision that this history has not given out with the
    /// same filters since the realm was last reset, restored or loaded from a snapshot.
    public func history(
        of id: String, omitsFinishedConsumables: Bool, _ parameters: (String) -> [String]
    ) async throws -> HistoryResponse {
        let filter = try TransactionFilter(
            parameters, omitsFinishedConsumables: omitsFinishedConsumables)
        let opened = try await open(
            filter.list, of: id, filter: filter.canonical, at: filter.token)
        let page = try await page(
            Self.transactionPage, of: opened, where: { filter.admits($0) })
        return HistoryResponse(
            revision: page.revision, hasMore: page.hasMore, bundleId: bundleID.value,
            appAppleId: try await officialID,
            environment: realm.description.environment.rawValue,
            signedTransactions: try page.found.map { try realm.sign($0, at: opened.now) })
    }

    /// Returns the customer's transactions that were refunded or revoked, in the order
    /// in which they last changed: `GET /inApps/v2/refund/lookup/{transactionId}`. Not
    /// by date, because a clock can be set back. Throws ``AppleRefusal``, in order:
    /// 4000005, 4000006, 4040010, and 4000005 as ``history(of:omitsFinishedConsumables:_:)``.
    public func refundHistory(
        of id: String, revision: String?
    ) async throws -> RefundHistoryResponse {
        let token = try revision.map { text in
            guard let token = HistoryToken(text, of: .refunds) else {
                throw AppleRefusal(.invalidRequestRevision)
            }
            return token
        }
        let opened = try await open(.refunds, of: id, filter: "", at: token)
        let page = try await page(
            Self.transactionPage, of: opened, where: { $0.revokedAt != nil })
        return RefundHistoryResponse(
            signedTransactions: try page.found.map { try realm.sign($0, at: opened.now) },
            revision: page.revision, hasMore: page.hasMore)
    }

    /// The same in the earlier form: at most 50, the last first: `GET
    /// /inApps/v1/refund/lookup/{originalTransactionId}`. Throws ``AppleRefusal``,
    /// in order: 4000008, 4040005.
    public func refundHistoryV1(of id: String) async throws -> RefundLookupResponse {
        let facts = try await transaction(
            id, invalid: .invalidOriginalTransactionId, unknown: .originalTransactionIdNotFound)
        let wall = realm.ports.wall.now
        let question = ListQuestion(facts.customer, bundleID, filter: "")
        let opened = try await realm.lookUp(of: facts.customer) {
            try OpenedHistory(
                .descending, of: facts.customer, question, at: nil, wall: wall, $0)
        }
        let page = try await page(
            Self.refundsWithoutPages, of: opened, where: { $0.revokedAt != nil })
        return RefundLookupResponse(
            signedTransactions: try page.found.map { try realm.sign($0, at: opened.now) })
    }

    /// Finds a customer's list, and its place. Throws ``AppleRefusal``, in order: 4000006,
    /// 4040010, 4000005.
    private func open(
        _ list: HistoryToken.List, of id: String, filter: String, at token: HistoryToken?
    ) async throws -> OpenedHistory {
        let wall = realm.ports.wall.now
        return try await lookUp(ofCustomerOf: id) { [bundleID] customer, reading in
            let question = ListQuestion(customer, bundleID, filter: filter)
            let opened = try OpenedHistory(
                list, of: customer, question, at: token, wall: wall, reading)
            guard token?.isValid(in: opened.reach, for: question) ?? true else {
                throw AppleRefusal(.invalidRequestRevision)
            }
            return opened
        }
    }

    /// Reads a list on from its place, until a page is full or nothing is left.
    private func page(
        _ limit: Int, of opened: OpenedHistory, where isWanted: (TransactionFacts) -> Bool
    ) async throws -> HistoryPage {
        var (place, found) = (opened.place, [TransactionFacts]())
        var hasMore = false
        while true {
            let rows = try await rows(of: opened, from: place)
            for row in rows {
                if isWanted(row) {
                    guard found.count < limit else {
                        hasMore = true
                        break
                    }
                    found.append(row)
                }
                place = HistoryPlace(row)
            }
            if hasMore || rows.count < Self.rowsRead { break }
        }
        let token = HistoryToken(
            opened.list, place, generation: opened.reach.generation, of: opened.question)
        return HistoryPage(found: found, revision: token.text, hasMore: hasMore)
    }

    private func rows(
        of opened: OpenedHistory, from place: HistoryPlace
    ) async throws -> [TransactionFacts] {
        let isBackwards = opened.list == .descending
        let statement: Statement =
            isBackwards ? .Merchants.historyBackwards : .Transactions.since
        let values: [SQLValue] = [
            .integer(opened.customer.value), .text(bundleID.value), .integer(place.revision),
            .integer(place.transaction), .integer(Int64(Self.rowsRead)),
        ]
        return try await realm.read(of: opened.customer) {
            try $0.query(statement, values).map(TransactionFacts.init(row:))
        }
    }
}

/// A customer's list at the place from which it is asked for.
private struct OpenedHistory: Sendable {
    let list: HistoryToken.List
    let customer: CustomerID
    let question: ListQuestion
    let place: HistoryPlace
    let reach: HistoryReach
    /// The time of what is signed for the customer.
    let now: Timestamp

    init(
        _ list: HistoryToken.List, of customer: CustomerID, _ question: ListQuestion,
        at token: HistoryToken?, wall: Timestamp, _ reading: any Reading
    ) throws {
        let row = try reading.first(Statement.Merchants.reach, [.integer(customer.value)])
        guard let row else { throw CustomerLine.missing }
        let clock = try ClockRow(row)
        (self.list, self.customer, place) = (list, customer, token?.place ?? list.start)
        self.question = question
        reach = HistoryReach(
            generation: clock.generation, revision: try row.integer("revision"))
        now = clock.now(wall: wall)
    }
}

private struct HistoryPage {
    let found: [TransactionFacts]
    let revision: String
    let hasMore: Bool
}
