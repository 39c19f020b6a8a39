// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
public import StoreWire

/// The names of accounts that were erased.
enum ErasedAccount {
    static let prefix = "erased:"
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
    /// The waiting receipts of a page, which have megabytes each.
    private static let erasedReceiptsPage = 10

    /// Erases an account and those that became part of it. An opaque name takes their
    /// place, so that the books still balance and no unit can be spent again: purchases,
    /// redemptions, grants and credits stay without a person. Purposes, waiting proofs,
    /// shares, and the contents of kept notifications about its purchases are deleted.
    /// A repeat after it is done finds no such account. It is refused while a unit is
    /// reserved, because what it is for may have happened already: its server could not
    /// confirm it any more. Refusals: `textInvalid`, `accountReserved`, `accountUnknown`,
    /// `accountMerged`.
    ///
    /// The notifications come last. News of a purchase is kept behind its account's line, so
    /// what came before the new name is found afterwards, and what comes later is kept
    /// without its contents. If the process ends meanwhile, its worker or another erasure
    /// does the rest.
    public func erase(account: String, requestID: String = "") async throws -> AccountErasure {
        let account = try Edge.account(account)
        let now = ports.wall.now
        try await completeErasures()
        let names = try await rename(account, at: now)
        for (old, _) in names { news.tell(old, storage) }
        ports.log("erased an account", ["requestId": requestID])
        var redacted = 0
        for (_, new) in names { redacted += try await deleteNews(ofErased: new) }
        return AccountErasure(
            erasedDate: now, accounts: names.count, notifications: redacted)
    }

    /// Gives an account and its parts opaque names, in one commit.
    private func rename(
        _ account: String, at now: Timestamp
    ) async throws -> [(old: String, new: String)] {
        while true {
            let parts = try await storage.read { try Merges.parts(of: account, $0) }
            let names = ([account] + parts).map {
                (old: $0, new: ErasedAccount.make(ports.randomness))
            }
            let note = note(.erased, account: names.first?.new)
            let ending = try await storage.writeOrLeave { writing -> Ending<Bool> in
                try Self.lock(names.map(\.old), at: now, writing)
                // Another account may have become part of it before the lines were locked.
                let found = try Merges.parts(of: account, writing)
                guard found.elementsEqual(parts, by: { $0.isSame(as: $1) }) else {
                    return .leave(false)
                }
                try Merges.refuse(account, writing)
                try Self.erase(names, writing)
                try note?.write(writing)
                return .commit(true)
            }
            if ending.answer { return names }
        }
    }

    /// Deletes the contents of notifications that an erasure has left, because its process
    /// ended.
    func completeErasures() async throws {
        let left = try await storage.read { reading in
            try reading.query(PersonalData.erasures, []).map { try $0.text("account") }
        }
        for name in left { _ = try await deleteNews(ofErased: name) }
    }

    /// Returns the number of notifications whose contents it deleted.
    private func deleteNews(ofErased name: String) async throws -> Int {
        let keys = try await storage.read { reading in
            Set(
                try reading.query(PersonalData.purchases, [.text(name)])
                    .map { try PurchaseKey($0) })
        }
        let count = try await redact(about: keys)
        try await deleteReceipts(about: keys)
        try await storage.write { try $0.execute(PersonalData.endErasure, [.text(name)]) }
        return count
    }

    /// Locks the lines of accounts, in this order in every process.
    private static func lock(
        _ accounts: [String], at now: Timestamp, _ writing: any Writing
    ) throws {
        let names = accounts.map { AccountName($0) }
        for name in names.inOrder {
            let line = try writing.first(
                Statement.Accounts.takeKnownLine, [.text(name.value)])
            guard line != nil else { throw accountUnknown }
            try Merges.refuseReserved(name.value, at: now, writing)
        }
    }

    /// Runs in a commit, possibly twice.
    private static func erase(
        _ names: [(old: String, new: String)], _ writing: any Writing
    ) throws {
        var originals: [Original] = []
        for (old, new) in names {
            originals += try Original.move(from: old, to: new, writing)
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
            try writing.execute(PersonalData.beginErasure, [.text(new)])
        }
        try Original.touch(originals, writing)
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

    /// Deletes the receipts of notifications about some purchases that wait for a store. They
    /// have no account.
    private func deleteReceipts(about keys: Set<PurchaseKey>) async throws {
        guard !keys.isEmpty else { return }
        var last = ""
        while true {
            try Task.checkCancellation()
            let values: [SQLValue] = [.text(last), .integer(Int64(Self.erasedReceiptsPage))]
            let rows = try await storage.read { try $0.query(Statement.Waiting.receipts, values) }
            let found = try rows.filter {
                guard let receipt = try? AppReceipt.vouched(try $0.text("proof")) else {
                    return false
                }
                return receipt.isAbout(keys, root: nil)
            }.map { try $0.text("digest") }
            if !found.isEmpty {
                try await storage.write { writing in
                    for digest in found {
                        try writing.execute(Statement.Waiting.remove, [.text(""), .text(digest)])
                    }
                }
            }
            guard rows.count == Self.erasedReceiptsPage, let end = rows.last else { return }
            last = try end.text("digest")
        }
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
                KeptPayload(text: try $0.text("payload")).isAbout(
                    keys, root: try $0.text("root"),
                    isWaiting: try $0.optionalText("environment") == nil)
            }
            if !found.isEmpty { try await visit(found) }
            guard rows.count == Self.erasedPage, let end = rows.last else { return }
            last = [.text(try end.text("root")), .text(try end.text("notification_id"))]
        }
    }
}
