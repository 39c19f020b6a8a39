// SPDX-License-Identifier: Apache-2.0

public import StoreWire

/// The port that delivers notifications to merchants' servers. The real one
/// uses HTTP, a test's records them.
public protocol Courier: Sendable {
    /// Posts a JSON body and waits for the answer, with a time-out of its own.
    /// Every outcome is a result: nothing is thrown and nothing is retried
    /// here.
    func deliver(_ parcel: Parcel) async -> Delivery
}

/// What to deliver, and where.
public struct Parcel: Hashable, Sendable {
    public let url: String
    /// JSON of a ``ResponseBodyV2``, or of a ``ResponseBodyV1``.
    public let body: [UInt8]
    /// The notification's UUID, for the logs of both sides.
    public let id: String
    /// Whether the realm is a production realm. Then only HTTPS and public
    /// addresses are allowed.
    public let isProduction: Bool

    public init(url: String, body: [UInt8], id: String, isProduction: Bool) {
        self.url = url
        self.body = body
        self.id = id
        self.isProduction = isProduction
    }
}

/// The result of an attempt.
public struct Delivery: Hashable, Sendable {
    public let result: SendAttemptResult
    /// The status of the answer, if there was one.
    public let status: Int?

    /// There was no answer, or none that counts.
    public init(_ result: SendAttemptResult, status: Int? = nil) {
        self.result = result
        self.status = status
    }

    /// There was an answer. Statuses from 200 to 206 mean delivered.
    public init(status: Int) {
        self.init((200...206).contains(status) ? .success : .unsuccessfulStatus, status: status)
    }
}
