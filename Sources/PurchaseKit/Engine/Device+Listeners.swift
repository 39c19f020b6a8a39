// SPDX-License-Identifier: Apache-2.0

extension Device {
    /// Starts or stops the queue's work, which needs a listener that listens.
    func listenersDidChange() {
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
        tellEnds()
        resumeOwn()
        restoreNext()
        if follower == nil {
            follower = Task { await self.follow() }
        }
    }

    /// Reports the entries' states. While nothing listens, keeps the keys for
    /// later.
    func deliver(_ keys: [String]) {
        guard isHeard else {
            untold.formUnion(keys)
            return
        }
        let entries = keys.compactMap { entry($0) }.filter { $0.state != .finished }
        guard !entries.isEmpty else { return }
        let downloads = entries.compactMap { downloadFacts($0) }
        if !downloads.isEmpty { report(.downloadsKnown(downloads)) }
        report(.updated(entries))
        takeUpDownloads(entries)
    }

    /// Delivers the entries that belong to this launch, once for each customer,
    /// and resumes their unfinished work.
    func open(for owner: Owner) {
        guard openFor != owner, let record else { return }
        openFor = owner
        noteReceipt()
        cleanDownloads()
        takeUp(record.entries(of: launch, for: owner))
    }

    /// Delivers entries that have become this launch's, and resumes their unfinished work.
    private func takeUp(_ entries: [QueueEntry]) {
        deliver(entries.map(\.key).filter { !reported.contains($0) && !untold.contains($0) })
        takeUpDownloads(entries)
        for entry in entries where carriers[entry.key] == nil {
            switch entry.state {
            case .confirmed, .waiting: carry(entry.key, isResumed: true)
            case .finished: tellFinish(entry.key)
            case .asked, .failed, .purchased, .restored: break
            }
        }
    }

    /// Takes over what processes on this folder have left that ended after this one began.
    func adoptEnded() throws(DeviceFault) {
        let known = try openRecord()
        let found = (try? file.read(orElse: known)) ?? known
        let ended = endedLaunches(in: found)
        guard !ended.isEmpty else { return }
        // A payment that this process has added too is not cancelled.
        for key in attended.keys {
            if let shared = found.entry(key), ended.contains(shared.launch) {
                try takeOver(shared)
            }
        }
        let keys = Set(found.entries.filter { ended.contains($0.launch) }.map(\.key))
        try change(.launched(launch, ended: ended))
        guard let record, let openFor else { return }
        takeUp(record.entries(of: launch, for: openFor).filter { keys.contains($0.key) })
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

    /// Resumes payments that were added while nothing listened.
    private func resumeOwn() {
        let unwritten = Set(unwritten.map(\.key))
        for entry in record?.entries ?? []
        where entry.launch == launch && entry.state == .asked && !unwritten.contains(entry.key) {
            carry(entry.key, isResumed: false)
        }
    }
}
