// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// News of a session's app that a device waits for. It is registered when it is
/// made, so that no commit is missed between reading and waiting, and until it
/// is closed. A class, because thousands of devices wait: their suspended
/// functions hold a reference and no copies.
final class AwaitedNews: Sendable {
    private let realm: Realm
    private let since: Int64
    private let session: DeviceSession
    let ticket: Waiters<CustomerID>.Ticket

    init(_ realm: Realm, since: Int64, _ session: DeviceSession) {
        (self.realm, self.since, self.session) = (realm, since, session)
        ticket = realm.hub.ticket(session.customer)
    }

    /// Returns when there is news, when the session has ended, or when the wait
    /// was ended.
    func wait() async throws {
        while await ticket.wait() {
            if try await isThereNow() { break }
        }
        try Task.checkCancellation()
    }

    /// Looks in a task of its own. A task keeps the memory of its deepest call
    /// until it ends, and the caller may go on waiting. Not inlined for the same
    /// reason.
    @inline(never)
    private func isThereNow() async throws -> Bool { try await Task(operation: isThere).value }

    /// The same, and returns when `timeout` returns. `timeout` is cancelled when
    /// it is no longer needed.
    func wait(timeout: @escaping @Sendable () async throws -> Void) async throws {
        async let _ = end(after: timeout)
        try await wait()
    }

    private func end(after timeout: @Sendable () async throws -> Void) async {
        try? await timeout()
        ticket.end()
    }

    func close() { realm.hub.giveBack(ticket) }

    /// Returns whether there is news. Changes that devices do not receive (a sign-in, a
    /// captured sum) are not news. The end of the session is.
    @Sendable func isThere() async throws -> Bool {
        let values: [SQLValue] = [
            .integer(session.customer.value), .text(session.bundleID.value), .integer(since),
        ]
        let wall = realm.ports.wall.now
        return try await realm.read(of: session.customer) { [session] reading in
            guard try CustomerRoom.isValid(session, at: wall, reading) else { return true }
            return try reading.first(Statement.Purchases.news, values) != nil
        }
    }
}
