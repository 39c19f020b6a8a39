// SPDX-License-Identifier: Apache-2.0

/// What a history belongs to. When any of it changes, the history is read from
/// the store again.
struct HistoryOrigin: Hashable, Sendable, Codable {
    /// The installation. A new queue file has a new one, and then every
    /// unfinished transaction must be read again.
    var deviceUUID: String
    var owner: Owner
    /// The realm's generation: the store was restored or reset if it differs.
    var generation: Int64
}

/// A customer's verified transactions in this app, finished ones included, and
/// how far the device has read the store's.
struct HistoryRecord: Hashable, Sendable, Codable {
    /// Raised when a field is added that an older reader would lose.
    static let versionMax = 1

    struct Transaction: Hashable, Sendable, Codable {
        var transactionID: String
        /// The customer's revision with which the store sent it.
        var revision: Int64
        var signedTransaction: String
    }

    var version = HistoryRecord.versionMax
    var origin: HistoryOrigin
    /// Everything up to here was read and verified, and is in the queue or in
    /// ``transactions``. The next request starts here.
    var cursor = ReadCursor(revision: 0)
    /// The revision at which the store last cleared the customer's history.
    var cleared: Int64?
    /// In the order of revision and id. It may contain later ones than
    /// ``cursor``.
    var transactions: [Transaction] = []

    init(_ origin: HistoryOrigin) {
        self.origin = origin
    }

    /// Adds what was read. The later revision of a transaction wins, so several
    /// processes may add pages in any order. A page that begins after
    /// ``cursor`` does not move it, because something between may be missing.
    mutating func add(_ pages: HistoryPages) {
        cleared = [cleared, pages.cleared].compactMap { $0 }.max()
        let all = (transactions + pages.transactions).map { ($0.transactionID, $0) }
        let latest = Dictionary(all) { $1.revision >= $0.revision ? $1 : $0 }
        transactions = latest.values.filter { $0.revision > cleared ?? -1 }
            .sorted { ($0.revision, $0.transactionID) < ($1.revision, $1.transactionID) }
        if pages.startsOver {
            cursor = pages.cursor
        } else if pages.since <= cursor {
            cursor = max(cursor, pages.cursor)
        }
    }

    /// Whether its numbers can be of any store.
    var isPossible: Bool {
        cursor.revision >= 0 && (cursor.after ?? 0) >= 0
            && transactions.allSatisfy { $0.revision >= 0 }
    }
}

/// Pages of transactions that were read one after the other.
struct HistoryPages: Hashable, Sendable {
    /// So many transactions are written at once while more pages follow. Each
    /// write replaces the whole file.
    static let transactionsMax = 1000

    /// Where the first page begins.
    var since: ReadCursor
    /// Up to where everything was verified.
    var cursor: ReadCursor
    var cleared: Int64?
    var transactions: [HistoryRecord.Transaction] = []
    /// Whether what was read before is not the store's.
    var startsOver = false

    init(since: ReadCursor) {
        self.since = since
        cursor = since
    }

    /// Whether there is anything that is worth a write. A cursor alone is not:
    /// the next launch reads empty pages again.
    var isEmpty: Bool { transactions.isEmpty && cleared == nil && !startsOver }
}
