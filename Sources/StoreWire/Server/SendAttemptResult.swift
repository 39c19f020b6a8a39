// SPDX-License-Identifier: Apache-2.0

/// The result of an attempt to send a notification. An open set, because newer
/// stores may have other results.
/// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/sendattemptresult)
public struct SendAttemptResult: Hashable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: String

    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    public init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(String.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    public var description: String { rawValue }

    /// The server answered with a status from 200 to 206.
    public static let success = SendAttemptResult("SUCCESS")
    /// There was no complete answer in time.
    public static let timedOut = SendAttemptResult("TIMED_OUT")
    /// The TLS handshake failed, or the certificate is not trusted.
    public static let tlsIssue = SendAttemptResult("TLS_ISSUE")
    public static let circularRedirect = SendAttemptResult("CIRCULAR_REDIRECT")
    /// There was no connection, or it ended before the answer began.
    public static let noResponse = SendAttemptResult("NO_RESPONSE")
    /// Sending or receiving failed.
    public static let socketIssue = SendAttemptResult("SOCKET_ISSUE")
    public static let unsupportedCharset = SendAttemptResult("UNSUPPORTED_CHARSET")
    /// The answer is not HTTP.
    public static let invalidResponse = SendAttemptResult("INVALID_RESPONSE")
    /// The answer ended before its announced length.
    public static let prematureClose = SendAttemptResult("PREMATURE_CLOSE")
    /// A status other than 200 to 206.
    public static let unsuccessfulStatus = SendAttemptResult("UNSUCCESSFUL_HTTP_RESPONSE_CODE")
    public static let other = SendAttemptResult("OTHER")

    /// All of them.
    public static let known: Set<SendAttemptResult> = [
        success, timedOut, tlsIssue, circularRedirect, noResponse, socketIssue,
        unsupportedCharset, invalidResponse, prematureClose, unsuccessfulStatus, other,
    ]
}
