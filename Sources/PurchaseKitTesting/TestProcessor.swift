// SPDX-License-Identifier: Apache-2.0

public import Shop
import Synchronization

/// A payment processor for tests: it approves, unless it is told otherwise,
/// charges at most once for a key, and keeps a book. A class, because the
/// test and the store share it.
///
/// ```swift
/// let processor = TestProcessor()
/// var options = TestShop.Options()
/// options.processor = processor
/// let shop = try await TestShop(contentsOf: "Shop.storekit", options: options)
/// processor.answer(next: .decline)
/// ```
public final class TestProcessor: Authoriser {
    /// What it does when it is asked to charge.
    public enum Manner: Sendable {
        case approve
        case decline
        /// It charges, and its answer is lost on the way.
        case loseAnswer
        /// It never hears of the charge.
        case loseRequest
    }

    /// What a caller gets where nothing came back: the outcome is unknown.
    public struct NoAnswer: Error {}

    private struct Entry {
        var charge: Charge
        var outcome: ChargeOutcome
        var isCaptured = false
        var isVoided = false
    }

    private struct State {
        var manners: [Manner]
        var entries: [String: Entry] = [:]
        var order: [String] = []
    }

    private let state: Mutex<State>

    /// Takes `manners` one after another, then approves for ever.
    public init(_ manners: [Manner] = []) {
        state = Mutex(State(manners: manners))
    }

    /// What it does next, before anything else that is left.
    public func answer(next manners: Manner...) {
        state.withLock { $0.manners.insert(contentsOf: manners, at: 0) }
    }

    /// Sums that were reserved and not given back, oldest first.
    public var charges: [Charge] {
        entries { $0.outcome != .declined && !$0.isVoided }
    }
    /// Sums that were taken.
    public var captured: [Charge] { entries { $0.isCaptured } }
    /// Sums that were given back.
    public var voided: [Charge] { entries { $0.isVoided } }

    private func entries(_ isWanted: (Entry) -> Bool) -> [Charge] {
        state.withLock { state in
            state.order.compactMap { state.entries[$0] }.filter(isWanted).map(\.charge)
        }
    }

    public func authorise(_ charge: Charge) async throws -> ChargeOutcome {
        try state.withLock { state in
            if let known = state.entries[charge.key] { return known.outcome }
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
        state.withLock { $0.entries[key]?.outcome }
    }

    public func capture(_ key: String) async throws {
        state.withLock { $0.entries[key]?.isCaptured = true }
    }

    public func void(_ key: String) async throws {
        state.withLock { $0.entries[key]?.isVoided = true }
    }
}
