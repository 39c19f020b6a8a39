// SPDX-License-Identifier: Apache-2.0

import CPostgres
import Storage

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What other threads may do to a connection while its own waits in libpq:
/// cancel the statement of one turn and of no other, and cut the line.
///
/// A request to cancel names a server process, not a statement: it hits what
/// runs when it arrives. So neither does a turn end nor COMMIT begin while a
/// request is on its way, and once COMMIT may have been sent none is made.
///
/// `@unchecked`: everything that changes is guarded by the condition; libpq's
/// cancel object may be used from any thread.
final class PostgresGrip: @unchecked Sendable {
    /// Why a turn was cancelled.
    enum Reason: Error {
        case callerGone, tooLong
    }

    /// How long a turn waits for a request that is on its way. A connection
    /// whose request takes longer is given up, and the request hits nobody.
    private static let requestMilliseconds = 10_000

    private let condition = MonotonicCondition()
    private let request: OpaquePointer?
    /// A second name of the connection's socket: libpq may close its own.
    private let socket: Int32
    private var turn: PostgresTicket?
    private var reason: Reason?
    private var isCommitting = false
    private var isRequesting = false

    init(_ handle: OpaquePointer) {
        request = PQgetCancel(handle)
        socket = fcntl(PQsocket(handle), F_DUPFD_CLOEXEC, 0)
    }

    deinit {
        PQfreeCancel(request)
        if socket >= 0 { close(socket) }
    }

    // MARK: The connection's own thread

    /// From here on the connection is this caller's.
    func begin(_ turn: PostgresTicket) {
        condition.withLock {
            self.turn = turn
            reason = nil
            isCommitting = false
        }
    }

    /// Before each transaction of a turn: what was cancelled is not begun again.
    func beginTransaction() throws {
        try condition.withLock {
            if let reason { throw reason }
            isCommitting = false
        }
    }

    /// Throws when the turn was cancelled; when it returns, it will not be.
    func beginCommit() throws {
        try condition.withLock {
            waitForRequest()
            if let reason { throw reason }
            isCommitting = true
        }
    }

    /// Throws when the turn was cancelled.
    func check() throws {
        try condition.withLock { if let reason { throw reason } }
    }

    /// Ends the turn; tells why it was cancelled, if it was. A request for a
    /// connection that is lost may arrive when it will: its server process
    /// serves nobody any more.
    func end(isLost: Bool) -> Reason? {
        condition.withLock {
            if !isLost { waitForRequest() }
            turn = nil
            return reason
        }
    }

    private func waitForRequest() {
        let latest = Deadline.after(milliseconds: Self.requestMilliseconds)
        while isRequesting {
            if condition.wait(until: latest) { continue }
            if isRequesting { cut() }
            return
        }
    }

    // MARK: Other threads

    /// Asks the server to cancel what runs for this turn, and waits until it
    /// has taken the request. Nothing happens once the turn commits or has
    /// ended. Blocks: for a plain thread.
    func cancel(_ turn: PostgresTicket, _ reason: Reason) {
        let mayRequest = condition.withLock {
            guard self.turn === turn, self.reason == nil, !isCommitting else { return false }
            self.reason = reason
            isRequesting = true
            return true
        }
        guard mayRequest else { return }
        var complaint = [CChar](repeating: 0, count: 256)
        if PQcancel(request, &complaint, Int32(complaint.count)) == 0 {
            // The server takes no requests; cutting the line ends the wait.
            sever(turn)
        }
        condition.withLock {
            isRequesting = false
            condition.broadcast()
        }
    }

    /// Cuts the line under a turn, also while it commits: whoever waits for
    /// the server learns that the connection is lost.
    func sever(_ turn: PostgresTicket) {
        condition.withLock {
            if self.turn === turn { cut() }
        }
    }

    private func cut() {
        if socket >= 0 { shutdown(socket, Int32(SHUT_RDWR)) }
    }
}

extension PostgresGrip.Reason {
    /// What the caller hears.
    func error(_ options: PostgresOptions) -> any Error {
        switch self {
        case .callerGone: CancellationError()
        case .tooLong:
            StorageFault(
                .busy,
                "not done within \(options.callMilliseconds) ms and given up; nothing was "
                    + "written; try later")
        }
    }
}

/// One caller's call, by which pool, connection and caller know it. A class,
/// because they speak of the same one.
final class PostgresTicket: Sendable {
    private let flag = ClosedFlag()

    func cancel() { flag.close() }

    var isCancelled: Bool { flag.isClosed }
}
