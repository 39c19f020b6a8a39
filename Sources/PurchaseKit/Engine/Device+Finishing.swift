// SPDX-License-Identifier: Apache-2.0

import StoreWire

/// Identifies a transaction on this device, where several customers and realms
/// may have been used. A number alone is not enough: it is unique in one store
/// only, and another store may answer at the same address.
struct Sale: Hashable, Sendable {
    var owner: Owner
    var transactionID: String

    init(_ owner: Owner, _ transactionID: String) {
        self.owner = owner
        self.transactionID = transactionID
    }

    init?(_ entry: QueueEntry) {
        guard let owner = entry.owner, let sold = entry.sold else { return nil }
        self.init(owner, sold.transactionID)
    }
}

extension Device {
    /// The store's code for an unknown transaction.
    private static let transactionNotFound = "transactionNotFound"

    /// Records the finish, then notifies the app and the store. If it
    /// cannot be recorded, the transaction stays and is delivered again.
    func finishEntry(_ key: String) {
        guard !key.isEmpty else { return }
        if let index = unwritten.firstIndex(where: { $0.key == key }) {
            let entry = unwritten.remove(at: index)
            report(.removed([key]))
            forget(entry)
            return
        }
        let sale = entry(key).flatMap(Sale.init)
        do throws(DeviceFault) {
            if let sale { finishedSales.insert(sale) }
            let actions = try change(.finished(key: key))
            // Another process on this folder has finished it.
            if actions.isEmpty, record?.entry(key)?.isUnderWay != true { report(.removed([key])) }
        } catch {
            if let sale { finishedSales.remove(sale) }
            ports.log("A transaction could not be finished: \(error.sentence)")
        }
    }

    /// Removes the entry of a failure that could not be recorded. It may be in
    /// the file as a running payment, but nothing of it left the device. If it
    /// cannot be removed now, it ends as cancelled at the next launch.
    private func forget(_ entry: QueueEntry) {
        guard record?.entry(entry.key) != nil else { return }
        do throws(DeviceFault) {
            try change(.dropped(key: entry.key))
        } catch {
            ports.log("A failed payment stays in the queue file: \(error.sentence)")
        }
    }

    /// Sends the finish to the store until the store has recorded it.
    func tellFinish(_ key: String) {
        guard finishers[key] == nil, !isClosed, let entry = entry(key),
            let sale = Sale(entry)
        else { return }
        // The tombstone is removed once the store has the finish. An answer
        // that the store sent before that must not show the transaction again.
        finishedSales.insert(sale)
        finishers[key] = Task {
            var failures = 0
            while !Task.isCancelled, self.entry(key)?.state == .finished {
                let wakes = self.wakeCount
                guard await !self.isAcknowledged(key, sale) else { break }
                await self.nap(failures, since: wakes)
                failures += 1
            }
            self.finishers[key] = nil
        }
    }

    /// Sends the finishes of a product to the store that it may not have. The next
    /// payment for the product would otherwise be answered with what is finished.
    func sendFinishes(of product: String, in session: Session) async throws(DeviceFault) {
        guard productCache[product].map(\.isDeliveredOnce) != false else { return }
        let finished = (record?.entries ?? []).filter { entry in
            entry.state == .finished && entry.owner == session.owner
                && entry.payment.productID == product
        }
        for entry in finished {
            guard let sale = Sale(entry) else { continue }
            try await sendFinish(entry.key, sale, in: session)
        }
    }

    /// Whether the finish no longer needs to be sent.
    private func isAcknowledged(_ key: String, _ sale: Sale) async -> Bool {
        do throws(DeviceFault) {
            let session = try await signIn()
            guard session.owner == sale.owner else { return true }
            try await sendFinish(key, sale, in: session)
            return true
        } catch {
            return false
        }
    }

    private func sendFinish(
        _ key: String, _ sale: Sale, in session: Session
    ) async throws(DeviceFault) {
        do throws(DeviceFault) {
            let reply = try await call(.finish(transactionID: sale.transactionID), in: session)
            guard reply.status == 200 else { throw refusal(reply) }
            let answer: FinishResponse = try decode(reply)
            guard answer.transactionId == sale.transactionID else { throw .unknown(nil) }
            try change(.acknowledged(key: key))
        } catch .refused(_, let error) where error.code == Self.transactionNotFound {
            // The store does not know the transaction, so there is nothing to
            // hide. After any other refusal, including one by a proxy, the
            // finish is sent again.
            ports.log("The store refused a finish: \(error.message)")
            _ = try? change(.acknowledged(key: key))
        }
    }
}
