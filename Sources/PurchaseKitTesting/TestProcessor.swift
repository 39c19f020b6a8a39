// SPDX-License-Identifier: Apache-2.0

public import Shop
import Synchronization

/// A payment processor for tests. It approves, unless the test sets another
/// answer, charges at most once for a key, and records the charges. A class,
/// because the test and the store share it.
///
/// ```swift
/// let processor = TestProcessor()
/// var options = TestShop.Options()
/// options.processor = processor
/// let shop = try await TestShop(contentsOf: "Shop.storekit", options: options)
/// processor.answer(next: .decline)
/// ```
public final class TestProcessor: Authoriser {
    /// How it reacts to a charge.
    public enum Manner: Sendable {
        case approve
        case decline
        /// It charges, and its answer is lost.
        case loseAnswer
        /// It does not receive the request.
        case loseRequest
    }

    /// The error of a call without an answer. The outcome is unknown.
    public struct NoAnswer: Error {}

    private struct Entry {
        var charge: Charge
        var outcome: ChargeOutcome
        var isCaptured = false
    }

    private struct State {
        var manners: [Manner]
        var entries: [String: Entry] = [:]
        var order: [String] = []
        /// Also keys that were never charged.
        var voided: Set<String> = []
        /// The refunds that were made, by key and name.
        var refunds: [RefundCharge] = []
        /// Also refunds that were never made.
        var takenBack: Set<String> = []

        /// A voided key stays voided.
        func outcome(of key: String) -> ChargeOutcome? {
            voided.contains(key) ? .declined : entries[key]?.outcome
        }
    }

    private let state: Mutex<State>

    /// Uses `manners` one after another, then always approves.
    public init(_ manners: [Manner] = []) {
        state = Mutex(State(manners: manners))
    }

    /// Sets the next reactions, before those that are left.
    public func answer(next manners: Manner...) {
        state.withLock { $0.manners.insert(contentsOf: manners, at: 0) }
    }

    /// The reserved sums that were not given back, oldest first.
    public var charges: [Charge] {
        entries { $1.outcome != .declined && !$0.voided.contains($1.charge.key) }
    }
    /// The sums that were captured.
    public var captured: [Charge] { entries { $1.isCaptured } }
    /// The sums that were given back.
    public var voided: [Charge] { entries { $0.voided.contains($1.charge.key) } }

    /// The sums that were given back after their capture, and not taken back.
    public var refunds: [RefundCharge] {
        state.withLock { state in
            state.refunds.filter { !state.takenBack.contains($0.name) }
        }
    }

    private func entries(_ isWanted: (State, Entry) -> Bool) -> [Charge] {
        state.withLock { state in
            state.order.compactMap { state.entries[$0] }.filter { isWanted(state, $0) }
                .map(\.charge)
        }
    }

    public func authorise(_ charge: Charge) async throws -> ChargeOutcome {
        try state.withLock { state in
            if let known = state.outcome(of: charge.key) { return known }
            let manner = state.manners.isEmpty ? .approve : state.manners.removeFirst()
            if manner == .loseRequest { throw NoAnswer() }
            let outcome =
                manner == .decline
                ? ChargeOutcome.declined : .approved(reference: "test-\(state.order.count + 1)")
            state.entries[charge.key] = Entry(charge: charge, outcome: outcome)
            state.order.append(charge.key)
            if manner == .loseAnswer { throw NoAnswer() }
            return outcome
        }
    }

    public func outcome(of key: String) async throws -> ChargeOutcome? {
        state.withLock { $0.outcome(of: key) }
    }

    public func capture(_ key: String) async throws {
        state.withLock { $0.entries[key]?.isCaptured = true }
    }

    public func void(_ key: String) async throws {
        state.withLock { _ = $0.voided.insert(key) }
    }

    public func refund(_ refund: RefundCharge) async throws {
        state.withLock { state in
            guard !state.refunds.contains(where: { $0.name == refund.name }) else { return }
            state.refunds.append(refund)
        }
    }

    public func takeBack(_ refund: RefundCharge) async throws {
        state.withLock { _ = $0.takenBack.insert(refund.name) }
    }
}

extension RefundCharge {
    fileprivate var name: String { "\(key) \(refund)" }
}
