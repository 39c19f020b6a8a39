// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// The names of accounts that were erased.
enum ErasedAccount {
    private static let prefix = "erased:"
    /// What is left of a kept notification.
    static let payload = "erased"

    static func make(_ randomness: Randomness) -> String { prefix + randomness.uuid() }

    static func isOne(_ account: String) -> Bool {
        account.utf8.starts(with: prefix.utf8)
    }
}

extension Ledger {
    /// The notifications of a page, while all of them are read.
    private static let erasedPage = 200

    /// Erases an account and those that became part of it. An opaque name takes their
    /// place, so that the books still balance and no unit can be spent again: purchases,
    /// redemptions, grants and credits stay without a person. Purposes, waiting proofs,
    /// shares, and the contents of kept notifications about its purchases are deleted.
    /// A repeat after it is done finds no such account. It is refused while a unit is
    /// reserved, because what it is for may have happened already: its server could not
    /// confirm it any more. Refusals: `textInvalid`, `accountReserved`, `accountUnknown`,
    /// `accountMerged`.
    public func erase(account: String, requestID: String = "") async throws -> AccountErasure {
        let account = try Edge.account(account)
        let now = ports.wall.now
        let (accounts, keys) = try await storage.read { reading in
            let parts = try reading.query(Statement.Merges.parts, [.text(account)])
                .map { try $0.text("account") }
            for account in [account] + parts {
                try Merges.refuseReserved(account, at: now, reading)
            }
            let keys = try reading.query(PersonalData.purchases, [.text(account)])
                .map { try PurchaseKey($0) }
            return ([account] + parts, Set(keys))
        }
        // First, because the account's purchases are not found any more afterwards.
        let redacted = try await redact(about: keys)
        let names = accounts.map { (old: $0, new: ErasedAccount.make(ports.randomness)) }
        let note = note(.erased, account: names.first?.new)
        try await storage.write { writing in
            try Self.erase(names, at: now, writing)
            try note?.write(writing)
        }
        for account in accounts { news.tell(account, storage) }
        ports.log("erased an account", ["requestId": requestID])
        return AccountErasure(
            erasedDate: now, accounts: names.count, notifications: redacted)
    }

    /// Runs in a commit, possibly twice.
    private static func erase(
        _ names: [(old: String, new: String)], at now: Timestamp, _ writing: any Writing
    ) throws {
        for (old, _) in names.sorted(by: { $0.old < $1.old }) {
            let line = try writing.first(Statement.Accounts.takeKnownLine, [.text(old)])
            guard line != nil else { throw accountUnknown }
            // A unit may have been reserved since it was looked at.
            try Merges.refuseReserved(old, at: now, writing)
        }
        if let first = names.first { try Merges.refuse(first.old, writing) }
        for (old, new) in names {
            try writing.execute(
                PersonalData.insertAccount,
                LedgerSchema.accounts.row(["account": .text(new), "revision": .integer(1)]))
            for statement in PersonalData.renames {
                try writing.execute(statement, [.text(old), .text(new)])
            }
            try writing.execute(Statement.Merges.removeProofs, [.text(old)])
            try writing.execute(Statement.Shares.removeAll, [.text(old)])
            try writing.execute(Statement.Webhooks.ofAccount, [.text(old)])
            try writing.execute(Statement.Merges.remove, [.text(old)])
            try writing.execute(PersonalData.removeAccount, [.text(old)])
        }
    }

    /// Deletes the contents of the notifications about some purchases. Returns how many it
    /// were.
    private func redact(about keys: Set<PurchaseKey>) async throws -> Int {
        var count = 0
        try await keptNotifications(about: keys) { rows in
            let found = try rows.map {
                [SQLValue.text(try $0.text("root")), .text(try $0.text("notification_id"))]
            }
            try await storage.write { writing in
                for key in found {
                    try writing.execute(
                        PersonalData.redact, key + [.text(ErasedAccount.payload)])
                    try writing.execute(PersonalData.removeForwards, key)
                }
            }
            count += found.count
        }
        return count
    }

    /// Reads all kept notifications, and visits pages of those about some purchases.
    func keptNotifications(
        about keys: Set<PurchaseKey>, _ visit: ([Row]) async throws -> Void
    ) async throws {
        guard !keys.isEmpty else { return }
        var last: [SQLValue] = [.text(""), .text("")]
        while true {
            try Task.checkCancellation()
            let values = last + [.text(ErasedAccount.payload), .integer(Int64(Self.erasedPage))]
            let rows = try await storage.read { try $0.query(PersonalData.notifications, values) }
            let found = try rows.filter {
                KeptPayload(text: try $0.text("payload"))
                    .isAbout(keys, root: try $0.text("root"))
            }
            if !found.isEmpty { try await visit(found) }
            guard rows.count == Self.erasedPage, let end = rows.last else { return }
            last = [.text(try end.text("root")), .text(try end.text("notification_id"))]
        }
    }
}
