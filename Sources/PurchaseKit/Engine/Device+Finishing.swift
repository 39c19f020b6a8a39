// SPDX-License-Identifier: Apache-2.0

import StoreWire

/// A transaction among those of all customers and realms: numbers are one
/// store's, and another store may answer at the same address.
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
    /// The store's word for a transaction that it does not have.
    private static let transactionNotFound = "transactionNotFound"

    /// Writes the finish down, then tells the observers and the store. Where
    /// it cannot be written the transaction stays, and is delivered again.
    func finishEntry(_ key: String) {
        guard !key.isEmpty else { return }
        if let index = unwritten.firstIndex(where: { $0.key == key }) {
            let entry = unwritten.remove(at: index)
            backing.hear(.removed([key]))
            forget(entry)
            return
        }
        let sale = entry(key).flatMap(Sale.init)
        do throws(DeviceFault) {
            if let sale { finishedSales.insert(sale) }
            try change(.finished(key: key))
        } catch {
            if let sale { finishedSales.remove(sale) }
            ports.log("A transaction could not be finished: \(error.sentence)")
        }
    }

    /// A failure that could not be written down may be on disk as a payment
    /// under way. Nothing of it left the device: at the next launch it ends
    /// as cancelled if it cannot be taken off now.
    private func forget(_ entry: QueueEntry) {
        guard record?.entry(entry.key) != nil else { return }
        do throws(DeviceFault) {
            try change(.dropped(key: entry.key))
        } catch {
            ports.log("A failed payment stays in the queue file: \(error.sentence)")
        }
    }

    /// Tells the store until it has written the finish down.
    func tellFinish(_ key: String) {
        guard finishers[key] == nil, !isClosed, let entry = entry(key),
            let sale = Sale(entry)
        else { return }
        // The tombstone goes when the store has heard, and an answer that was
        // under way before that must find the transaction hidden all the same.
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

    /// Whether there is nothing left to tell.
    private func isAcknowledged(_ key: String, _ sale: Sale) async -> Bool {
        do throws(DeviceFault) {
            let session = try await signIn()
            guard session.owner == sale.owner else { return true }
            let reply = try await call(.finish(transactionID: sale.transactionID))
            guard reply.status == 200 else { throw refusal(reply) }
            let answer: FinishResponse = try decode(reply)
            guard answer.transactionId == sale.transactionID else { throw .unknown(nil) }
            try change(.acknowledged(key: key))
            return true
        } catch .refused(_, let error) where error.code == Self.transactionNotFound {
            // The store knows no such transaction: there is nothing to hide. Any
            // other refusal, a proxy's among them, leaves the finish to be sent again.
            ports.log("The store refused a finish: \(error.message)")
            try? change(.acknowledged(key: key))
            return true
        } catch {
            return false
        }
    }
}
