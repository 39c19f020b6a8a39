// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StoreWire

/// The app's request to deliver again what its customer has bought for good.
struct RestoreRequest {
    /// Restores only what was bought under this user name of the app's.
    var username: String?

    /// Whether a sale belongs to the user name. The store keeps UUIDs only, so any
    /// other name stands for the sales without one.
    func asks(for token: String?) -> Bool {
        guard let username else { return true }
        return UUID(uuidString: username) == token.flatMap(UUID.init(uuidString:))
    }
}

/// The finished sales of a customer that can be restored.
private struct RestorableSales {
    /// The latest form of each sale, in the order in which the store sent them.
    private(set) var sales: [VerifiedTransaction] = []
    /// What was bought first, by number: any sale of the customer's.
    private var payments: [String: PaymentContents] = [:]
    private var places: [String: Int] = [:]
    /// Why some are missing.
    var fault: DeviceFault?

    mutating func note(_ transaction: VerifiedTransaction, isFinished: Bool) {
        let id = transaction.sold.transactionID
        payments[id] = transaction.payment
        guard transaction.isRestorable, isFinished, !transaction.isRevoked else { return }
        if let place = places[id] {
            sales[place] = transaction
        } else {
            places[id] = sales.count
            sales.append(transaction)
        }
    }

    func item(
        _ transaction: VerifiedTransaction, key: String, at date: Timestamp
    ) -> Restoration.Item {
        let id = transaction.sold.transactionID
        let originalID = transaction.originalID ?? id
        let original = payments[originalID]
        return Restoration.Item(
            key: key, payment: transaction.payment,
            sale: RestoredSale(
                transactionID: id, revision: transaction.sold.revision ?? 0,
                originalID: originalID,
                originalDate: transaction.originalDate ?? transaction.sold.purchaseDate,
                originalPayment: original == transaction.payment ? nil : original, date: date,
                content: transaction.sold.content))
    }
}

/// Restoring is the customer's act. It reads all of the customer's sales from the
/// store, adds a transaction for each finished one that lasts, and writes them in one
/// step together with the receipt. A restore that ends with its process is not
/// continued at the next launch, but what it has written is delivered there.
extension Device {
    /// How often a write is tried that another process overtakes.
    private static let writesMax = 3

    func askToRestore(_ request: RestoreRequest) {
        guard !isClosed else { return }
        restores.append(request)
        wake()
        restoreNext()
    }

    /// Makes the requested restores, one after the other, while something listens.
    func restoreNext() {
        guard restorer == nil, isHeard, !isClosed, !restores.isEmpty else { return }
        restorer = Task {
            while self.isHeard, !self.isClosed, !self.restores.isEmpty {
                let failure = await self.restore(self.restores.removeFirst())
                if !self.isClosed { self.end(failure) }
            }
            self.restorer = nil
        }
    }

    /// Reports the ends of restores that nothing has heard of.
    func tellEnds() {
        let ends = untoldEnds
        untoldEnds = []
        for failure in ends { end(failure) }
    }

    private func end(_ failure: PaymentFailure?) {
        guard isHeard else { return untoldEnds.append(failure) }
        report(.restoreEnded(failure))
    }

    private func restore(_ request: RestoreRequest) async -> PaymentFailure? {
        do throws(DeviceFault) {
            let session = try await signIn()
            // What was not finished before is delivered first.
            open(for: session.owner)
            try adoptEnded()
            guard await ask("Restore the purchases of \(session.customerName)?") == .confirm
            else { return PaymentFailure(.cancelled, "The restore was cancelled.") }
            let found = try await restorable(session)
            let date = now(self.session ?? session)
            let items = found.sales.filter { request.asks(for: $0.appAccountToken) }
                .map { found.item($0, key: ports.randomness.uuid(), at: date) }
            try await take(items, session)
            return found.fault?.restoreFailure
        } catch {
            return error.restoreFailure
        }
    }

    /// Fetches the receipt from the store again. Returns why it could not.
    func refreshReceipt(properties: [String]) async -> PaymentFailure? {
        do throws(DeviceFault) {
            let session = try await signIn()
            if session.environment != .production, let property = properties.first {
                return PaymentFailure(
                    .notSetUp, "This store makes no receipt with the property \(property).")
            }
            let question = "Fetch the receipt of \(session.customerName) again?"
            guard await ask(question) == .confirm else {
                return PaymentFailure(.cancelled, "The request was cancelled.")
            }
            try await take([], session)
            return nil
        } catch {
            return error.restoreFailure
        }
    }

    /// Asks the customer a question that is no purchase. A sandbox may disable it.
    private func ask(_ question: String) async -> SheetAnswer {
        if storeDisablesDialogs, let session, session.environment != .production { return .confirm }
        await sheetGate.enter()
        let answer = await ports.sheet.ask(question)
        await sheetGate.leave()
        return answer
    }

    private func restorable(_ session: Session) async throws(DeviceFault) -> RestorableSales {
        var found = RestorableSales()
        var since = ReadCursor(revision: 0)
        while true {
            let reply = try await call(
                .transactions(since: since.revision, after: since.after, waitSeconds: 0),
                in: session)
            guard reply.status == 200 else { throw refusal(reply) }
            let page: TransactionsResponse = try decode(reply)
            noteStoreTime(page.now)
            for transaction in page.transactions {
                do throws(DeviceFault) {
                    var verified = try await verify(transaction.signedTransaction)
                    verified.sold.revision = transaction.revision
                    verified.sold.content = transaction.content
                    let sale = Sale(session.owner, verified.sold.transactionID)
                    // The store may not have a finish of this device yet.
                    let isFinished = transaction.isFinished || finishedSales.contains(sale)
                    found.note(verified, isFinished: isFinished)
                } catch .unverified(let failure) {
                    found.fault = .unverified(failure)
                }
            }
            guard page.hasMore else { return found }
            let read = ReadCursor(revision: page.revision, after: page.after.flatMap { Int64($0) })
            guard since < read else { throw .unknown(nil) }
            since = read
        }
    }

    /// Writes the transactions and the receipt together, and reports them. Without
    /// transactions, the receipt alone.
    private func take(
        _ items: [Restoration.Item], _ session: Session
    ) async throws(DeviceFault) {
        var writes = 1
        while true {
            do throws(DeviceFault) {
                try await withReceipt(of: session.owner, isFresh: true) {
                    (receipt, files, fits) throws(DeviceFault) in
                    let restoration = Restoration(
                        owner: session.owner, launch: self.launch, items: items,
                        receipt: receipt)
                    try self.change(.restored(restoration), with: files) { record in
                        fits(record) && Self.isCurrent(session, in: record)
                    }
                }
                return
            } catch .overtaken where writes < Self.writesMax {
                writes += 1
            }
        }
    }
}
