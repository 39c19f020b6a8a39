// SPDX-License-Identifier: Apache-2.0

import Storage

extension Store {
    /// Writes the audit entries of all rotations that were stored and are not
    /// reported yet. Called when a store is opened and around each rotation.
    func auditRotations() async throws {
        let notes = try await registry.read { reading in
            try reading.query(Statement.Rotations.list, []).compactMap(RotationNote.init(row:))
        }
        for note in notes {
            let generations = try await authorities.generations(note.kind)
            guard note.generation > 0, generations.count >= note.generation else { continue }
            let isStored = generations[note.generation - 1].serialWords == note.after
            try await registry.write { try note.settle(isStored: isStored, $0) }
        }
    }
}
