// SPDX-License-Identifier: Apache-2.0

import Foundation
import PurchaseKit
import StoreWire
import StrictJSON
import Synchronization

/// What lies between a test's devices and its store, and what goes wrong on
/// it. A class, because the test and the devices share it.
///
/// ```swift
/// shop.wire.fail(.purchase, .answerLost)       // paid, and the app does not know
/// try await device.buy("credits.5")
/// _ = try await device.heard.first(.purchased) // asked again, paid once
/// ```
public final class TestWire: Sendable {
    /// What a device asks of the store.
    public enum Call: Hashable, Sendable, CaseIterable {
        case signIn, products, purchase, transactions, finish, receipt

        init(_ route: DeviceRoute) {
            switch route {
            case .signIn: self = .signIn
            case .products: self = .products
            case .purchase: self = .purchase
            case .transactions: self = .transactions
            case .finish: self = .finish
            case .receipt: self = .receipt
            }
        }
    }

    /// What goes wrong with a call.
    public enum Fault: Hashable, Sendable {
        /// It does not leave the device, and the device knows it.
        case notSent
        /// It is lost on its way; the device cannot know that.
        case requestLost
        /// The store does what it is asked, and its answer is lost.
        case answerLost
        /// The store says that it cannot just now (503).
        case unavailable
    }

    private let state = Mutex<(faults: [Call: [Fault]], counts: [Call: Int])>(([:], [:]))

    init() {}

    /// Lets the next calls of a kind go wrong, behind those that will anyway.
    public func fail(_ call: Call, _ fault: Fault, times: Int = 1) {
        precondition(times > 0, "a fault happens once at least")
        state.withLock {
            $0.faults[call, default: []] += Array(repeating: fault, count: times)
        }
    }

    /// Forgets all faults that have not happened yet.
    public func mend() { state.withLock { $0.faults = [:] } }

    /// How many calls of a kind devices made, those that went wrong too.
    public func count(_ call: Call) -> Int { state.withLock { $0.counts[call] ?? 0 } }

    fileprivate func next(_ call: Call) -> Fault? {
        state.withLock { state in
            state.counts[call, default: 0] += 1
            guard let faults = state.faults[call], !faults.isEmpty else { return nil }
            return state.faults[call]?.removeFirst()
        }
    }
}

/// A transport on which calls go wrong as a ``TestWire`` says.
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
        case .unavailable:
            let error = WireError(
                code: "storageUnavailable", message: "The test says that the store cannot.")
            return DeviceReply(status: 503, body: (try? StrictJSON.encode(error)) ?? [])
        }
    }
}
