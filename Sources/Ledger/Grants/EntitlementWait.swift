// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// A question "entitled yet?" that waits for a purchase. It is a value and no
/// suspended function, so that a server can wait where that costs the least.
public struct EntitlementWait: Sendable {
    /// The account whose requests wait.
    public let account: String
    private let ticket: LedgerNews.Ticket
    private let news: LedgerNews
    private let read: @Sendable () async throws -> AccountEntitlements
    private let isEnough: @Sendable (AccountEntitlements) -> Bool

    init(
        account: String, news: LedgerNews,
        read: @escaping @Sendable () async throws -> AccountEntitlements,
        isEnough: @escaping @Sendable (AccountEntitlements) -> Bool
    ) {
        self.account = account
        self.news = news
        self.read = read
        self.isEnough = isEnough
        // Before the first read, so that no commit is missed in between.
        ticket = news.ticket(account)
    }

    /// Returns the entitlements if they are what is waited for.
    public func now() async throws -> AccountEntitlements? {
        let answer = try await read()
        return isEnough(answer) ? answer : nil
    }

    /// Returns once they are what is waited for, or when the wait was ended.
    public func untilEnough() async throws {
        while await ticket.wait() {
            if try await now() != nil { return }
        }
    }

    /// Ends the wait, now or as soon as it begins.
    public func end() { ticket.end() }

    /// Returns the entitlements after the wait.
    public func answer() async throws -> AccountEntitlements { try await read() }

    /// Nothing waits any more.
    public func close() { news.giveBack(ticket) }
}

extension Ledger {
    /// The longest that a request waits, in seconds.
    public static let waitSecondsMax = 60

    /// Begins to wait until an account has an entitlement, or has any if `name` is
    /// nil. ``EntitlementWait/close()`` ends it. Refusals: `textInvalid`,
    /// `environmentMissing`, `environmentRefused`.
    public func waitForEntitlement(
        account: String, name: String?, environment: String? = nil
    ) throws(LedgerRefusal) -> EntitlementWait {
        let account = try Edge.account(account)
        let name = try Edge.optional(name, "entitlement")
        _ = try self.environment(environment)
        news.listen(to: storage)
        return EntitlementWait(account: account, news: news) {
            try await entitlements(account: account, environment: environment)
        } isEnough: { answer in
            answer.entitlements.contains { $0.isActive && (name ?? $0.name) == $0.name }
        }
    }
}
