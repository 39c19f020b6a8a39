// SPDX-License-Identifier: Apache-2.0

import Foundation
public import PurchaseKit
public import Shop
public import StoreWire

/// Connects a device to a realm in the same process, with the answers that a
/// server would give.
public struct ShopTransport: StoreTransport {
    private let realm: @Sendable () async throws(TransportFailure) -> Realm
    private let sleep: @Sendable (Duration) async throws -> Void

    /// `realm` is called for each call. `sleep` limits how long a request for
    /// transactions waits.
    public init(
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        realm: @escaping @Sendable () async throws(TransportFailure) -> Realm
    ) {
        self.realm = realm
        self.sleep = sleep
    }

    public func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply {
        let realm = try await realm()
        do {
            return try await realm.devices.answer(
                call, RequestContext(requestID: call.requestID), sleep: sleep)
        } catch is CancellationError {
            throw .unknown(URLError(.cancelled))
        } catch {
            return DeviceRoom.reply(to: error)
        }
    }
}
