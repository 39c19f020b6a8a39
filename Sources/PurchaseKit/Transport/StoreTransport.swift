// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import StoreWire

/// The port to the store: one call for each call of the device protocol.
public protocol StoreTransport: Sendable {
    /// Sends a call and returns the answer with any status.
    func send(_ call: DeviceCall) async throws(TransportFailure) -> DeviceReply
}

/// One call to the store.
public struct DeviceCall: Sendable {
    public var route: DeviceRoute
    /// JSON, for the calls that have a body.
    public var body: [UInt8]?
    /// The session's token.
    public var token: String?
    /// Included in every log line that this call causes.
    public var requestID: String
    public var ifNoneMatch: String?

    public init(
        route: DeviceRoute, body: [UInt8]? = nil, token: String? = nil, requestID: String,
        ifNoneMatch: String? = nil
    ) {
        self.route = route
        self.body = body
        self.token = token
        self.requestID = requestID
        self.ifNoneMatch = ifNoneMatch
    }
}

/// The store's answer.
public struct DeviceReply: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    public var body: [UInt8]
    public var etag: String?

    public init(status: Int, body: [UInt8] = [], etag: String? = nil) {
        self.status = status
        self.body = body
        self.etag = etag
    }
}

/// Why there is no answer.
public enum TransportFailure: Error, Hashable, Sendable {
    /// Nothing reached the store: connection refused, host not found, or TLS
    /// failed.
    case notSent(URLError)
    /// The call may have reached the store.
    case unknown(URLError?)
}
