// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import Synchronization

extension Store {
    /// How long an answer stands, so that asking often costs no commits.
    static let readinessSeconds: Int64 = 1
    /// More than a page, so that a database without room is found out.
    static let readinessRoom = 16_384

    /// Returns where the store could sell now: its registry takes a write
    /// and makes it durable, the default realm answers, and the keys are there. Throws
    /// ``StorageFault`` and ``KeyStoreFault`` where not. A yes stands for a second.
    public func readiness() async throws {
        let now = ports.wall.now
        if let last = readyAt.withLock({ $0 }), last <= now,
            now < last.adding(seconds: Self.readinessSeconds)
        {
            return
        }
        readyAt.withLock { $0 = nil }
        let room = [UInt8](repeating: 0, count: Self.readinessRoom)
        try await registry.write { writing in
            try writing.execute(Statement.Registry.askReadiness, [.blob(room)])
            try writing.execute(Statement.Registry.leaveReadiness, [])
        }
        _ = try await realm(named: Self.defaultRealm).clock()
        _ = try await ports.keys.names()
        readyAt.withLock { $0 = now }
    }
}
