// SPDX-License-Identifier: Apache-2.0

import Commerce
import Synchronization

@testable import Shop

/// A payment processor that does what a test wrote down for it, and keeps
/// an honest book of what it charged.
final class ScriptedProcessor: Authoriser {
    enum Act: Sendable {
        case approve
        case decline
        /// Charges, and the answer is lost on the way.
        case chargeAndLoseAnswer
        /// The request never arrives.
        case loseRequest
    }

    struct Lost: Error {}

    struct Book: Sendable {
        var acts: [Act]
        var voidFailures = 0
        var asksFail = false
        var calls: [String] = []
        /// The keys that were charged or declined, in order.
        var keys: [String] = []
        var outcomes: [String: ChargeOutcome] = [:]
        var reserved: [String: Money] = [:]
        var voided: Set<String> = []
        var captureFailures = 0
        var captured: Set<String> = []
        var refundFailures = 0
        var refunds: [String: RefundCharge] = [:]
        var takenBack: Set<String> = []
    }

    private let book: Mutex<Book>
    /// Called in the middle of an authorisation, while no transaction is open.
    private let whileAuthorising: Mutex<@Sendable () async throws -> Void>

    init(
        _ acts: [Act], voidFailures: Int = 0,
        whileAuthorising: @escaping @Sendable () async throws -> Void = {}
    ) {
        book = Mutex(Book(acts: acts, voidFailures: voidFailures))
        self.whileAuthorising = Mutex(whileAuthorising)
    }

    var calls: [String] { book.withLock { $0.calls } }
    var keys: [String] { book.withLock { $0.keys } }
    /// Sums that are reserved and not given back.
    var charged: [Money] {
        book.withLock { book in
            book.reserved.filter { !book.voided.contains($0.key) }.map(\.value)
        }
    }

    func whenAuthorising(_ body: @escaping @Sendable () async throws -> Void) {
        whileAuthorising.withLock { $0 = body }
    }

    func make(asksFail: Bool) { book.withLock { $0.asksFail = asksFail } }

    func authorise(_ charge: Charge) async throws -> ChargeOutcome {
        let interrupt = whileAuthorising.withLock { $0 }
        try await interrupt()
        return try book.withLock { book in
            book.calls.append("authorise")
            if let known = book.outcomes[charge.key] { return known }
            let act = book.acts.isEmpty ? .approve : book.acts.removeFirst()
            switch act {
            case .loseRequest: throw Lost()
            case .decline:
                book.keys.append(charge.key)
                book.outcomes[charge.key] = .declined
                return .declined
            case .approve, .chargeAndLoseAnswer:
                let approved = ChargeOutcome.approved(reference: "ref-\(book.calls.count)")
                book.keys.append(charge.key)
                book.outcomes[charge.key] = approved
                book.reserved[charge.key] = charge.total
                if act == .chargeAndLoseAnswer { throw Lost() }
                return approved
            }
        }
    }

    func outcome(of key: String) async throws -> ChargeOutcome? {
        try book.withLock { book in
            book.calls.append("outcome")
            if book.asksFail { throw Lost() }
            return book.outcomes[key]
        }
    }

    /// Sums that were taken.
    var captured: [Money] {
        book.withLock { book in
            book.reserved.filter { book.captured.contains($0.key) }.map(\.value)
        }
    }

    func make(captureFailures: Int) { book.withLock { $0.captureFailures = captureFailures } }

    func capture(_ key: String) async throws {
        try book.withLock { book in
            book.calls.append("capture")
            if book.captureFailures > 0 {
                book.captureFailures -= 1
                throw Lost()
            }
            book.captured.insert(key)
        }
    }

    /// The charges of which something was given back.
    var refundedKeys: [String] { book.withLock { $0.refunds.values.map(\.key) } }
    /// Sums that were given back after their capture, and not taken back.
    var refunded: [Money] {
        book.withLock { book in
            book.refunds.filter { !book.takenBack.contains($0.key) }.map(\.value.total)
        }
    }

    func make(refundFailures: Int) { book.withLock { $0.refundFailures = refundFailures } }

    func refund(_ refund: RefundCharge) async throws {
        try book.withLock { book in
            book.calls.append("refund")
            let name = "\(refund.key) \(refund.refund)"
            guard book.captured.contains(refund.key) else { throw Lost() }
            if book.refunds[name] == nil { book.refunds[name] = refund }
            if book.refundFailures > 0 {
                book.refundFailures -= 1
                throw Lost()
            }
        }
    }

    func takeBack(_ refund: RefundCharge) async throws {
        book.withLock { book in
            book.calls.append("takeBack")
            book.takenBack.insert("\(refund.key) \(refund.refund)")
        }
    }

    func void(_ key: String) async throws {
        try book.withLock { book in
            book.calls.append("void")
            if book.voidFailures > 0 {
                book.voidFailures -= 1
                throw Lost()
            }
            book.voided.insert(key)
        }
    }
}
