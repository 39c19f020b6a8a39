// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import StoreWire

/// A verified transaction, with the facts that are compared with a payment.
struct VerifiedTransaction {
    var productID: String
    /// Whether it is the period of an auto-renewable subscription.
    var isSubscription: Bool
    var quantity: Int
    var appAccountToken: String?
    var sold: SoldTransaction
    /// Whether the store has refunded or revoked it.
    var isRevoked = false
    /// Apple's name of the product's type. Nil in data of other makers.
    var type: String?
    /// The first purchase: itself, or that of the subscription's first period.
    var originalID: String?
    var originalDate: Timestamp?

    /// The payment as another device knows it.
    var payment: PaymentContents {
        PaymentContents(
            productID: productID, quantity: quantity, applicationUsername: appAccountToken)
    }
    var isConsumable: Bool { type == "Consumable" }
    /// Whether the app delivers it once, and has done so when it has finished it.
    var isDeliveredOnce: Bool { isConsumable || type == "Non-Renewing Subscription" }
    /// Whether the customer keeps it for good, so that it can be restored.
    var isRestorable: Bool {
        type == "Non-Consumable" || type == "Auto-Renewable Subscription"
    }
}

/// What a page says of transactions that the store has revoked.
private struct LostTransactions {
    private(set) var revoked: Set<String> = []
    /// Those that were revoked before and are not any more.
    private(set) var restored: Set<String> = []
    /// The products of the revoked ones, without consumables.
    private(set) var products: Set<String> = []

    var isEmpty: Bool { revoked.isEmpty && restored.isEmpty }

    /// `known`: the transactions that were revoked when the page before was read.
    mutating func note(_ transaction: VerifiedTransaction, known: Set<String>) {
        let id = transaction.sold.transactionID
        guard transaction.isRevoked else {
            if known.contains(id) { restored.insert(id) }
            return
        }
        revoked.insert(id)
        if !transaction.isConsumable { products.insert(transaction.productID) }
    }
}

extension Device {
    /// Waits for transactions from the store while the app listens.
    func follow() async {
        await followWhileHeard()
        // What listened may be released without being removed, so that nothing
        // listens any more.
        if !Task.isCancelled, !isHeard { follower = nil }
    }

    private func followWhileHeard() async {
        var failures = 0
        var isFirst = true
        while !Task.isCancelled, isHeard {
            let wakes = wakeCount
            do throws(DeviceFault) {
                let session = try await signIn()
                await lookForReceipt(session)
                open(for: session.owner)
                try adoptEnded()
                considerPriceConsent(session)
                considerIntents(session)
                let wait = isFirst ? 0 : options.transactionsWaitSeconds
                let isMore = try await readTransactions(session, waitSeconds: wait)
                if failures > 0 { wake() }
                failures = 0
                isFirst = isMore
                if !isMore, options.transactionsWaitSeconds == 0 { return }
            } catch {
                if Task.isCancelled { return }
                if case .setUp = error { sayOnce("The store is not used: \(error.sentence)") }
                if case .refused = error { sayOnce("The store refuses: \(error.sentence)") }
                openForLastCustomer()
                await nap(failures, since: wakes)
                failures += 1
            }
        }
    }

    /// Reads one page. Returns whether there are more.
    private func readTransactions(
        _ session: Session, waitSeconds: Int
    ) async throws(DeviceFault) -> Bool {
        let since = try cursor(of: session)
        let started = ports.wall.now
        let reply = try await call(
            .transactions(since: since.revision, after: since.after, waitSeconds: waitSeconds),
            in: session)
        guard reply.status == 200 else { throw refusal(reply) }
        // The answer came from a realm that has been restored since, so its
        // revisions are invalid.
        guard let record, Self.isCurrent(session, in: record) else { throw .overtaken }
        let page: TransactionsResponse = try decode(reply)
        noteStoreTime(page.now)
        guard page.revision >= since.revision || since.revision == 0 else {
            startOver(session)
            return true
        }
        try await take(page, in: session, since: since)
        let isEarly = ports.wall.now.milliseconds(since: started) < 1000
        if waitSeconds > 0, !page.hasNews, isEarly {
            // Prevents an endless loop with a store that answers at once
            // without news.
            try? await ports.sleep(.seconds(1))
        }
        return page.hasMore
    }

