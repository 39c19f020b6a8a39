// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire
import Synchronization

/// A question "entitled yet?" that waits for a purchase. It is a value and no
/// suspended function, so that a server can wait where that costs the least.
public struct EntitlementWait: Sendable {
    /// What is read while it waits.
    struct State: Sendable {
        let answer: EntitlementsAnswer
        let isEnough: Bool
        /// When the next entitlement begins by its date. Nil if none does.
        let nextStart: Timestamp?
    }

    /// The account whose requests wait.
    public let account: String
    private let ticket: LedgerNews.Ticket
    private let news: LedgerNews
    private let alarm: StartAlarm
    private let read: @Sendable () async throws -> State

    fileprivate init(
        account: String, news: LedgerNews, alarm: StartAlarm,
        read: @escaping @Sendable () async throws -> State
    ) {
        self.account = account
        self.news = news
        self.alarm = alarm
        self.read = read
        // Before the first read, so that no commit is missed in between.
        ticket = news.ticket(account)
    }

    /// Returns the entitlements if they are what is waited for.
    public func now() async throws -> AccountEntitlements? { try await enough()?.entitlements }

    /// The same with the place for a server's text.
    package func enough() async throws -> EntitlementsAnswer? {
        let state = try await read()
        guard !state.isEnough else { return state.answer }
        alarm.set(state.nextStart) { [ticket] in ticket.wake() }
        return nil
    }

    /// Returns once they are what is waited for, or when the wait was ended.
    public func untilEnough() async throws {
        while await ticket.wait() {
            if try await enough() != nil { return }
        }
    }

    /// Ends the wait, now or as soon as it begins.
    public func end() { ticket.end() }

    /// Returns the entitlements after the wait.
    public func answer() async throws -> AccountEntitlements {
        try await lastAnswer().entitlements
    }

    /// The same with the place for a server's text.
    package func lastAnswer() async throws -> EntitlementsAnswer { try await read().answer }

    /// Nothing waits any more.
    public func close() {
        alarm.set(nil) {}
        news.giveBack(ticket)
    }
}

/// Rings when an entitlement begins by its date, which no commit reports. It has a task only
/// while there is such a date. A class, because a wait sets it again after each read.
private final class StartAlarm: Sendable {
    private let wall: WallClock
    private let sleep: (@Sendable (Duration) async throws -> Void)?
    private let ringing = Mutex<Task<Void, Never>?>(nil)

    init(_ ports: LedgerPorts) {
        wall = ports.wall
        sleep = ports.sleep ?? ports.stores?.sleep
    }

    /// Replaces the date at which it rings. Nil if it rings no more.
    func set(_ date: Timestamp?, _ ring: @escaping @Sendable () -> Void) {
        let left = date.map { $0.milliseconds(since: wall.now) }
        let next = left.flatMap { left -> Task<Void, Never>? in
            guard let sleep else { return nil }
            // A date that is far away, also because the wall clock was set back, is looked at
            // again after a while.
            let pause = min(max(left, 1), Int64(Ledger.waitSecondsMax) * 1000)
            return Task {
                guard (try? await sleep(.milliseconds(pause))) != nil, !Task.isCancelled else {
                    return
                }
                ring()
            }
        }
        ringing.withLock { ringing in
            ringing?.cancel()
            ringing = next
        }
    }
}

extension Ledger {
    /// The longest that a request waits, in seconds.
    public static let waitSecondsMax = 60

    /// Begins to wait until an account has an entitlement, or has any if `name` is
    /// nil. ``EntitlementWait/close()`` ends it. An entitlement that begins later by its date
    /// is noticed by ``LedgerPorts/sleep`` or ``LedgerPorts/stores``. Refusals: `textInvalid`,
    /// `environmentMissing`, `environmentRefused`.
    public func waitForEntitlement(
        account: String, name: String?, environment: String? = nil
    ) throws(LedgerRefusal) -> EntitlementWait {
        let account = try Edge.account(account)
        let name = try Edge.optional(name, "entitlement")
        let environment = try self.environment(environment)
        news.listen(to: storage)
        return EntitlementWait(account: account, news: news, alarm: StartAlarm(ports)) {
            let known = try await known(of: account, in: environment)
            let now = ports.wall.now
            let answer = known.answer(at: now)
            let wanted = known.judged(at: now).filter {
                (name ?? $0.timeline.name) == $0.timeline.name
            }
            return EntitlementWait.State(
                answer: answer,
                isEnough: answer.entitlements.entitlements.contains {
                    $0.isActive && (name ?? $0.name) == $0.name
                },
                nextStart: wanted.compactMap(\.nextStart).min())
        }
    }
}
