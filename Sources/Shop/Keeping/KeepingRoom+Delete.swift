// SPDX-License-Identifier: Apache-2.0

import Storage

extension KeepingRoom {
    /// Ends every session, so that nothing more is sold to a device, unless the
    /// processor is owed an answer. Called before the realm is deleted: a sum
    /// that is reserved could not be taken or given back afterwards. Throws
    /// `processorIsOwed`.
    func endSales() async throws {
        for index in realm.clusters.all.indices {
            do {
                try await realm.clusters[index].write { writing in
                    // Waits for running writes for customers.
                    try writing.execute(Statement.Resets.takeLines, [])
                    if try writing.first(Statement.Resets.processorErrand) != nil {
                        throw ClearedRows.processorIsOwed
                    }
                    try writing.execute(Statement.Resets.endSessions, [])
                }
            } catch let fault as StorageFault
                where index > 0 && realm.processor == nil && Realm.isAway(fault)
            {
                // Without a processor nothing is owed to one.
                continue
            }
        }
        realm.recentSessions.forgetAll()
    }
}
