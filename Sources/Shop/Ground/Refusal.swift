// SPDX-License-Identifier: Apache-2.0

public import Commerce
public import StoreWire

/// An ordinary negative answer of the store, which is thrown. Only the HTTP
/// shell converts its kind to a status.
public struct Refusal: Error, Hashable, Sendable {
    /// The kind of refusal.
    public enum Kind: String, Sendable, CaseIterable {
        /// The request breaks a rule.
        case badRequest
        /// The caller is not authenticated.
        case unauthorised
        /// The caller is authenticated but not allowed to do this.
        case forbidden
        /// It does not exist, or the caller may not know about it.
        case notFound
        /// It contradicts what is recorded already.
        case conflict
        /// The request is larger than the store accepts.
        case tooLarge
        /// Too many requests in too short a time.
        case tooMany
        /// The store knows this request but does not support it.
        case notImplemented
        /// The store cannot do it at present, for a reason that the operator can end.
        case unavailable
    }

    public let kind: Kind
    /// Code, sentence, field, rule and remedy.
    public let error: WireError
    /// When a retry makes sense, if that is known.
    public var retryAfterSeconds: Int?

    public init(_ kind: Kind, _ error: WireError) {
        self.kind = kind
        self.error = error
    }

    /// Makes a refusal from its parts.
    public init(
        _ kind: Kind, code: String, _ message: String, field: String? = nil,
        rule: String? = nil, remedy: String? = nil
    ) {
        self.init(
            kind,
            WireError(code: code, message: message, field: field, rule: rule, remedy: remedy))
    }
}

/// A refusal of the App Store Server API, with Apple's status.
public struct AppleRefusal: Error, Hashable, Sendable {
    /// The HTTP status.
    public let status: Int
    /// The body. Nil if Apple sends none (401).
    public let response: AppleErrorResponse?
    /// When the next request is allowed.
    public let retryAfter: Timestamp?
    /// Why a token was refused, as one sentence without a full stop, for people.
    /// Nil without a token, and for a refusal with a body. Two refusals are equal
    /// whatever it is.
    public let reason: String?

    public init(_ response: AppleErrorResponse, retryAfter: Timestamp? = nil) {
        // The first three of seven digits are the status.
        self.status = response.errorCode / 10_000
        self.response = response
        self.retryAfter = retryAfter
        self.reason = nil
    }

    private init(status: Int, reason: String?) {
        self.status = status
        self.response = nil
        self.retryAfter = nil
        self.reason = reason
    }

    /// The bearer token is missing or wrong: 401 without a body.
    public static let unauthorised: AppleRefusal = AppleRefusal(status: 401, reason: nil)

    /// The same with the reason.
    static func unauthorised(_ reason: String?) -> AppleRefusal {
        AppleRefusal(status: 401, reason: reason)
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.status == right.status && left.response == right.response
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(status)
        hasher.combine(response)
    }
}

/// Facts about a call in addition to its contents.
public struct RequestContext: Hashable, Sendable {
    /// The request id that is in the logs of device and store. Never a secret.
    public let requestID: String
    /// The name of the key that was used, for the audit. Never a secret.
    public let actor: String
    /// The client for counting attempts: an address. Nil if unknown.
    public let client: String?

    public init(requestID: String, actor: String = "operator", client: String? = nil) {
        self.requestID = requestID
        self.actor = actor
        self.client = client
    }
}
