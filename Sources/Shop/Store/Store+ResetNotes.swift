// SPDX-License-Identifier: Apache-2.0

import Storage
import StoreWire

extension Store {
    /// Writes the store's audit entries of all resets of a realm that were made
    /// and are not reported yet. Called when a store is opened, around each
    /// reset, and before the realm is deleted.
    func auditResets(of realm: Realm) async throws {
        let id = realm.description.id
        let notes = try await registry.read { reading in
            try reading.query(Statement.ResetNotes.list, [.text(id)]).map(ResetNote.init)
        }
        for note in notes { try await note.settle(realm.home, registry) }
    }

    /// Like ``auditResets(of:)``, but without throwing. What cannot be reported
    /// now remains noted.
    func auditResetsQuietly(of realm: Realm, _ context: RequestContext?) async {
        do { try await auditResets(of: realm) } catch {
            ports.log(
                .warning, "the store's audit of a reset is on its way", context,
                ["realm": realm.description.id, "fault": "\(error)"])
        }
    }
}
