// SPDX-License-Identifier: Apache-2.0

/// What one process of a database tells the others after a commit.
public enum Wake: Hashable, Sendable {
    /// A word that somebody said, this process too.
    case word(String)
    /// Words may have been missed: read again from where you stand.
    case missed
}

extension Storage {
    /// Where one process has the database to itself there is nobody to tell.
    public func wake(_ word: String) {}

    /// Ends at once where nobody else could say anything.
    public func wakes() -> AsyncStream<Wake> { AsyncStream { $0.finish() } }
}

extension Writing {
    public func claim(_ statement: Statement, _ values: [SQLValue]) throws -> [Row] {
        try query(statement, values)
    }

    public func insertMany(_ statement: Statement, _ rows: [[SQLValue]]) throws {
        for row in rows { try execute(statement, row) }
    }
}

extension StorageObserver {
    public func didRoundTrip() {}
}
