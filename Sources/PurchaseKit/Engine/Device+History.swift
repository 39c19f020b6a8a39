// SPDX-License-Identifier: Apache-2.0

/// How far this process has read a customer's transactions.
struct Reading {
    /// Where the next request starts.
    var cursor: ReadCursor
    /// The history's cursor stays here until the process ends, because a later
    /// transaction could not be verified or written. The next launch reads it
    /// again.
    var held: ReadCursor?
    /// Pages that are not in the history file yet.
    var unwritten: HistoryPages?
}

extension Device {
    /// Where the next request for the customer's transactions starts.
    func cursor(of session: Session) throws(DeviceFault) -> ReadCursor {
        if let reading = readings[session.owner] { return reading.cursor }
        guard let origin = Self.origin(of: session, in: try openRecord()) else { throw .overtaken }
        do {
            let found = try history.read(origin)
            if let notice = found.notice { sayOnce(notice) }
            readings[session.owner] = Reading(cursor: found.record.cursor)
            return found.record.cursor
        } catch {
            sayOnce(
                "The history of transactions cannot be read: \(error). They are read from the "
                    + "store again.")
            let start = ReadCursor(revision: 0)
            readings[session.owner] = Reading(cursor: start, held: start)
            return start
        }
    }

    /// Reads the customer's transactions from the beginning: the history has read
    /// further than the store has written.
    func startOver(_ session: Session) {
        sayOnce("The history of transactions is not the store's. They are read again.")
        let start = ReadCursor(revision: 0)
        var pages = HistoryPages(since: start)
        pages.startsOver = true
        readings[session.owner] = Reading(cursor: start, unwritten: pages)
    }

    /// Records a page that was read, once its new transactions are in the queue
    /// file. The history never moves past what the queue does not have, so a
    /// process that ends between the two files reads the page again. The queue
    /// and the store know what was delivered of it.
    func note(
        _ page: PageRead, in session: Session, isLast: Bool
    ) throws(DeviceFault) {
        // The files of a closed device may be in use by another.
        guard !isClosed else { throw .overtaken }
        var reading = readings[session.owner] ?? Reading(cursor: page.since)
        let read = max(page.read, page.since)
        reading.cursor = read
        reading.held = [reading.held, page.held].compactMap { $0 }.min()
        var pages = reading.unwritten ?? HistoryPages(since: page.since)
        pages.transactions += page.transactions
        pages.cleared = page.cleared ?? pages.cleared
        pages.cursor = reading.held.map { min($0, read) } ?? read
        reading.unwritten = pages
        readings[session.owner] = reading
        if !pages.isEmpty, isLast || pages.transactions.count >= HistoryPages.transactionsMax {
            try write(pages, in: session)
        }
    }

    /// Writes pages to the history. A history that cannot be written delays no
    /// delivery.
    private func write(_ pages: HistoryPages, in session: Session) throws(DeviceFault) {
        guard let origin = record.flatMap({ Self.origin(of: session, in: $0) }) else {
            throw .overtaken
        }
        let owner = session.owner
        readings[owner]?.unwritten = nil
        var queue = record
        do {
            let found = try history.add(pages, to: origin) {
                queue = try file.read(orElse: record)
                return queue.flatMap { Self.origin(of: session, in: $0) } == origin
            }
            if let notice = found.notice { sayOnce(notice) }
            // The file was removed or replaced while this process ran.
            if found.record.cursor < pages.cursor { readings[owner] = nil }
        } catch QueueFileFault.overtaken {
            readings[owner] = nil
            record = queue
            throw .overtaken
        } catch {
            sayOnce("The history of transactions is not written: \(error)")
            let held = [readings[owner]?.held, pages.since].compactMap { $0 }.min()
            readings[owner]?.held = held
        }
    }

    private static func origin(of session: Session, in record: QueueRecord) -> HistoryOrigin? {
        guard isCurrent(session, in: record) else { return nil }
        return HistoryOrigin(
            deviceUUID: record.deviceUUID, owner: session.owner, generation: session.generation)
    }
}

/// A page of transactions after it was verified.
struct PageRead {
    var since: ReadCursor
    /// Up to where the page goes.
    var read: ReadCursor
    /// Before the first transaction that could not be verified. Nil if all
    /// could be.
    var held: ReadCursor?
    var cleared: Int64?
    var transactions: [HistoryRecord.Transaction] = []
}
