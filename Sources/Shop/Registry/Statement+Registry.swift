// SPDX-License-Identifier: Apache-2.0

import Storage

extension Statement {
    enum Registry {
        static let liveRealms = Statement(
            "registry.liveRealms", [],
            """
            SELECT id, name, environment, seed, created_at FROM realms
            WHERE deleted_at IS NULL ORDER BY name
            """)

        static let realmByName = Statement(
            "registry.realmByName", [.text],
            """
            SELECT id, name, environment, seed, created_at FROM realms
            WHERE name = $1 AND deleted_at IS NULL
            """)

        /// Returns the id if the name was free.
        static let insertRealm = Statement.insert(
            "registry.insertRealm", into: RegistrySchema.realms,
            "ON CONFLICT (name) WHERE deleted_at IS NULL DO NOTHING RETURNING id")

        /// Returns the id if this call is the one that deleted the realm.
        static let deleteRealm = Statement(
            "registry.deleteRealm", [.text, .integer],
            """
            UPDATE realms SET deleted_at = $2
            WHERE name = $1 AND deleted_at IS NULL RETURNING id, environment
            """)

        /// A realm that is being made from a snapshot, as one that is to be removed.
        static let reserveRealm = Statement.insert(
            "registry.reserveRealm", into: RegistrySchema.realms)

        static let reservedRealm = Statement(
            "registry.reservedRealm", [.text],
            """
            SELECT id, name, environment, seed, created_at FROM realms
            WHERE id = $1 AND removed_at IS NULL
            """)

        /// Returns no row if the realm was removed.
        static let publishRealm = Statement(
            "registry.publishRealm", [.text],
            """
            UPDATE realms SET deleted_at = NULL
            WHERE id = $1 AND removed_at IS NULL RETURNING id
            """)

        /// Deleted realms whose databases may still exist.
        static let unremovedRealms = Statement(
            "registry.unremovedRealms", [],
            "SELECT id FROM realms WHERE deleted_at IS NOT NULL AND removed_at IS NULL")

        static let markRemoved = Statement(
            "registry.markRemoved", [.text, .integer],
            "UPDATE realms SET removed_at = $2 WHERE id = $1")

        /// Reserves the next block of a kind, and returns where the following
        /// one starts. Returns no row if the kind has no row, or there is no
        /// room below the third value.
        static let reserveNumbers = Statement(
            "registry.reserveNumbers", [.integer, .integer, .integer],
            """
            UPDATE number_blocks SET next_count = next_count + $2
            WHERE kind = $1 AND next_count <= $3 - $2 RETURNING next_count
            """)

        static let numbers = Statement.list(
            "registry.numbers", of: RegistrySchema.numberBlocks)

        static let insertNumbers = Statement.insert(
            "registry.insertNumbers", into: RegistrySchema.numberBlocks,
            "ON CONFLICT (kind) DO NOTHING")

        static let askReadiness = Statement(
            "registry.askReadiness", [.blob],
            """
            INSERT INTO readiness (singleton, asked, room) VALUES (1, 1, $1)
            ON CONFLICT (singleton) DO UPDATE
            SET asked = readiness.asked + 1, room = excluded.room
            """)

        /// Frees the space in the same commit.
        static let leaveReadiness = Statement(
            "registry.leaveReadiness", [], "UPDATE readiness SET room = NULL")

        static let insertDoorKey = Statement.insert(
            "registry.insertDoorKey", into: RegistrySchema.doorKeys,
            "ON CONFLICT (door) DO NOTHING")

        static let doorKeys = Statement.list("registry.doorKeys", of: RegistrySchema.doorKeys)

        static let all = [
            liveRealms, realmByName, insertRealm, reserveRealm, reservedRealm, publishRealm,
            deleteRealm, unremovedRealms, markRemoved,
            reserveNumbers, numbers, insertNumbers, insertDoorKey, doorKeys,
            askReadiness, leaveReadiness,
        ]
    }
}
