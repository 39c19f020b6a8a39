// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Somebody with a key of their own to the operators' door.
public struct OperatorSummary: Hashable, Sendable, Codable {
    /// As the audit names them.
    public var name: String
    /// Wall time at which the key was made.
    public var createdDate: Timestamp
    /// Wall time at which it was revoked; missing while it opens the door.
    public var revokedDate: Timestamp?

    public init(name: String, createdDate: Timestamp, revokedDate: Timestamp?) {
        self.name = name
        self.createdDate = createdDate
        self.revokedDate = revokedDate
    }
}

/// Everybody who has, or had, a key of their own, oldest first.
public struct OperatorList: Hashable, Sendable, Codable {
    public var operators: [OperatorSummary]

    public init(operators: [OperatorSummary]) {
        self.operators = operators
    }
}

/// Asks for a key of somebody's own.
public struct CreateOperatorRequest: Hashable, Sendable, Codable {
    /// 1 to 100 letters, digits, `-`, `.` and `_`; given once.
    public var name: String

    public init(name: String) {
        self.name = name
    }
}

/// A key just made. It is told this once.
public struct CreatedOperator: Hashable, Sendable, Codable {
    public var name: String
    public var key: String

    public init(name: String, key: String) {
        self.name = name
        self.key = key
    }
}
