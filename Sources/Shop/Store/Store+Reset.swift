// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Store {
    /// Deletes what happened to a sandbox's customers: purchases, transactions,
    /// sessions, devices, notifications, errands and due work. Accounts, apps,
    /// catalogue, server keys, settings, clock and audit stay. The realm gets a
    /// new generation, so that devices read everything again, and no number is
    /// reused.
    ///
    /// This is one commit, so every other request runs before or after it. Rows
    /// on other clusters are deleted a moment later, in one commit for each
    /// cluster. The realm's audit entry is in the commit. The store's audit
    /// entry follows, at the next start at the latest (``ResetNote``).
    /// Refusals, in order: `realmNotFound`, `realmIsProduction`,
    /// `processorIsOwed`.
    public func resetRealm(
        named name: String, _ context: RequestContext
    ) async throws -> RealmReset {
        let realm = try await realm(named: name)
        await auditResetsQuietly(of: realm, context)
        let registry = registry
        let reset = try await realm.keeping.reset(context) { note in
            try await registry.write { try note.write($0) }
        }
        await auditResetsQuietly(of: realm, context)
        return reset
    }
}
