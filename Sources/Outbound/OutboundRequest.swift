// SPDX-License-Identifier: Apache-2.0

/// A call to somebody else's server.
public struct OutboundRequest: Hashable, Sendable {
    public struct Header: Hashable, Sendable {
        public let name: String
        public let value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public var method: String
    /// `http` or `https`, without a user or a password in it.
    public var url: String
    public var headers: [Header]
    public var body: [UInt8]
    /// For looking the name up, connecting, and TLS.
    public var connectTimeoutMilliseconds = 5_000
    /// For the whole call.
    public var timeoutMilliseconds = 15_000
    /// Whether a proxy that the environment names (`https_proxy`) is used. Only
    /// for HTTPS: of that a proxy sees the server's name and no more.
    public var usesEnvironmentProxy = false
    /// Bytes of the answer's body; more is a fault.
    public var bodyBytesMax = 64 * 1024

    public init(
        _ method: String = "POST", _ url: String, headers: [Header] = [], body: [UInt8] = []
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// What came back. Redirects are answers as any other: nobody follows them.
public struct OutboundResponse: Hashable, Sendable {
    public let status: Int
    /// By name in lower case; the last where a name came more than once.
    public let headers: [String: String]
    public let body: [UInt8]
}
