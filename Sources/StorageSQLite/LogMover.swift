// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import GRDBSQLite
import Storage

/// Moves a file's log into the database on its own thread and connection while
/// writes continue. This writes and syncs thousands of pages all over the file,
/// and no caller should wait for it. Pages that are written in the meantime are
/// left for the next time, or for the writer if they are few.
///
/// A class, because it is one thread with requests for it. `condition` guards
/// its state, which makes it safe to share.
final class LogMover: @unchecked Sendable {
    private enum State {
        /// There is no thread yet, or it waits.
        case idle
        case asked
        case moving
        /// The file could not be opened a second time. The writer moves the log
        /// itself.
        case failed
        case closed
    }

    private let condition = NSCondition()
    private let file: String
    private let options: SQLiteOptions
    private var state = State.idle
    private var hasThread = false
    /// How many pages of the log, since it last restarted, are in the database.
    private var moved = 0

    init(file: String, options: SQLiteOptions) {
        self.file = file
        self.options = options
    }

    /// What the writer should do about a log of the given length.
    enum Advice {
        case nothing
        /// Move the rest now: there is little left, or the log is too long.
        case moveNow
    }

    /// Called on the writer's thread after each commit with the log's length.
    /// Starts moving the log when it is long enough.
    func advise(pages: Int, isNobodyWaiting: Bool) -> Advice {
        condition.lock()
        defer { condition.unlock() }
        // The log is shorter than what was moved of it, so it has restarted.
        if pages < moved { moved = 0 }
        guard pages >= options.logPagesMin else { return .nothing }
        let isLong = pages >= options.logPagesMax
        switch state {
        case .asked, .moving, .closed: return .nothing
        case .failed: return isNobodyWaiting || isLong ? .moveNow : .nothing
        case .idle: break
        }
        let rest = pages - moved
        if rest <= options.logPagesRest { return isNobodyWaiting || isLong ? .moveNow : .nothing }
        // If a long read let the log grow, the rest is too much for one commit
        // to wait for.
        if isLong, rest <= options.logPagesMax / 4 { return .moveNow }
        state = .asked
        if hasThread { condition.signal() } else { startThread() }
        return .nothing
    }

    /// Returns when the thread has closed the file.
    func close() {
        condition.lock()
        defer { condition.unlock() }
        state = .closed
        condition.broadcast()
        while hasThread { condition.wait() }
    }

    private func startThread() {
        hasThread = true
        let thread = Thread { [self] in
            do { try serve() } catch { end(.failed) }
            condition.lock()
            hasThread = false
            condition.broadcast()
            condition.unlock()
        }
        thread.name = "sqlite.log"
        thread.start()
    }

    private func serve() throws {
        let database = try connectMover(file: file, options: options)
        defer { try? database.close() }
        try database.inDatabase { database in
            guard let handle = database.sqliteConnection else {
                throw StorageFault(.unavailable, "this connection was closed")
            }
            while isAsked() {
                var pages: Int32 = 0
                // A failure loses nothing, because the log stays.
                sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, &pages)
                end(.idle, moved: Int(pages))
            }
        }
    }

    /// Waits for a request. Returns false if the mover was closed.
    private func isAsked() -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while state == .idle { condition.wait() }
        guard state == .asked else { return false }
        state = .moving
        return true
    }

    private func end(_ next: State, moved pages: Int = 0) {
        condition.lock()
        if state != .closed { state = next }
        moved = max(0, pages)
        condition.unlock()
    }
}
