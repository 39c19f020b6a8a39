// SPDX-License-Identifier: Apache-2.0

/// What one process that uses a database sends to the others after a commit.
public enum Wake: Hashable, Sendable {
    /// A word that some process sent, possibly this one.
    case word(String)
    /// Some words may have been missed. Continue reading from the last known
    /// position.
    case missed
}

extension Storage {
    /// Does nothing, for an engine whose database is used by one process only.
    public func wake(_ word: String) {}

    /// Ends at once, because no other process can send anything.
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
