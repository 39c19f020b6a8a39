// SPDX-License-Identifier: Apache-2.0

/// One call of the device protocol: what a device sends, however it is carried.
public struct DeviceCall: Hashable, Sendable {
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

/// The store's answer to a ``DeviceCall``.
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
