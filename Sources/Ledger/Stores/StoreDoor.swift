// SPDX-License-Identifier: Apache-2.0

/// A call that the ledger makes to another server. Its headers contain tokens, so
/// none of it belongs in a log.
public struct StoreCall: Hashable, Sendable {
    /// Whose server it is, which decides the addresses that may be connected to.
    public enum Receiver: Hashable, Sendable {
        /// A store, at an address that the merchant has configured.
        case store
        /// The merchant's own server.
        case merchant
    }

    public let receiver: Receiver
    public let method: String
    public let url: String
    public let headers: [String: String]
    public let body: [UInt8]
    /// The time-out of the whole call.
    public let timeoutMilliseconds: Int
    /// The most bytes of the answer's body.
    public let answerBytesMax: Int

    init(
        _ receiver: Receiver, _ method: String, _ url: String, headers: [String: String],
        body: [UInt8] = [], timeoutMilliseconds: Int, answerBytesMax: Int
    ) {
        self.receiver = receiver
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeoutMilliseconds = timeoutMilliseconds
        self.answerBytesMax = answerBytesMax
    }
}

/// Another server's answer. A redirect is an answer like any other.
public struct StoreAnswer: Hashable, Sendable {
    public let status: Int
    /// The header `Retry-After`, unread.
    public let retryAfter: String?
    public let body: [UInt8]

    public init(status: Int, retryAfter: String? = nil, body: [UInt8] = []) {
        self.status = status
        self.retryAfter = retryAfter
        self.body = body
    }
}

/// A call ended without a complete answer.
public struct StoreUnreached: Error, Hashable, Sendable {
    /// One sentence, without the URL.
    public let reason: String

    public init(_ reason: String) { self.reason = reason }
}

/// The port through which the ledger calls stores and the merchant's servers. An
/// implementation checks the other server's certificate and keeps the time-out.
public struct StoreDoor: Sendable {
    public let send: @Sendable (StoreCall) async throws(StoreUnreached) -> StoreAnswer
    /// Waits between two attempts. Ends early when its task is cancelled.
    public let sleep: @Sendable (Duration) async throws -> Void

    public init(
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        send: @escaping @Sendable (StoreCall) async throws(StoreUnreached) -> StoreAnswer
    ) {
        self.sleep = sleep
        self.send = send
    }
}
