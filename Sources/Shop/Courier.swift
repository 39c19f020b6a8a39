// SPDX-License-Identifier: Apache-2.0

public import StoreWire

/// Carries notifications to merchants' servers: a port. The live one speaks
/// HTTP; a test's keeps what it is given.
public protocol Courier: Sendable {
    /// Posts a JSON body and waits for the answer, within a time-out of its
    /// own. However it ends is a result; nothing is thrown, and nothing is
    /// tried again here.
    func deliver(_ parcel: Parcel) async -> Delivery
}

/// What is to be carried, and where.
public struct Parcel: Hashable, Sendable {
    public let url: String
    /// JSON of a ``ResponseBodyV2``.
    public let body: [UInt8]
    /// The notification's UUID, for log lines on both sides.
    public let id: String
    /// Whether the realm is a production realm: then only HTTPS and public
    /// addresses may be called.
    public let isProduction: Bool

    public init(url: String, body: [UInt8], id: String, isProduction: Bool) {
        self.url = url
        self.body = body
        self.id = id
        self.isProduction = isProduction
    }
}

/// How an attempt ended.
public struct Delivery: Hashable, Sendable {
    public let result: SendAttemptResult
    /// The answer's status, where one came.
    public let status: Int?

    /// No answer, or none that counts.
    public init(_ result: SendAttemptResult, status: Int? = nil) {
        self.result = result
        self.status = status
    }

    /// An answer: delivered with a status from 200 to 206, and with no other.
    public init(status: Int) {
        self.init((200...206).contains(status) ? .success : .unsuccessfulStatus, status: status)
    }
}
