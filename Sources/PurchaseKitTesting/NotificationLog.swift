// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
public import Shop
import SignedData
public import StoreWire
import Synchronization

/// The notifications that a store sends to a merchant's server, received in the
/// test's own process without sockets. Every signature is verified against the
/// store's root before the test sees the contents.
///
/// ```swift
/// try await device.buy("credits.5")
/// let told = try await shop.notifications.first("ONE_TIME_CHARGE")
/// #expect(told.transaction?.productId == "credits.5")
/// ```
public final class NotificationLog: Sendable {
    /// One attempt to send a notification.
    public struct Entry: Hashable, Sendable {
        public let notification: ResponseBodyV2DecodedPayload
        /// The transaction of the notification, or nil.
        public let transaction: JWSTransactionDecodedPayload?
        /// The payload as a merchant's server receives it.
        public let signedPayload: String
        /// The status that the server answered.
        public let status: Int
    }

    /// Answers an attempt with a status. 200 to 206 means delivered.
    public typealias Answer = @Sendable (Parcel) -> Int

    private struct Waiter {
        let isEnough: ([Entry]) -> Bool
        let wake: AsyncStream<Void>.Continuation
    }

    private struct State {
        var entries: [Entry] = []
        var answer: Answer = { _ in 200 }
        var waiters: [Int: Waiter] = [:]
        var waiterCount = 0
        var verifier: JWSVerifier?
    }

    private let state = Mutex(State())

    init() {}

    /// Every attempt so far, oldest first.
    public var entries: [Entry] { state.withLock { $0.entries } }

    /// Sets how the merchant's server answers from now on.
    public func answer(_ answer: @escaping Answer) {
        state.withLock { $0.answer = answer }
    }

    /// Waits for the first notification of a type. Throws `CancellationError`
    /// if the task is cancelled before.
    public func first(_ type: String) async throws -> Entry {
        try await all(type, count: 1)[0]
    }

    /// Waits for the first `count` attempts of a type.
    public func all(_ type: String, count: Int) async throws -> [Entry] {
        try await until { entries in
            entries.count { $0.notification.notificationType == type } >= count
        }
        return Array(
            entries.filter { $0.notification.notificationType == type }.prefix(count))
    }

    func trust(root: [UInt8]) {
        state.withLock { $0.verifier = JWSVerifier(roots: [root]) }
    }

    private func until(_ isEnough: @escaping @Sendable ([Entry]) -> Bool) async throws {
        let (stream, wake) = AsyncStream.makeStream(of: Void.self)
        let number = state.withLock { state -> Int? in
            if isEnough(state.entries) { return nil }
            state.waiterCount += 1
            state.waiters[state.waiterCount] = Waiter(isEnough: isEnough, wake: wake)
            return state.waiterCount
        }
        guard let number else { return }
        for await _ in stream { break }
        _ = state.withLock { $0.waiters.removeValue(forKey: number) }
        try Task.checkCancellation()
    }
}

extension NotificationLog: Courier {
    public func deliver(_ parcel: Parcel) async -> Delivery {
        let (verifier, answer) = state.withLock { ($0.verifier, $0.answer) }
        let status = answer(parcel)
        do {
            guard let verifier else { return Delivery(.other) }
            let entry = try Entry(parcel, status: status, by: verifier)
            let woken = state.withLock { state in
                state.entries.append(entry)
                return state.waiters.values.filter { $0.isEnough(state.entries) }
            }
            for waiter in woken { waiter.wake.yield() }
            return Delivery(status: status)
        } catch {
            // Everything that the store signs must satisfy its own verifier.
            return Delivery(.invalidResponse)
        }
    }
}

extension NotificationLog.Entry {
    fileprivate init(_ parcel: Parcel, status: Int, by verifier: JWSVerifier) throws {
        let body = try JSONDecoder().decode(ResponseBodyV2.self, from: Data(parcel.body))
        let outer = try verifier.verify(
            body.signedPayload, as: ResponseBodyV2DecodedPayload.self, signedDate: \.signedDate,
            now: nil)
        let inner = try outer.payload.data?.signedTransactionInfo.map {
            try verifier.verify(
                $0, as: JWSTransactionDecodedPayload.self, signedDate: \.signedDate, now: nil)
        }
        self.init(
            notification: outer.payload, transaction: inner?.payload,
            signedPayload: body.signedPayload, status: status)
    }
}
