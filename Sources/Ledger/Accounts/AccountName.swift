// SPDX-License-Identifier: Apache-2.0

import Commerce

/// The subject of ``AccountName``.
enum AccountSubject {}

/// The name of an account where names are compared, collected or looked up. Two names are
/// equal if their bytes are, as in the database: each of two spellings of `é` is an account
/// of its own, with its own line.
typealias AccountName = Identifier<AccountSubject, String>

extension Sequence<AccountName> {
    /// The names by their bytes, which is one order for every process.
    var inOrder: [AccountName] {
        sorted { $0.value.utf8.lexicographicallyPrecedes($1.value.utf8) }
    }
}
