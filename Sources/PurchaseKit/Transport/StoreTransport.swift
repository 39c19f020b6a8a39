// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import StoreWire

/// The port to the store: one call for each call of the device protocol.
public protocol StoreTransport: Sendable {
    /// Sends a call and returns the answer with any status.
    func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply
}

/// Why there is no answer.
public enum TransportFailure: Error, Hashable, Sendable {
    /// Nothing reached the store: connection refused, host not found, or TLS
    /// failed.
    case notSent(URLError)
    /// The call may have reached the store.
    case unknown(URLError?)
}
