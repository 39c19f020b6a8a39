// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import StoreWire

/// The port to the store: one call for each call of the device protocol.
public protocol StoreTransport: Sendable {
    /// Sends a call and returns the answer with any status.
    func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply

    /// Fetches hosted content from a place on, and hands its bytes to the sink as
    /// they arrive. Returns the HTTP status of the answer; other answers than 200
    /// and 206 hand out nothing. Throws if the answer is not complete, and if the
    /// sink ended it. A transport without it fetches none.
    func fetch(
        _ fetch: ContentFetch, into sink: any ContentSink
    ) async throws(TransportFailure) -> Int
}

/// Why there is no answer.
public enum TransportFailure: Error, Hashable, Sendable {
    /// Nothing reached the store: connection refused, host not found, or TLS
    /// failed.
    case notSent(URLError)
    /// The call may have reached the store.
    case unknown(URLError?)
}
