// SPDX-License-Identifier: Apache-2.0

import Storage

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

        static let setNumbers = Statement.put(
            "restores.setNumbers", into: RegistrySchema.numberBlocks)

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

        /// The references that are checked once all rows are loaded.
        static let registryReferences = RegistrySchema.tables.filter(\.isInBackup)
            .flatMap(\.missing)
        static let realmReferences = RealmSchema.tables.map(\.table).filter(\.isInBackup)
            .flatMap(\.missing)

        static let registry =
            [unfinished, begin, finish, allRealms, forgetSeeds, setNumbers]
            + registryReferences.map(\.statement)
        static let realm =
            [newGeneration, freeErrands, generation, errands] + realmReferences.map(\.statement)
    }
}
