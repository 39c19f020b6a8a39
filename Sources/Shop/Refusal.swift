// SPDX-License-Identifier: Apache-2.0

public import StoreWire

/// A request that the store will not answer as asked: an ordinary answer,
/// thrown. Only the HTTP shell turns its kind into a status.
public struct Refusal: Error, Hashable, Sendable {
    /// What sort of answer it is.
    public enum Kind: String, Sendable, CaseIterable {
        /// The request breaks a rule that it could have kept.
        case badRequest
        /// Nobody known is asking.
        case unauthorised
        /// Somebody known is asking for what is not theirs to do.
        case forbidden
        /// There is no such thing, or not for who asks.
        case notFound
        /// It contradicts what is written already.
        case conflict
        /// More than the store takes at once.
        case tooLarge
        /// Too often in too short a time.
        case tooMany
        /// The store knows of this and does not do it.
        case notImplemented
    }

    public let kind: Kind
    /// Code, sentence, field, rule and remedy.
    public let error: WireError
    /// When asking again makes sense, where that is known.
    public var retryAfterSeconds: Int?

    public init(_ kind: Kind, _ error: WireError) {
        self.kind = kind
        self.error = error
    }

    /// A refusal spelled out at the place that makes it.
    public init(
        _ kind: Kind, code: String, _ message: String, field: String? = nil,
        rule: String? = nil, remedy: String? = nil
    ) {
        self.init(
            kind,
            WireError(code: code, message: message, field: field, rule: rule, remedy: remedy))
    }
}

/// A refusal of the App Store Server API, with the status Apple gives it.
public struct AppleRefusal: Error, Hashable, Sendable {
    /// The HTTP status.
    public let status: Int
    /// The body; nil where Apple sends none (401).
    public let response: AppleErrorResponse?

    public init(_ response: AppleErrorResponse) {
        // The first three of seven digits are the status.
        self.status = response.errorCode / 10_000
        self.response = response
    }

    private init(status: Int) {
        self.status = status
        self.response = nil
    }

    /// The bearer token is missing or wrong: 401 without a body.
    public static let unauthorised = AppleRefusal(status: 401)
}

/// What travels with every call besides its contents.
public struct RequestContext: Hashable, Sendable {
    /// Goes from device to log line; never a secret.
    public let requestID: String
    /// Whose key it came with, for the audit; never a secret.
    public let actor: String
    /// Who asks, as attempts are counted: an address; nil where it is not known.
    public let client: String?

    public init(requestID: String, actor: String = "operator", client: String? = nil) {
        self.requestID = requestID
        self.actor = actor
        self.client = client
    }
}
