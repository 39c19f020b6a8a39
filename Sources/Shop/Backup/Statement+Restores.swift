// SPDX-License-Identifier: Apache-2.0

import Storage

extension RegistrySchema {
    /// The first migration that contains the table for marking a restore.
    static let restoresSince = 3

    /// `restores`: at most one row. It has no end while a restore is running.
    static let restores = """
        CREATE TABLE restores (
            singleton INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
            made_at INTEGER NOT NULL,
            begun_at INTEGER NOT NULL,
            finished_at INTEGER
        ) STRICT
        """

    /// Written to check that writing works.
    static let readiness = """
        CREATE TABLE readiness (
            singleton INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
            asked INTEGER NOT NULL,
            room BLOB
        ) STRICT
        """

    /// `serial`: in hexadecimal digits.
    static let revokedCertificates = """
        CREATE TABLE revoked_certificates (
            serial TEXT NOT NULL PRIMARY KEY,
            revoked_at INTEGER NOT NULL
        ) STRICT
        """
}

extension Statement {
    /// The statements of a restore. The prefixes `registry` and `realm` name
    /// the database.
    enum Restores {
        static let unfinished = Statement(
            "restores.unfinished", [],
            "SELECT begun_at FROM restores WHERE finished_at IS NULL")

        static let begin = Statement(
            "restores.begin", [.integer, .integer],
            "INSERT INTO restores (singleton, made_at, begun_at) VALUES (1, $1, $2)")

        static let finish = Statement(
            "restores.finish", [.integer], "UPDATE restores SET finished_at = $1")

        static let allRealms = Statement("restores.allRealms", [], "SELECT id FROM realms")

        static let forgetSeeds = Statement(
            "restores.forgetSeeds", [], "UPDATE realms SET seed = NULL")

        static let setNumbers = Statement(
            "restores.setNumbers", [.integer, .integer],
            """
            INSERT INTO number_blocks (kind, next_count) VALUES ($1, $2)
            ON CONFLICT (kind) DO UPDATE SET next_count = excluded.next_count
            """)

        static let newGeneration = Statement(
            "restores.newGeneration", [.integer],
            "UPDATE realm SET seed = NULL, generation = $1")

        static let freeErrands = Statement(
            "restores.freeErrands", [], "UPDATE errands SET lease_until = NULL")

        static let generation = Statement(
            "restores.generation", [], "SELECT generation FROM realm")

        static let errands = Statement(
            "restores.errands", [],
            "SELECT count(*) AS errands, min(due_at) AS oldest FROM errands")

        static let registry = [unfinished, begin, finish, allRealms, forgetSeeds, setNumbers]
        static let realm = [newGeneration, freeErrands, generation, errands]
    }
}
