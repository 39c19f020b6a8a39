// SPDX-License-Identifier: Apache-2.0

/// Choices that several processes on one device folder have added. One process carries
/// the payment. The others report its outcome, and continue it if that process ends.
extension Device {
    /// How often the file is read for the progress of another process.
    static let attendEvery = Duration.seconds(1)

    /// Adds the payment of a choice, which is there once in all processes.
    func join(_ entry: QueueEntry) throws(DeviceFault) {
        try change(.joined(entry, ended: ended(of: entry.key)))
        attend(entry.key)
    }

    /// The launch of an entry, if it is not this one and has ended.
    private func ended(of key: String) throws(DeviceFault) -> Set<String> {
        _ = try openRecord()
        guard let owner = (try? file.read())?.entry(key)?.launch, owner != launch,
            !ports.files.isClaimed(launch: owner)
        else { return [] }
        return [owner]
    }

    /// Continues a payment if the process that carried it has ended.
    func takeOver(_ entry: QueueEntry) throws(DeviceFault) {
        guard entry.launch != launch, !ports.files.isClaimed(launch: entry.launch) else { return }
        var mine = entry
        mine.launch = launch
        try change(.joined(mine, ended: [entry.launch]))
    }

    /// Follows an entry of another launch until it has left the queue.
    private func attend(_ key: String) {
        guard attended[key] == nil, let entry = record?.entry(key), entry.launch != launch
        else { return }
        let sleep = ports.sleep
        attended[key] = Task {
            while !Task.isCancelled, !self.isClosed, self.attendOnce(key) {
                guard (try? await sleep(Self.attendEvery)) != nil else { break }
            }
            self.attended[key] = nil
        }
    }

    /// Returns false when there is nothing more to follow.
    private func attendOnce(_ key: String) -> Bool {
        let before = record?.entry(key)?.state
        guard let found = try? file.read(orElse: record) else { return true }
        record = found
        guard let entry = found.entry(key), entry.state != .finished else {
            report(.removed([key]))
            return false
        }
        guard entry.launch != launch else { return false }
        if ports.files.isClaimed(launch: entry.launch) {
            // The app sees no difference between asked and confirmed.
            if entry.state != before, entry.state != .confirmed { deliver([key]) }
            return true
        }
        do throws(DeviceFault) {
            try takeOver(entry)
            return false
        } catch {
            sayOnce("A payment of a process that has ended cannot be continued: \(error.sentence)")
            return true
        }
    }
}
