// SPDX-License-Identifier: Apache-2.0

import Commerce
import Synchronization

/// Sessions that were verified recently. A use case whose commit verifies the
/// session again takes it from here, which saves one of two waits for the
/// database. A class, because every request of the realm shares it. It exists
/// as long as the realm is open.
final class RecentSessions: Sendable {
    /// How many seconds a session is remembered. Facts that the commit does not
    /// read again (such as a locale) may be this old.
    static let seconds: Int64 = 60
    static let countMax = 10_000

    private struct Entry {
        let session: DeviceSession
        let provenAt: Timestamp
    }

    private let entries = Mutex<[[UInt8]: Entry]>([:])
    private let countMax: Int

    init(countMax: Int = RecentSessions.countMax) {
        self.countMax = countMax
    }

    func remember(_ session: DeviceSession, at wall: Timestamp) {
        entries.withLock { entries in
            // Rare. Each forgotten session costs one read.
            if entries.count >= countMax { entries = [:] }
            entries[session.tokenHash] = Entry(session: session, provenAt: wall)
        }
    }

    /// Nil if the session was not verified within this time. The wall clock may
    /// have gone back in between.
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
