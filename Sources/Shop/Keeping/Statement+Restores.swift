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

        /// Rows that name others. The statement finds one whose other is not there.
        struct Reference {
            let table: String
            let column: String
            /// The table that must have it.
            let target: String
            let missing: Statement

            /// `columns` have the same names in both tables.
            init(_ table: String, _ columns: [String], _ target: String) {
                (self.table, self.target) = (table, target)
                column = columns.last ?? ""
                let same = columns.map { "o.\($0) = t.\($0)" }.joined(separator: " AND ")
                missing = Statement(
                    "restores.missing.\(table).\(column)", [],
                    """
                    SELECT t.\(column) AS missing FROM \(table) t
                    WHERE t.\(column) IS NOT NULL
                        AND NOT EXISTS (SELECT 1 FROM \(target) o WHERE \(same)) LIMIT 1
                    """)
            }
        }

        /// Of tables that every schema has, and of rows that no store deletes
        /// before those that name them.
        static let references =
            ["app_accounts", "devices", "purchases", "transactions", "sign_in_names"].map {
                Reference($0, ["customer_id"], "customers")
            }
            + ["app_accounts", "devices", "purchases"].map { Reference($0, ["bundle_id"], "apps") }
            + [
                Reference("transactions", ["bundle_id", "product_id"], "products"),
                Reference("purchases", ["customer_id", "transaction_id"], "transactions"),
                Reference(
                    "transactions", ["customer_id", "bundle_id", "purchase_id"], "purchases"),
            ]

        static let registry = [unfinished, begin, finish, allRealms, forgetSeeds, setNumbers]
        static let realm =
            [newGeneration, freeErrands, generation, errands] + references.map(\.missing)
    }
}