    func noteStoreTime(_ time: Timestamp) {
        if let known = session?.storeTime, known < time { session?.storeTime = time }
    }

    private func take(
        _ page: TransactionsResponse, in session: Session, since: ReadCursor
    ) async throws(DeviceFault) {
        let owner = session.owner
        guard page.revision >= 0, page.transactions.allSatisfy({ $0.revision >= 0 }) else {
            throw .unknown(nil)
        }
        var items: [Arrivals.Item] = []
        var lost = LostTransactions()
        let read = ReadCursor(revision: page.revision, after: page.after.flatMap { Int64($0) })
        var noted = PageRead(since: since, read: read, cleared: page.clearedRevision)
        // What comes into the queue meanwhile is not added again either.
        let known = Set(
            (record?.entries ?? []).filter { $0.owner == owner }
                .compactMap { $0.sold?.transactionID })
        for transaction in page.transactions {
            do throws(DeviceFault) {
                var verified = try await verify(transaction.signedTransaction)
                verified.sold.revision = transaction.revision
                verified.sold.content = transaction.content
                noted.transactions.append(
                    HistoryRecord.Transaction(
                        transactionID: verified.sold.transactionID,
                        revision: transaction.revision,
                        signedTransaction: transaction.signedTransaction))
                lost.note(verified, known: record?.revoked(of: owner) ?? [])
                let id = verified.sold.transactionID
                guard !verified.isRevoked, !transaction.isFinished, !known.contains(id),
                    !finishedSales.contains(Sale(owner, id))
                else { continue }
                items.append(arrival(verified, transaction.purchaseId))
            } catch .unverified(let failure) {
                sayOnce("A transaction is not delivered: \(failure)")
                let before = max(since, ReadCursor(revision: transaction.revision - 1))
                noted.held = min(noted.held ?? read, before)
            }
        }
        if !items.isEmpty || page.clearedRevision != nil || !lost.isEmpty {
            try await takeUp(items, lost, session, cleared: page.clearedRevision)
        }
        // The realm may have been restored while signatures and the receipt
        // were awaited.
        guard record.map({ Self.isCurrent(session, in: $0) }) != false else { throw .overtaken }
        try note(noted, in: session, isLast: !page.hasMore)
        // A waiting payment has its answer. The task that carries the payment
        // asks for it.
        if page.answeredPurchases != nil || page.clearedRevision != nil { wake() }
        if page.hasPurchaseIntents == true { takeUpIntents() }
    }

    /// Whether the realm and its generation are those of the session.
    static func isCurrent(_ session: Session, in record: QueueRecord) -> Bool {
        record.realm(session.owner.realm)?.generation == session.generation
    }

    private func takeUp(
        _ items: [Arrivals.Item], _ lost: LostTransactions, _ session: Session, cleared: Int64?
    ) async throws(DeviceFault) {
        let owner = session.owner
        try await withReceipt(of: owner) { (receipt, files, fits) throws(DeviceFault) in
            // In the meantime the payment's own answer may have been delivered,
            // finished and removed.
            let open = items.filter { item in
                !self.finishedSales.contains(Sale(owner, item.sold.transactionID))
            }
            let arrivals = Arrivals(
                owner: owner, launch: self.launch, items: open, receipt: receipt,
                cleared: cleared, revoked: lost.revoked, restored: lost.restored)
            try self.change(.arrived(arrivals), with: files) { record in
                fits(record) && Self.isCurrent(session, in: record)
            }
            self.reportLost(lost.products, receipt, files, session)
        }
    }

    /// Reports the products that the customer may not use any more. The receipt
    /// says which of them the customer has by another purchase.
    private func reportLost(
        _ products: Set<String>, _ receipt: QueueRecord.Receipt, _ files: [DeviceFile],
        _ session: Session
    ) {
        guard !products.isEmpty else { return }
        let bytes = files.first?.bytes ?? (try? ports.files.read(receipt.path)) ?? []
        let read = try? ReceiptVerifier(roots: [session.root])
            .verify(bytes, bundleID: session.bundleID)
        let now = now(session)
        let kept = (read?.purchases ?? []).filter { purchase in
            purchase.cancellationDate == nil && purchase.expiresDate.map { now < $0 } != false
        }
        let lost = products.subtracting(kept.map(\.productID.value))
        if !lost.isEmpty { report(.revoked(lost.sorted())) }
    }

