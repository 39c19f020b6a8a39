// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

extension Ledger {
    /// The most purchases of an account that are compared.
    static let reconciledMax = 1000
    /// The most pages of one customer's history.
    static let historyPagesMax = 100

    /// Reads the histories of an account's purchases from the store again, and reports
    /// what the books have differently. With `fix`, books what the store has signed.
    /// Without an account, does so for the first account after `after`. Then a history that
    /// several accounts have purchases of is counted and reported once: a purchase with its
    /// account, and what is in no account with the first of them.
    ///
    /// A transaction that is not in the books is assigned to its app account token or,
    /// if everything else in the same history belongs to the account, to the account. One
    /// that was erased gets no new purchases, and what it has is corrected as by news.
    /// Refusals: `textInvalid`, `storeUnconfigured`, `storeUnanswered`.
    public func reconcile(_ request: ReconcileRequest) async throws -> ReconcileReport {
        guard let client, !client.places.isEmpty else { throw Self.storeUnconfigured }
        let account: String
        if let named = request.account {
            account = try Edge.account(named)
        } else {
            // The `next` of an earlier report: an account, which may be an erased one.
            let start = request.after.flatMap { $0.isEmpty ? nil : $0 }
            let after = try Edge.optional(start, "after") ?? ""
            let row = try await storage.read {
                try $0.first(Statement.Accounts.next, [.text(after)])
            }
            guard let row else {
                return ReconcileReport(account: nil, checked: 0, differences: [], next: nil)
            }
            account = try row.text("account")
        }
        var comparison = AccountComparison(
            account: account, fixes: request.fix ?? false, isOneOfAll: request.account == nil)
        do { try await compare(&comparison, client) } catch let trouble as StoreTrouble {
            throw LedgerRefusal(
                .unavailable, code: "storeUnanswered",
                "The account could not be compared: \(trouble.reason).", field: "account",
                rule: "the store answers", remedy: "ask again later; nothing is half done")
        }
        return ReconcileReport(
            account: account, checked: comparison.count,
            differences: comparison.differences,
            next: request.account == nil ? account : nil)
    }

    /// What is found for an account so far.
    private struct AccountComparison {
        let account: String
        let fixes: Bool
        /// Whether every other account is compared too.
        let isOneOfAll: Bool
        /// Two customers' histories may have the same transaction.
        var checked: Set<PurchaseKey> = []
        /// The number of those that are reported with this account.
        var count = 0
        var differences: [LedgerDifference] = []
    }

    private func compare(
        _ comparison: inout AccountComparison, _ client: StoreClient
    ) async throws {
        let booked = try await reconciled(comparison.account)
        for place in client.places {
            // In the order of the books, so that a repetition does the same.
            var pending = booked.map(\.key).filter {
                $0.root == place.root && $0.environment == place.environment
                    && $0.bundleID.isSame(as: place.bundleID.value)
            }
            while let key = pending.first {
                let listed = try await history(of: key, client, place)
                try await compare(listed, &comparison)
                // One history has all transactions of a store's customer.
                let found = Set(listed.map(\.key))
                if !found.contains(key) {
                    comparison.differences.append(Difference.notInStore.wire(key))
                }
                pending.removeAll { $0 == key || found.contains($0) }
            }
        }
    }

    /// Returns the purchases of an account that are compared.
    private func reconciled(_ account: String) async throws -> [BookedPurchase] {
        let values: [SQLValue] = [
            .text(account), .integer(Int64(Self.reconciledMax)),
            .integer(ports.wall.now.milliseconds),
        ]
        return try await storage.read {
            try $0.query(Statement.Booked.ofAccount, values).map { try BookedPurchase($0) }
        }
    }

    /// Returns the accounts, beside one, that have purchases in a history and are compared
    /// by some of them.
    private func others(
        than account: AccountName, in listed: [ProvenPurchase], of owners: Set<AccountName>
    ) async throws -> Set<AccountName> {
        let keys = Set(listed.map(\.key))
        var others: Set<AccountName> = []
        for owner in owners where owner != account {
            let compared = try await reconciled(owner.value)
            if compared.contains(where: { keys.contains($0.key) }) { others.insert(owner) }
        }
        return others
    }

    /// Returns what the store lists for the customer of a transaction. Each
    /// transaction once, as it was signed last.
    private func history(
        of key: PurchaseKey, _ client: StoreClient, _ place: StoreClient.Place
    ) async throws -> [ProvenPurchase] {
        var found: [PurchaseKey: ProvenPurchase] = [:]
        var order: [PurchaseKey] = []
        var revision: String?
        for _ in 0..<Self.historyPagesMax {
            let query = revision.map { "?revision=\(Self.percentEncoded($0))" } ?? ""
            let page: HistoryResponse
            do {
                page = try await client.ask(
                    place, "GET", "/inApps/v2/history/\(key.transactionID)\(query)",
                    rule: .patient)
            } catch let rejection as StoreClient.Rejection {
                guard rejection.isUnknown else {
                    throw StoreTrouble(
                        .unreachable, "the store answered with \(rejection.status)")
                }
                return []
            }
            for signed in page.signedTransactions {
                let proven = try prover.purchase(signed, wall: ports.wall.now)
                guard proven.key.environment == place.environment,
                    proven.key.bundleID.isSame(as: place.bundleID.value)
                else { continue }
                if found[proven.key] == nil { order.append(proven.key) }
                found[proven.key] = proven
            }
            guard page.hasMore, page.revision != revision else { break }
            revision = page.revision
        }
        return order.compactMap { found[$0] }
    }

    private func compare(
        _ listed: [ProvenPurchase], _ comparison: inout AccountComparison
    ) async throws {
        let now = ports.wall.now
        let found = try await storage.read { reading in
            try listed.map { proven -> (BookedPurchase?, Bool) in
                let booked = try Booking.find(proven.key, reading, at: now)
                return (booked, try booked?.isKept(from: proven, reading) ?? false)
            }
        }
        let account = AccountName(comparison.account)
        let owners = Set(found.compactMap { $0.0?.name })
        let isOwn = owners.isSubset(of: [account])
        var others: Set<AccountName>?
        for (proven, (booked, isKept)) in zip(listed, found) {
            guard comparison.checked.insert(proven.key).inserted else { continue }
            if comparison.isOneOfAll, booked?.name != account {
                // Read only if not everything is this account's.
                if others == nil {
                    others = try await self.others(than: account, in: listed, of: owners)
                }
                let all = (others ?? []).union([account])
                let reporter = booked?.name.flatMap { all.contains($0) ? $0 : nil }
                guard reporter ?? all.inOrder.first == account else { continue }
            }
            comparison.count += 1
            guard let difference = Difference.between(booked, proven, isKept: isKept) else {
                continue
            }
            guard comparison.fixes, difference.isFixable else {
                comparison.differences.append(difference.wire(proven.key))
                continue
            }
            // An erased account gets nothing new: it is booked as by news.
            let isOpen = !ErasedAccount.isOne(comparison.account)
            let owner = booked == nil && isOwn && isOpen ? comparison.account : nil
            do {
                _ = try await book(proven, by: .news(proven, orElse: owner))
                comparison.differences.append(difference.wire(proven.key, isFixed: true))
            } catch let refusal as LedgerRefusal {
                comparison.differences.append(
                    difference.wire(proven.key, refusal: refusal.error.code))
            }
        }
    }
}
