// SPDX-License-Identifier: Apache-2.0

import Storage

/// Splits the tables of customers' facts by a hash of the customer. Only this
/// type knows the rule: a table is split if its primary key begins with
/// `customer_id`, which every unique index of such a table then includes.
///
/// The number of parts is fixed when a schema is created and is stored in the
/// schema's comment. Parts can be moved to other disks later, but none can be
/// added.
struct PostgresPartitions: Equatable {
    /// A split schema's migrations lock every part of every table at once, and
    /// a server in its default configuration has room for about six thousand
    /// locks.
    static let countMax = 64
    private static let column = "customer_id"
    private static let mark = "shopkeeper: parts "

    /// The number of parts. 0 and 1 mean that tables are whole.
    let count: Int

    /// Reads a schema's comment.
    init(comment: String?) {
        count =
            comment.flatMap { comment in
                comment.hasPrefix(Self.mark) ? Int(comment.dropFirst(Self.mark.count)) : nil
            } ?? 0
    }

    init(count: Int) {
        self.count = count
    }

    var comment: String { Self.mark + "\(count)" }

    /// Translates a statement of a migration to PostgreSQL's, followed by the
    /// statements that create the parts of its table. The names of the parts
    /// contain the migration's number, so that a recreated table does not
    /// collide with old parts.
    func statements(_ statement: String, migration: Int) -> [String] {
        let translated = PostgresDDL.translate(statement)
        guard count > 1, let table = Self.table(madeBy: statement) else { return [translated] }
        let parts = (0..<count).map { part in
            "CREATE TABLE \(table)_m\(migration)_\(part) PARTITION OF \(table) "
                + "FOR VALUES WITH (MODULUS \(count), REMAINDER \(part))"
        }
        return [translated + " PARTITION BY HASH (\(Self.column))"] + parts
    }

    /// The name of the table that a statement creates, if it is to be split.
    static func table(madeBy statement: String) -> String? {
        let pieces = DDLWord.split(statement)
        let words = pieces.indices.filter { pieces[$0].isWord }
        func word(_ place: Int) -> String {
            words.indices.contains(place) ? pieces[words[place]].text : ""
        }
        guard word(0).uppercased() == "CREATE", word(1).uppercased() == "TABLE" else { return nil }
        for place in words.indices.dropFirst(3) where word(place).uppercased() == "PRIMARY" {
            guard word(place + 1).uppercased() == "KEY" else { continue }
            // The key is either a list of columns or belongs to one column.
            let after = words[place + 1] + 1
            let hasList =
                pieces.indices.contains(after) && pieces[after].text.contains("(")
            let isSplit =
                hasList
                ? word(place + 2) == column
                : (1...4).map { word(place - 5 + $0) } == [column, "INTEGER", "NOT", "NULL"]
            return isSplit ? word(2) : nil
        }
        return nil
    }
}
