// SPDX-License-Identifier: Apache-2.0

import Storage

/// Tables of customers' facts split by a hash of the customer: the one place
/// that knows the rule. A table is split where its primary key begins with
/// `customer_id`, which every unique index of such a table holds too.
///
/// How many parts there are is fixed when a schema is made, and remembered
/// as its comment; parts can be moved to other disks afterwards, not added.
struct PostgresPartitions: Equatable {
    /// A split schema's migrations lock every part of every table at once,
    /// and a server has room for some six thousand locks as it comes.
    static let countMax = 64
    private static let column = "customer_id"
    private static let mark = "shopkeeper: parts "

    /// 0 or 1: tables are whole.
    let count: Int

    /// What a schema's comment says.
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

    /// What a statement of a migration becomes: itself, in PostgreSQL's
    /// words, and the parts of the table that it makes. Parts carry the
    /// migration's number, so that a table made anew does not meet old ones.
    func statements(_ statement: String, migration: Int) -> [String] {
        let translated = PostgresDDL.translate(statement)
        guard count > 1, let table = Self.table(madeBy: statement) else { return [translated] }
        let parts = (0..<count).map { part in
            "CREATE TABLE \(table)_m\(migration)_\(part) PARTITION OF \(table) "
                + "FOR VALUES WITH (MODULUS \(count), REMAINDER \(part))"
        }
        return [translated + " PARTITION BY HASH (\(Self.column))"] + parts
    }

    /// The table that a statement makes, if it is one to be split.
    static func table(madeBy statement: String) -> String? {
        let pieces = DDLWord.split(statement)
        let words = pieces.indices.filter { pieces[$0].isWord }
        func word(_ place: Int) -> String {
            words.indices.contains(place) ? pieces[words[place]].text : ""
        }
        guard word(0).uppercased() == "CREATE", word(1).uppercased() == "TABLE" else { return nil }
        for place in words.indices.dropFirst(3) where word(place).uppercased() == "PRIMARY" {
            guard word(place + 1).uppercased() == "KEY" else { continue }
            // Either the key has a list of its own, or it is one column's.
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
