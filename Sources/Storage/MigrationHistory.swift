// SPDX-License-Identifier: Apache-2.0

/// Compares the migrations that were applied to a database with those that a
/// program knows.
public struct MigrationHistory: Sendable {
    /// A migration that was applied.
    public struct Step: Hashable, Sendable {
        public let number: Int
        public let name: String
        public let checksum: String

        public init(number: Int, name: String, checksum: String) {
            self.number = number
            self.name = name
            self.checksum = checksum
        }
    }

    /// The migrations that are still to be applied, in order.
    public let pending: [Migration]

    /// Throws ``StorageFault`` `unreadable` if the database is newer than the
    /// program, or if other migrations were applied to it.
    public init(taken: [Step], known: [Migration]) throws(StorageFault) {
        for (index, migration) in known.enumerated() {
            precondition(
                migration.number == index + 1, "migrations are numbered from 1 without gaps")
        }
        for (index, step) in taken.enumerated() {
            guard index < known.count, step.number == known[index].number else {
                throw StorageFault(
                    .unreadable,
                    "the database has migration \(step.number) (\(step.name)), and this "
                        + "program knows \(known.count): use a newer version of the program")
            }
            guard step.checksum == known[index].checksum else {
                throw StorageFault(
                    .unreadable,
                    "migration \(step.number) (\(step.name)) is not the one that was applied to this database: "
                        + "a released migration is never edited; add a new one")
            }
        }
        pending = Array(known.dropFirst(taken.count))
    }
}
