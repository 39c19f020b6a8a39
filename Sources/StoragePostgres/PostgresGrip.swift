// SPDX-License-Identifier: Apache-2.0

import CPostgres
import Storage

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Lets other threads act on a connection while its own thread waits in libpq:
/// cancel the statement of one turn and of no other, and cut the connection.
///
/// A cancel request names a server process, not a statement, and stops whatever
/// runs when it arrives. So no turn ends and no COMMIT begins while a request
/// is on its way, and no request is made once COMMIT may have been sent.
///
/// `@unchecked`: the condition guards everything that changes. libpq's cancel
/// object may be used from any thread.
final class PostgresGrip: @unchecked Sendable {
    /// Why a turn was cancelled.
    enum Reason: Error {
        case callerGone, tooLong
    }

    /// How long the end of a turn waits for a request that is on its way. If it
    /// takes longer, the connection is given up, so that the request cannot
    /// stop the statement of another caller.
    private static let requestMilliseconds = 10_000

    private let condition = MonotonicCondition()
    private let request: OpaquePointer?
    /// A duplicate of the connection's socket, because libpq may close its own.
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

    /// Begins a turn: from now on the connection is used for this caller.
    func begin(_ turn: PostgresTicket) {
        condition.withLock {
            self.turn = turn
            reason = nil
            isCommitting = false
        }
    }

    /// To be called before each transaction of a turn. Throws if the turn was
    /// cancelled.
    func beginTransaction() throws {
        try condition.withLock {
            if let reason { throw reason }
            isCommitting = false
        }
    }

    /// Throws if the turn was cancelled. After it has returned, the turn can no
    /// longer be cancelled.
    func beginCommit() throws {
        try condition.withLock {
            waitForRequest()
            if let reason { throw reason }
            isCommitting = true
        }
    }

    /// Throws if the turn was cancelled.
    func check() throws {
        try condition.withLock { if let reason { throw reason } }
    }

    /// Ends the turn. Returns why it was cancelled, or nil. A request for a
    /// lost connection may arrive at any time, because its server process no
    /// longer serves any caller.
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

    /// Asks the server to cancel this turn's statement, and waits until the
    /// server has accepted the request. Does nothing if the turn is committing
    /// or has ended. Blocks, so it needs a plain thread.
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
            // The server does not accept requests. Cutting the connection ends
            // the wait.
            sever(turn)
        }
        condition.withLock {
            isRequesting = false
            condition.broadcast()
        }
    }

    /// Cuts the connection during a turn, also during its commit. The thread
    /// that waits for the server then sees a lost connection.
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
    /// The error that the caller receives.
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

/// One call, as pool, connection and caller refer to it. A class, because all
/// three share it.
final class PostgresTicket: Sendable {
    private let flag = ClosedFlag()

    func cancel() { flag.close() }

    var isCancelled: Bool { flag.isClosed }
}
