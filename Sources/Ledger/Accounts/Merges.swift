// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage

/// The accounts that became part of another, and the lines of several accounts.
enum Merges {
    /// Returns the account that an account became part of, or nil.
    static func into(_ account: String, _ reading: any Reading) throws -> String? {
        try reading.first(Statement.Merges.into, [.text(account)])?.text("into_account")
    }

    /// Returns the account to which news for `account` go, about a purchase of `owner`.
    static func heir(
        of account: String?, unless owner: String?, _ reading: any Reading
    ) throws -> String? {
        guard let account, let owner, !owner.isSame(as: account) else { return account }
        return try into(account, reading) ?? account
    }

    /// Locks the lines of accounts in one order for all, so that no two commits wait
    /// for each other. Returns their revisions.
    static func lock(
        _ accounts: [String?], _ writing: any Writing
    ) throws -> [AccountName: Int64] {
        var revisions: [AccountName: Int64] = [:]
        let names = Set(accounts.compactMap(\.self).map { AccountName($0) })
        for name in names.inOrder {
            let row = try writing.first(Statement.Accounts.takeLine, [.text(name.value)])
            revisions[name] = try row?.integer("revision")
        }
        return revisions
    }

    /// Refusal: `accountReserved`, if an account has reserved units. What they are for may
    /// have happened already, and the merchant's server confirms them by the account.
    static func refuseReserved(
        _ account: String, at now: Timestamp, _ reading: any Reading
    ) throws {
        let values: [SQLValue] = [.text(account), .integer(now.milliseconds)]
        guard let row = try reading.first(Statement.Moves.held, values),
            let end = try row.optionalInteger("expires_at").map(Timestamp.init(milliseconds:))
        else { return }
        throw LedgerRefusal(
            .conflict, code: "accountReserved", "This account has reserved units.",
            field: "account", rule: "no reservation is open; the last one expires at \(end)",
            remedy: "confirm or release its reservations first, or wait until they expire")
    }

    /// The accounts that became part of another one.
    static func parts(of account: String, _ reading: any Reading) throws -> [String] {
        try reading.query(Statement.Merges.parts, [.text(account)])
            .map { try $0.text("account") }
    }

    /// Refusal: `accountMerged`, if an account became part of another.
    static func refuse(_ account: String, _ reading: any Reading) throws {
        guard let into = try into(account, reading) else { return }
        throw LedgerRefusal(
            .conflict, code: "accountMerged", "This account became part of another.",
            field: "account", rule: "an account that is not merged", remedy: "name \(into)")
    }
}
