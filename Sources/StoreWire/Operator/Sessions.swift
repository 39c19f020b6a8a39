// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A device signed in, as operators see it: nothing in it opens a door. Its
/// dates are wall time.
public struct SessionSummary: Hashable, Sendable, Codable {
    public var sessionId: String
    public var customerId: String
    public var bundleId: String
    public var deviceUUID: String
    public var deviceName: String?
    public var appVersion: String
    /// 0 for a session made before this was written down.
    public var createdDate: Timestamp
    /// To within an hour.
    public var lastUsedDate: Timestamp
    public var expiresDate: Timestamp
    /// Missing while the session is good.
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
    /// Where the next page starts, when there may be one.
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
