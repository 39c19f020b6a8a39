// SPDX-License-Identifier: Apache-2.0

import Storage

/// The store's own database: its realms, the used numbers, and the keys of its
/// doors.
enum RegistrySchema {
    static let migrations = [
        Migration(
            1, "realms, numbers, doors",
            [
                """
                CREATE TABLE realms (
                    id TEXT NOT NULL PRIMARY KEY,
                    name TEXT NOT NULL,
                    environment TEXT NOT NULL,
                    seed INTEGER,
                    created_at INTEGER NOT NULL,
                    deleted_at INTEGER,
                    removed_at INTEGER
                ) STRICT
                """,
                """
                CREATE UNIQUE INDEX realms_name ON realms (name) WHERE deleted_at IS NULL
                """,
                """
                CREATE TABLE number_blocks (
                    kind INTEGER NOT NULL PRIMARY KEY,
                    next_count INTEGER NOT NULL
                ) STRICT
                """,
                """
                CREATE TABLE door_keys (
                    door TEXT NOT NULL PRIMARY KEY,
                    secret TEXT NOT NULL
                ) STRICT
                """,
            ]),
        Migration(
            2, "sealed keys",
            [
                """
                CREATE TABLE sealed_keys (
                    name TEXT NOT NULL PRIMARY KEY,
                    sealed BLOB NOT NULL
                ) STRICT
                """
            ]),
        Migration(
            3, "restores, readiness, revoked certificates",
            [restores, readiness, revokedCertificates]),
        Migration(4, "realms of server keys", [serverKeyRealms]),
        Migration(5, "operators, store's audit", operatorTables),
        Migration(6, "rotations under way", [rotationNotes]),
        Migration(7, "databases that were set back", [advances]),
        Migration(8, "resets under way", [resetNotes]),
    ]
}

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
        static let insertRealm = Statement(
            "registry.insertRealm", [.text, .text, .text, .integer, .integer],
            """
            INSERT INTO realms (id, name, environment, seed, created_at)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (name) WHERE deleted_at IS NULL DO NOTHING RETURNING id
            """)

        /// Returns the id if this call is the one that deleted the realm.
        static let deleteRealm = Statement(
            "registry.deleteRealm", [.text, .integer],
            """
            UPDATE realms SET deleted_at = $2
            WHERE name = $1 AND deleted_at IS NULL RETURNING id, environment
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

        static let numbers = Statement(
            "registry.numbers", [], "SELECT kind, next_count FROM number_blocks ORDER BY kind")

        static let insertNumbers = Statement(
            "registry.insertNumbers", [.integer, .integer],
            """
            INSERT INTO number_blocks (kind, next_count) VALUES ($1, $2)
            ON CONFLICT (kind) DO NOTHING
            """)

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

        static let insertDoorKey = Statement(
            "registry.insertDoorKey", [.text, .text],
            "INSERT INTO door_keys (door, secret) VALUES ($1, $2) ON CONFLICT (door) DO NOTHING")

        static let doorKeys = Statement(
            "registry.doorKeys", [], "SELECT door, secret FROM door_keys")

        static let all = [
            liveRealms, realmByName, insertRealm, deleteRealm, unremovedRealms, markRemoved,
            reserveNumbers, numbers, insertNumbers, insertDoorKey, doorKeys,
            askReadiness, leaveReadiness,
        ]
    }
}
