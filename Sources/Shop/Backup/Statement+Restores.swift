// SPDX-License-Identifier: Apache-2.0

import Storage

extension RegistrySchema {
    /// The migration from which on a restore can be marked.
    static let restoresSince = 3

    /// `restores`: at most one row, without an end while a restore is under way.
    static let restores = """
        CREATE TABLE restores (
            singleton INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
            made_at INTEGER NOT NULL,
            begun_at INTEGER NOT NULL,
            finished_at INTEGER
        ) STRICT
        """

    /// Written to learn whether it can be.
    static let readiness = """
        CREATE TABLE readiness (
            singleton INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
            asked INTEGER NOT NULL,
            room BLOB
        ) STRICT
        """

    /// `serial`: hexadecimal digits.
    static let revokedCertificates = """
        CREATE TABLE revoked_certificates (
            serial TEXT NOT NULL PRIMARY KEY,
            revoked_at INTEGER NOT NULL
        ) STRICT
        """
}

extension Statement {
    /// What a restore writes: `registry` and `realm` name whose they are.
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

        /// Beyond the archive's own row and what was read last, whichever is more.
        static let raiseNumbers = Statement(
            "restores.raiseNumbers", [.integer, .integer, .integer],
            """
            UPDATE number_blocks
            SET next_count = CASE WHEN next_count > $2 THEN next_count ELSE $2 END + $3
            WHERE kind = $1
            """)

        /// Wall time, so that no generation comes twice however often the
        /// same copy is restored.
        static let newGeneration = Statement(
            "restores.newGeneration", [.integer],
            """
            UPDATE realm SET seed = NULL,
                generation = CASE WHEN generation < $1 THEN $1 ELSE generation + 1 END
            """)

        static let freeErrands = Statement(
            "restores.freeErrands", [], "UPDATE errands SET lease_until = NULL")

        static let generation = Statement(
            "restores.generation", [], "SELECT generation FROM realm")

        static let errands = Statement(
            "restores.errands", [],
            "SELECT count(*) AS errands, min(due_at) AS oldest FROM errands")

        static let registry = [unfinished, begin, finish, allRealms, forgetSeeds, raiseNumbers]
        static let realm = [newGeneration, freeErrands, generation, errands]
    }
}
