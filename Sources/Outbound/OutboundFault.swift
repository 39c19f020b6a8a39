// SPDX-License-Identifier: Apache-2.0

/// A call without a complete answer.
public struct OutboundFault: Error, Sendable, CustomStringConvertible {
    /// An open set, so that codes can be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String
        public init(_ description: String) { self.description = description }

        /// The URL is invalid, or the policy does not allow it.
        public static let urlRefused = Code("urlRefused")
        /// The name has no address that the policy allows.
        public static let addressRefused = Code("addressRefused")
        public static let hostNotFound = Code("hostNotFound")
        public static let notConnected = Code("notConnected")
        /// The TLS handshake failed, or the certificate is not trusted.
        public static let tls = Code("tls")
        public static let timedOut = Code("timedOut")
        /// The connection ended before the answer began.
        public static let noAnswer = Code("noAnswer")
        /// Sending or receiving failed.
        public static let socket = Code("socket")
        /// The answer is not HTTP: its beginning, a chunk of its body, or another protocol
        /// that was not asked for.
        public static let invalidAnswer = Code("invalidAnswer")
        /// The answer ended before its announced length.
        public static let cutShort = Code("cutShort")
        public static let answerTooLarge = Code("answerTooLarge")
        public static let cancelled = Code("cancelled")
        /// The client was closed.
        public static let closed = Code("closed")
        public static let other = Code("other")
    }

    public let code: Code
    /// One sentence, without the URL.
    public let reason: String
    /// The status of the answer, if it arrived before the failure. Nil if the head was
    /// given up because of its length.
    public let status: Int?
    /// Whether the server may have received the request. If false, a retry
    /// cannot repeat anything.
    public let mayHaveBeenSent: Bool

    init(
        _ code: Code, _ reason: String, status: Int? = nil, mayHaveBeenSent: Bool = false
    ) {
        self.code = code
        self.reason = reason
        self.status = status
        self.mayHaveBeenSent = mayHaveBeenSent
    }

    public var description: String { "outbound \(code): \(reason)" }
}

extension OutboundFault: Equatable {
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }
}
