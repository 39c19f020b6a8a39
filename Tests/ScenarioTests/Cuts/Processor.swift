// SPDX-License-Identifier: Apache-2.0

import Shop
import Synchronization

/// A payment processor that approves everything and keeps an honest book of
/// what it charged. A class, because it outlives the stores that ask it.
final class Processor: Sendable {
    private struct Charged {
        var key: String
        var isVoided = false
        var isCaptured = false
    }

    private let book = Mutex<[Charged]>([])
    /// Whether it charges anew whenever it is asked: no processor to sell with.
    private let forgetsKeys: Bool

    init(forgetsKeys: Bool) {
        self.forgetsKeys = forgetsKeys
    }

    /// Charges that were not given back.
    var charges: Int { book.withLock { $0.count { !$0.isVoided } } }

    func authorise(_ key: String) -> ChargeOutcome {
        book.withLock { book in
            if forgetsKeys || !book.contains(where: { $0.key == key }) {
                book.append(Charged(key: key))
            }
        }
        return .approved(reference: "ref-\(key)")
    }

    func outcome(of key: String) -> ChargeOutcome? {
        let isKnown = book.withLock { $0.contains { $0.key == key } }
        return isKnown && !forgetsKeys ? .approved(reference: "ref-\(key)") : nil
    }

    /// Charges that were taken.
    var captures: Int { book.withLock { $0.count { $0.isCaptured } } }

    func capture(_ key: String) {
        book.withLock { book in
            for index in book.indices where book[index].key == key {
                book[index].isCaptured = true
            }
        }
    }

    func void(_ key: String) {
        book.withLock { book in
            for index in book.indices where book[index].key == key { book[index].isVoided = true }
        }
    }
}

/// The way to the processor. A cut here loses the question, or its answer
/// after the deed.
struct CutProcessor: Authoriser {
    struct Lost: Error {}

    let processor: Processor
    let life: Life
    let tape: Tape

    func authorise(_ charge: Charge) async throws -> ChargeOutcome {
        try step("processor.authorise") { processor.authorise(charge.key) }
    }

    func outcome(of key: String) async throws -> ChargeOutcome? {
        try step("processor.outcome") { processor.outcome(of: key) }
    }

    func capture(_ key: String) async throws {
        try step("processor.capture") { processor.capture(key) }
    }

    func void(_ key: String) async throws {
        try step("processor.void") { processor.void(key) }
    }

    /// No story of these refunds anything.
    func refund(_ refund: RefundCharge) async throws { throw Lost() }

    func takeBack(_ refund: RefundCharge) async throws { throw Lost() }

    private func step<Answer>(_ name: String, _ body: () -> Answer) throws -> Answer {
        guard life.isAlive else { throw Life.Ended() }
        let side = tape.enter(name)
        if side == .before { throw Lost() }
        let answer = body()
        if side == .after { throw Lost() }
        return answer
    }
}
