// SPDX-License-Identifier: Apache-2.0

import Foundation
import Live
public import PurchaseKit
import StoreWire
import StrictJSON
import Synchronization

/// The connection between a test's devices and its store, with its faults. A
/// class, because the test and the devices share it.
///
/// ```swift
/// shop.wire.fail(.purchase, .answerLost)       // paid, and the app does not know
/// try await device.buy("credits.5")
/// _ = try await device.heard.first(.purchased) // asked again, paid once
/// ```
public final class TestWire: Sendable {
    /// A call of a device to the store.
    public enum Call: Hashable, Sendable, CaseIterable {
        case signIn, products, offer, purchase, transactions, finish, requestRefund, receipt
        case priceIncreases, consent, content, promotionOverrides, orderPromotions, showPromotion
        case reviewRequest, review, claimIntents, decideIntent
        /// A transfer of hosted content.
        case contentBytes

        init(_ route: DeviceRoute) {
            switch route {
            case .signIn: self = .signIn
            case .products: self = .products
            case .offer: self = .offer
            case .purchase: self = .purchase
            case .transactions: self = .transactions
            case .finish: self = .finish
            case .requestRefund: self = .requestRefund
            case .receipt: self = .receipt
            case .priceIncreases: self = .priceIncreases
            case .consent: self = .consent
            case .content: self = .content
            case .promotionOverrides: self = .promotionOverrides
            case .orderPromotions: self = .orderPromotions
            case .showPromotion: self = .showPromotion
            case .reviewRequest: self = .reviewRequest
            case .review: self = .review
            case .claimIntents: self = .claimIntents
            case .decideIntent: self = .decideIntent
            }
        }
    }

    /// A fault of a call.
    public enum Fault: Hashable, Sendable {
        /// The call does not leave the device, and the device knows it.
        case notSent
        /// The call is lost on its way. The device cannot know that.
        case requestLost
        /// The store executes the call, but its answer is lost.
        case answerLost
        /// The store answers that it is unavailable (503).
        case unavailable
        /// The call arrives, and its answer comes only after so many milliseconds.
        case late(milliseconds: Int)
        /// The call arrives twice, as after a repeat by a proxy. The device gets
        /// the second answer.
        case doubled
        /// The answer is cut off in its middle.
        case cutOff
        /// The answer comes in slow drops, and has not ended when the request's time is
        /// over, after so many milliseconds.
        case trickle(milliseconds: Int)
        /// Something else answers, with text that is no answer of a store.
        case garbage
    }

    private let state = Mutex<(faults: [Call: [Fault]], counts: [Call: Int])>(([:], [:]))

    init() {}

    /// Adds faults for the next calls of a kind, after those that are left.
    public func fail(_ call: Call, _ fault: Fault, times: Int = 1) {
        precondition(times > 0, "a fault happens once at least")
        state.withLock {
            $0.faults[call, default: []] += Array(repeating: fault, count: times)
        }
    }

    /// Removes all faults that have not happened yet.
    public func mend() { state.withLock { $0.faults = [:] } }

    /// Returns a transport with this wire's faults over another one, for devices that
    /// ask a store over HTTP.
    public func transport(over base: any StoreTransport) -> any StoreTransport {
        FaultyTransport(base: base, wire: self)
    }

    /// Returns how many calls of a kind the devices have made, including failed
    /// ones.
    public func count(_ call: Call) -> Int { state.withLock { $0.counts[call] ?? 0 } }

    fileprivate func next(_ call: Call) -> Fault? {
        state.withLock { state in
            state.counts[call, default: 0] += 1
            guard let faults = state.faults[call], !faults.isEmpty else { return nil }
            return state.faults[call]?.removeFirst()
        }
    }
}

/// A transport with the faults of a ``TestWire``.
struct FaultyTransport: StoreTransport {
    let base: any StoreTransport
    let wire: TestWire

    func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply {
        switch wire.next(TestWire.Call(call.route)) {
        case nil: return try await base.send(call)
        case .notSent: throw .notSent(URLError(.cannotConnectToHost))
        case .requestLost: throw .unknown(URLError(.networkConnectionLost))
        case .answerLost:
            _ = try await base.send(call)
            throw .unknown(URLError(.networkConnectionLost))
        case .late(let milliseconds):
            let reply = try await base.send(call)
            try await pause(milliseconds)
            return reply
        case .trickle(let milliseconds):
            _ = try await base.send(call)
            try await pause(milliseconds)
            throw .unknown(URLError(.timedOut))
        case .doubled:
            _ = try await base.send(call)
            return try await base.send(call)
        case .cutOff:
            var reply = try await base.send(call)
            reply.body = Array(reply.body.prefix(reply.body.count / 2))
            return reply
        case .garbage:
            return DeviceReply(status: 200, body: Array("<html>It works!</html>".utf8))
        case .unavailable:
            let error = WireError(
                code: "storageUnavailable", message: "The test says that the store cannot.")
            return DeviceReply(status: 503, body: (try? StrictJSON.encode(error)) ?? [])
        }
    }

    func fetch(
        _ fetch: ContentFetch, into sink: any ContentSink
    ) async throws(TransportFailure) -> Int {
        switch wire.next(.contentBytes) {
        case nil, .doubled: return try await base.fetch(fetch, into: sink)
        case .notSent: throw .notSent(URLError(.cannotConnectToHost))
        case .requestLost, .answerLost: throw .unknown(URLError(.networkConnectionLost))
        case .late(let milliseconds):
            try await pause(milliseconds)
            return try await base.fetch(fetch, into: sink)
        case .cutOff: return try await base.fetch(fetch, into: HalfSink(sink))
        case .trickle(let milliseconds):
            do throws(TransportFailure) {
                return try await base.fetch(fetch, into: HalfSink(sink))
            } catch {
                try await pause(milliseconds)
                throw .unknown(URLError(.timedOut))
            }
        case .garbage:
            let text = Array("<html>It works!</html>".utf8)
            if sink.begin(at: 0) { _ = text.withUnsafeBytes { sink.take($0) } }
            return 200
        case .unavailable: return 503
        }
    }

    private func pause(_ milliseconds: Int) async throws(TransportFailure) {
        do { try await Live.sleep(.milliseconds(milliseconds)) } catch {
            throw .unknown(URLError(.cancelled))
        }
    }
}

/// Takes half of the first bytes, and then ends the transfer.
private final class HalfSink: ContentSink {
    private let base: any ContentSink

    init(_ base: any ContentSink) { self.base = base }

    func begin(at offset: Int64) -> Bool { base.begin(at: offset) }

    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        _ = base.take(UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]))
        return false
    }
}
