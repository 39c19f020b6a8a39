// SPDX-License-Identifier: Apache-2.0

import StoreWire

extension Device {
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
        let transactionID = entry(key)?.sold?.transactionID
        do throws(DeviceFault) {
            if let transactionID { finishedTransactions.insert(transactionID) }
            try change(.finished(key: key))
        } catch {
            if let transactionID { finishedTransactions.remove(transactionID) }
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
            let transactionID = entry.sold?.transactionID
        else { return }
        // The tombstone goes when the store has heard, and an answer that was
        // under way before that must find the transaction hidden all the same.
        finishedTransactions.insert(transactionID)
        finishers[key] = Task {
            var failures = 0
            while !Task.isCancelled, self.entry(key)?.state == .finished {
                let wakes = self.wakeCount
                guard await !self.isAcknowledged(key, transactionID, of: entry.owner) else { break }
                await self.nap(failures, since: wakes)
                failures += 1
            }
            self.finishers[key] = nil
        }
    }

    /// Whether there is nothing left to tell.
    private func isAcknowledged(
        _ key: String, _ transactionID: String, of owner: Owner?
    ) async -> Bool {
        do throws(DeviceFault) {
            let session = try await signIn()
            guard session.owner == owner else { return true }
            let reply = try await call(.finish(transactionID: transactionID))
            guard reply.status == 200 else { throw refusal(reply) }
            try change(.acknowledged(key: key))
            return true
        } catch .refused(let status, let error) where [400, 403, 404].contains(status) {
            // The store knows no such transaction: there is nothing to hide.
            ports.log("The store refused a finish: \(error.message)")
            try? change(.acknowledged(key: key))
            return true
        } catch {
            return false
        }
    }
}
