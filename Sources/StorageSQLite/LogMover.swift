// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import GRDBSQLite
import Storage

/// Moves a file's log into the database on a thread and a connection of its
/// own, while writes go on: thousands of pages, written all over the file and
/// synced, are not for anybody to wait for. What is written meanwhile is left
/// for the next time, or for the writer where it is little.
///
/// A class because it is one thread with its questions; its state is guarded
/// by `condition`, which is all that makes it safe to share.
final class LogMover: @unchecked Sendable {
    private enum State {
        /// No thread yet, or one that waits.
        case idle
        case asked
        case moving
        /// The file could not be opened once more: the writer does it all.
        case failed
        case closed
    }

    private let condition = NSCondition()
    private let file: String
    private let options: SQLiteOptions
    private var state = State.idle
    private var hasThread = false
    /// Pages of the log, as it began last, that are in the database.
    private var moved = 0

    init(file: String, options: SQLiteOptions) {
        self.file = file
        self.options = options
    }

    /// What the writer should do about a log of so many pages.
    enum Advice {
        case nothing
        /// Move what is left, which is little or too much.
        case moveNow
    }

    /// Hears of the log's length after each commit, on the writer's thread, and
    /// begins to move it when that is time.
    func advise(pages: Int, isNobodyWaiting: Bool) -> Advice {
        condition.lock()
        defer { condition.unlock() }
        // A log that is shorter than what was moved of it has begun anew.
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
        // A log that a reader held, and let grow, is too much for one commit to wait for.
        if isLong, rest <= options.logPagesMax / 4 { return .moveNow }
        state = .asked
        if hasThread { condition.signal() } else { startThread() }
        return .nothing
    }

    /// Returns when its thread has let go of the file.
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
                // One that fails loses nothing: the log stays.
                sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, &pages)
                end(.idle, moved: Int(pages))
            }
        }
    }

    /// Waits for a question; false when there will be none.
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