    private func arrival(
        _ transaction: VerifiedTransaction, _ purchaseID: String?
    ) -> Arrivals.Item {
        Arrivals.Item(
            key: ports.randomness.uuid(), purchaseID: purchaseID,
            payment: transaction.payment, sold: transaction.sold)
    }

    // MARK: Verifying

    /// Verifies a transaction with the pinned root, the app and the
    /// environment. A date must not be after the store's time, or on production
    /// roots the wall time.
    func verify(_ compact: String) async throws(DeviceFault) -> VerifiedTransaction {
        let session = try await signIn()
        do throws(DeviceFault) {
            return try verify(compact, in: session)
        } catch .unverified(let failure)
            where failure.code == .signedInFuture && session.environment != .production
        {
            // The realm's clock was moved since the store last sent its time.
            try await askStoreTime(session)
        }
        return try verify(compact, in: try await signIn())
    }

    private func verify(
        _ compact: String, in session: Session
    ) throws(DeviceFault) -> VerifiedTransaction {
        let verified: Verified<JWSTransactionDecodedPayload>
        do throws(VerificationFailure) {
            verified = try session.verifier.verify(compact, now: now(session))
        } catch {
            throw .unverified(error)
        }
        return try read(verified)
    }

    /// The time in which this session's store dates its sales.
    func now(_ session: Session) -> Timestamp {
        session.environment == .production ? ports.wall.now : session.storeTime
    }

    private func askStoreTime(_ session: Session) async throws(DeviceFault) {
        let since = try cursor(of: session)
        let reply = try await call(
            .transactions(since: since.revision, after: since.after, waitSeconds: 0),
            in: session)
        guard reply.status == 200 else { throw .unknown(nil) }
        let page: TransactionsResponse = try decode(reply)
        noteStoreTime(page.now)
    }

    private func read(
        _ verified: Verified<JWSTransactionDecodedPayload>
    ) throws(DeviceFault) -> VerifiedTransaction {
        let payload = verified.payload
        guard let id = payload.transactionId, let product = payload.productId else {
            throw .unknown(nil)
        }
        return VerifiedTransaction(
            productID: product, isSubscription: payload.expiresDate != nil,
            quantity: payload.quantity ?? 1,
            appAccountToken: payload.appAccountToken,
            sold: SoldTransaction(
                transactionID: id, purchaseDate: payload.purchaseDate,
                signedTransaction: verified.compact),
            isRevoked: payload.revocationDate != nil,
            type: payload.type, originalID: payload.originalTransactionId,
            originalDate: payload.originalPurchaseDate)
    }

    // MARK: The receipt

    /// Fetches the receipt and passes it to a change, which writes both
    /// together. One at a time, so that an older receipt never replaces a newer
    /// one. `isFresh` fetches it also if this device seems to have it.
    func withReceipt(
        of owner: Owner?, isFresh: Bool = false,
        _ write: (QueueRecord.Receipt, [DeviceFile], (QueueRecord) -> Bool)
            throws(DeviceFault) -> Void
    ) async throws(DeviceFault) {
        await receiptGate.enter()
        do throws(DeviceFault) {
            let basis = record?.receipt
            let (receipt, files) = try await fetchReceipt(
                owner, basis: basis, isFresh: isFresh)
            try write(receipt, files) { $0.receipt == basis }
        } catch {
            await receiptGate.leave()
            throw error
        }
        await receiptGate.leave()
    }

    private func fetchReceipt(
        _ owner: Owner?, basis: QueueRecord.Receipt?, isFresh: Bool
    ) async throws(DeviceFault) -> (QueueRecord.Receipt, [DeviceFile]) {
        let session = try await signIn()
        guard session.owner == owner else { throw .overtaken }
        let path = Self.receiptName(in: session.environment)
        let isOurs = basis?.owner == owner && basis?.path == path
        let reply = try await call(
            .receipt, in: session, ifNoneMatch: isOurs && !isFresh ? basis?.etag : nil)
        if reply.status == 304, let basis, isOurs { return (basis, []) }
        guard reply.status == 200, !reply.body.isEmpty else { throw .unknown(nil) }
        let receipt = QueueRecord.Receipt(path: path, etag: reply.etag, owner: session.owner)
        return (receipt, [DeviceFile(name: path, bytes: reply.body)])
    }
}
