// SPDX-License-Identifier: Apache-2.0

/// A request to another server.
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
    /// The time-out for name resolution, connecting and TLS together.
    public var connectTimeoutMilliseconds = 5_000
    /// The time-out for the whole call.
    public var timeoutMilliseconds = 15_000
    /// If set, the call has no time-out as a whole. It ends when it has carried
    /// fewer than 100 bytes a second for so many seconds.
    public var stallSeconds: Int?
    /// Whether a proxy from the environment (`https_proxy`) is used. Only for
    /// HTTPS, where a proxy sees nothing but the server's name.
    public var usesEnvironmentProxy = false
    /// The most bytes in the answer's body. A longer one is a fault.
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

/// The server's answer. A redirect is returned like any other answer and not
/// followed.
/// Takes an answer's body while it arrives, instead of the memory. The functions are
/// called on the client's thread, and delay its other calls. `false` ends the call
/// with the code `cancelled`.
public struct OutboundStream: Sendable {
    /// The statuses whose bodies are streamed. Other bodies are in the response.
    let statuses: Set<Int>
    let begin: @Sendable (_ status: Int, _ headers: [String: String]) -> Bool
    let take: @Sendable (UnsafeRawBufferPointer) -> Bool

    /// `begin` is called before the first byte.
    public init(
        statuses: Set<Int>,
        begin: @escaping @Sendable (_ status: Int, _ headers: [String: String]) -> Bool,
        take: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
    ) {
        self.statuses = statuses
        self.begin = begin
        self.take = take
    }
}

public struct OutboundResponse: Hashable, Sendable {
    public let status: Int
    /// By name in lower case. If a name occurs more than once, the last value
    /// counts.
    public let headers: [String: String]
    public let body: [UInt8]
}
