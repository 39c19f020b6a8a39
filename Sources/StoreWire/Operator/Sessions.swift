// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A session of a device, as operators see it. It contains no key. Its dates
/// are wall time.
public struct SessionSummary: Hashable, Sendable, Codable {
    public var sessionId: String
    public var customerId: String
    public var bundleId: String
    public var deviceUUID: String
    public var deviceName: String?
    public var appVersion: String
    /// 0 for a session from before this was recorded.
    public var createdDate: Timestamp
    /// Accurate to an hour.
    public var lastUsedDate: Timestamp
    public var expiresDate: Timestamp
    /// Missing while the session is valid.
    public var endedDate: Timestamp?

    public init(
        sessionId: String, customerId: String, bundleId: String, deviceUUID: String,
        deviceName: String?, appVersion: String, createdDate: Timestamp,
        lastUsedDate: Timestamp, expiresDate: Timestamp, endedDate: Timestamp?
    ) {
        self.sessionId = sessionId
        self.customerId = customerId
        self.bundleId = bundleId
        self.deviceUUID = deviceUUID
        self.deviceName = deviceName
        self.appVersion = appVersion
        self.createdDate = createdDate
        self.lastUsedDate = lastUsedDate
        self.expiresDate = expiresDate
        self.endedDate = endedDate
    }
}

/// A page of sessions.
public struct SessionList: Hashable, Sendable, Codable {
    public var sessions: [SessionSummary]
    /// The `after` of the next request. Missing if there are certainly no more.
    public var next: String?

    public init(sessions: [SessionSummary], next: String? = nil) {
        self.sessions = sessions
        self.next = next
    }
}

/// How many sessions a call has ended.
public struct SessionsEnded: Hashable, Sendable, Codable {
    public var ended: Int

    public init(ended: Int) {
        self.ended = ended
    }
}
