// SPDX-License-Identifier: Apache-2.0

extension Device {
    var isHeard: Bool { !backing.observers.isEmpty }

    /// Starts or stops the queue's work, which needs at least one observer.
    func observersDidChange() {
        guard isHeard, !isClosed else {
            follower?.cancel()
            follower = nil
            return
        }
        do throws(DeviceFault) {
            _ = try openRecord()
        } catch {
            sayOnce("The queue cannot be opened: \(error.sentence)")
        }
        tellUntold()
        resumeOwn()
        if follower == nil {
            follower = Task { await self.follow() }
        }
    }

    /// Notifies the observers of the entries' states. Without observers, keeps
    /// the keys for later.
    func deliver(_ keys: [String]) {
        guard isHeard else {
            untold.formUnion(keys)
            return
        }
        let facts = keys.compactMap { entry($0) }.filter { $0.state != .finished }
            .map(TransactionFacts.init)
        guard !facts.isEmpty else { return }
        backing.hear(.updated(facts))
    }

    /// Delivers the entries that belong to this launch, once for each customer,
    /// and resumes their unfinished work.
    func open(for owner: Owner) {
        guard openFor != owner, let record else { return }
        openFor = owner
        noteReceipt()
        let entries = record.entries(of: launch, for: owner)
        let known = backing.knownKeys
        deliver(entries.map(\.key).filter { !known.contains($0) && !untold.contains($0) })
        for entry in entries where carriers[entry.key] == nil {
            switch entry.state {
            case .confirmed, .waiting: carry(entry.key, isResumed: true)
            case .finished: tellFinish(entry.key)
            case .asked, .failed, .purchased: break
            }
        }
    }

    /// Opens the queue for the customer of the last sign-in, while the store
    /// cannot be reached and if the configured name is still the same.
    func openForLastCustomer() {
        guard openFor == nil, let last = record?.lastSignIn, last.name == configuration.customer
        else { return }
        open(for: last.owner)
    }

    private func tellUntold() {
        let keys = untold
        untold = []
        let order = (record?.entries ?? []) + unwritten
        deliver(order.map(\.key).filter { keys.contains($0) })
    }

    /// Resumes payments that were added while there were no observers.
    private func resumeOwn() {
        let unwritten = Set(unwritten.map(\.key))
        for entry in record?.entries ?? []
        where entry.launch == launch && entry.state == .asked && !unwritten.contains(entry.key) {
            carry(entry.key, isResumed: false)
        }
    }
}
