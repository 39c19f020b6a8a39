// SPDX-License-Identifier: Apache-2.0

import Commerce
import Synchronization

/// Sessions that were proven a moment ago. A use case whose commit proves the
/// session anew reads it from here, and waits for the database once instead
/// of twice. A class, because every request of the realm shares it; it lives
/// as long as the realm is open.
final class RecentSessions: Sendable {
    /// How long a session is remembered: what the commit does not read again
    /// (a locale, for words) may be as old.
    static let seconds: Int64 = 60
    static let countMax = 10_000

    private struct Entry {
        let session: DeviceSession
        let provenAt: Timestamp
    }

    private let entries = Mutex<[[UInt8]: Entry]>([:])

    func remember(_ session: DeviceSession, at wall: Timestamp) {
        entries.withLock { entries in
            // Rare, and costs each who is forgotten one reading.
            if entries.count >= Self.countMax { entries = [:] }
            entries[session.tokenHash] = Entry(session: session, provenAt: wall)
        }
    }

    /// Nil where the session was not proven within the time, by a wall clock
    /// that may have gone back meanwhile.
    func session(_ token: SessionToken, at wall: Timestamp) -> DeviceSession? {
        let hash = token.hash
        guard let entry = entries.withLock({ $0[hash] }),
            entry.session.customer == token.customer, entry.provenAt <= wall,
            wall < entry.provenAt.adding(seconds: Self.seconds)
        else { return nil }
        return entry.session
    }

    func forgetAll() { entries.withLock { $0 = [:] } }

    func forget(_ session: DeviceSession) {
        entries.withLock { $0[session.tokenHash] = nil }
    }
}
