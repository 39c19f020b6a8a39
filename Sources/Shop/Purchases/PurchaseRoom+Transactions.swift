// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension PurchaseRoom {
    /// Returns a page of the customer's transactions in the session's app that
    /// are new or changed since a revision, in the order of commits. If a page
    /// ended between two transactions of the revision `since`, `after` is its
    /// last one. Refusal: `revisionInvalid`.
    public func transactions(
        since: Int64, after: Int64? = nil, _ session: DeviceSession, _ context: RequestContext
    ) async throws -> TransactionsResponse {
        guard since >= 0 else {
            throw Refusal(
                .badRequest, code: "revisionInvalid", "This is not a revision.", field: "since",
                rule: "0, or a revision that an earlier answer gave",
                remedy: "start from 0")
        }
        let page = try await page(since: since, after: after, session)
        let now = session.clock.now(wall: realm.ports.wall.now)
        let shelf = try await shelf(with: page.rows, session)
        var response = TransactionsResponse(
            transactions: try page.rows.map { facts in
                TransactionDescription(
                    signedTransaction: try realm.sign(facts, at: now),
                    purchaseId: facts.purchaseID?.value, isFinished: facts.finishedAt != nil,
                    revision: facts.revision, content: shelf.flatMap(facts.content))
            },
            revision: page.revision, after: page.after, hasMore: page.hasMore, now: now,
            answeredPurchases: page.answered.isEmpty ? nil : page.answered,
            clearedRevision: page.cleared)
        if page.hasIntents { response.hasPurchaseIntents = true }
        return response
    }

    /// Returns the shelf if a transaction may have content.
    private func shelf(
        with rows: [TransactionFacts], _ session: DeviceSession
    ) async throws -> Shelf? {
        guard rows.contains(where: { $0.type == .nonConsumable }) else { return nil }
        return try await realm.shelf(
            revision: session.clock.catalogueRevision, for: session.customer)
    }

    /// Returns when there is news for the session's app after the revision
    /// `since`, when the session has ended, or when `timeout` returns,
    /// whichever comes first. `timeout` sleeps, and is cancelled when it is no
    /// longer needed.
    public func changes(
        since: Int64, _ session: DeviceSession,
        timeout: @escaping @Sendable () async throws -> Void
    ) async throws {
        let news = news(since: since, session)
        defer { news.close() }
        if try await news.isThere() { return }
        try await news.wait(timeout: timeout)
    }

    /// Registers for news of the session's app after a revision.
    func news(since: Int64, _ session: DeviceSession) -> AwaitedNews {
        AwaitedNews(realm, since: since, session)
    }

    /// Records that the app has delivered a transaction. A repeated call
    /// returns the same answer and writes nothing. Refusal:
    /// `transactionNotFound`, also for another customer's or another app's.
    public func finish(
        _ transactionID: String, _ session: DeviceSession, _ context: RequestContext
    ) async throws -> FinishResponse {
        guard let number = Edge.number(transactionID) else { throw Self.transactionNotFound }
        let finishing = Finishing(
            bundleID: session.bundleID, transaction: TransactionID(number))
        let ending = try await realm.lineOrLeave(of: session.customer) { try finishing.write($0) }
        if case .commit = ending {
            realm.wake(session.customer)
            realm.ports.log(
                .info, "finished", context,
                session.facts.merging(["transaction": transactionID]) { first, _ in first })
        }
        return FinishResponse(transactionId: transactionID, revision: ending.answer)
    }

    /// Finishes a transaction of an app for its merchant. Throws
    /// `transactionNotFound`.
    func finish(
        _ transaction: TransactionID, of customer: CustomerID, in app: BundleID,
        _ context: RequestContext
    ) async throws {
        let finishing = Finishing(bundleID: app, transaction: transaction)
        let ending = try await realm.lineOrLeave(of: customer) { try finishing.write($0) }
        guard case .commit = ending else { return }
        realm.wake(customer)
        realm.ports.log(
            .info, "finished by the merchant", context, ["transaction": "\(transaction)"])
    }

    static var transactionNotFound: Refusal {
        Refusal(
            .notFound, code: "transactionNotFound", "There is no such transaction.",
            field: "transactionId", rule: "a number of one of the customer's own transactions",
            remedy: "take it from the transaction that the store delivered")
    }

    private struct Page: Sendable {
        var rows: [TransactionFacts]
        var answered: [String] = []
        var cleared: Int64?
        var hasIntents = false
        var revision: Int64
        var after: String?
        var hasMore: Bool
    }

    private func page(
        since: Int64, after: Int64?, _ session: DeviceSession
    ) async throws -> Page {
        let limit = TransactionsResponse.pageMax
        let start: [SQLValue] = [
            .integer(session.customer.value), .text(session.bundleID.value), .integer(since),
        ]
        let values = start + [.integer(after ?? .max), .integer(Int64(limit + 1))]
        let customer: [SQLValue] = [
            .integer(session.customer.value), .text(session.bundleID.value),
        ]
        return try await realm.read(of: session.customer) { reading in
            var rows = try reading.query(Statement.Transactions.since, values)
                .map(TransactionFacts.init(row:))
            let line = try reading.first(Statement.Customers.revision, customer)
            var page: Page
            if rows.count > limit, let beyond = rows.popLast(), let last = rows.last {
                let isCut = beyond.revision == last.revision
                page = Page(
                    rows: rows, revision: last.revision,
                    after: isCut ? last.id.description : nil, hasMore: true)
            } else {
                page = Page(
                    rows: rows, revision: try line?.integer("revision") ?? since, hasMore: false)
            }
            page.cleared = try line?.optionalInteger("cleared_revision").flatMap {
                $0 > since ? $0 : nil
            }
            page.hasIntents =
                try line?.optionalInteger("chosen_revision").map { $0 > since } ?? false
            page.answered = try reading.query(
                Statement.Purchases.answeredSince,
                start + [.integer(page.revision)]
            ).map { try $0.text("purchase_id") }
            return page
        }
    }
}

extension TransactionFacts {
    /// Returns the content that the customer may download. Nil if there is none.
    func content(on shelf: Shelf) -> ContentDescription? {
        guard type == .nonConsumable, revokedAt == nil else { return nil }
        return shelf.content(of: productID, in: bundleID)
    }
}

private struct Finishing: Sendable {
    let bundleID: BundleID
    let transaction: TransactionID

    /// Writes the finish. Returns its revision, or that of an earlier finish.
    func write(_ line: CustomerLine) throws -> Ending<Int64> {
        let owner = SQLValue.integer(line.customer.value)
        let finished = try line.writing.first(
            Statement.Transactions.finish,
            [
                owner, .text(bundleID.value), .integer(transaction.value),
                .integer(line.now.milliseconds), .integer(line.revision),
            ])
        if finished != nil { return .commit(line.revision) }
        let row = try line.writing.first(
            Statement.Transactions.one, [owner, .integer(transaction.value)])
        guard let facts = try row.map(TransactionFacts.init(row:)), facts.bundleID == bundleID
        else { throw PurchaseRoom.transactionNotFound }
        return .leave(facts.revision)
    }
}
