// SPDX-License-Identifier: Apache-2.0

import Storage

extension KeepingRoom {
    /// Throws `processorIsOwed` if a charge is not settled, captured or given
    /// back yet: the sum could be neither taken nor given back once the realm is
    /// deleted. With a processor, this also ends every session, so that no
    /// device begins another charge. A device that signs in again before the
    /// deletion could.
    func endSales() async throws {
        for index in realm.clusters.all.indices {
            do {
                try await endSales(in: realm.clusters[index])
            } catch let fault as StorageFault
                where index > 0 && realm.processor == nil && Realm.isAway(fault)
            {
                // Without a processor nothing is owed to one.
                continue
            }
        }
        realm.recentSessions.forgetAll()
    }

    private func endSales(in storage: any Storage) async throws {
        // Without a processor no charge can begin meanwhile, and a realm of any
        // size is deleted without touching its rows.
        guard realm.processor != nil else {
            return try await storage.read { try Self.checkIsOwedNothing($0) }
        }
        try await storage.write { writing in
            // Waits for running writes for customers.
            try writing.execute(Statement.Resets.takeLines, [])
            try Self.checkIsOwedNothing(writing)
            try writing.execute(Statement.Resets.endSessions, [])
        }
    }

    private static func checkIsOwedNothing(_ reading: any Reading) throws {
        guard try reading.first(Statement.Resets.processorErrand) == nil else {
            throw ClearedRows.processorIsOwed
        }
    }
}
