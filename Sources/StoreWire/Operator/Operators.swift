// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// An operator with a personal key to the operators' door.
public struct OperatorSummary: Hashable, Sendable, Codable {
    /// The name in the audit.
    public var name: String
    /// The wall time of the key's creation.
    public var createdDate: Timestamp
    /// The wall time of the key's revocation. Missing while the key is valid.
    public var revokedDate: Timestamp?

    public init(name: String, createdDate: Timestamp, revokedDate: Timestamp?) {
        self.name = name
        self.createdDate = createdDate
        self.revokedDate = revokedDate
    }
}

/// All operators who have or had a personal key, oldest first.
public struct OperatorList: Hashable, Sendable, Codable {
    public var operators: [OperatorSummary]

    public init(operators: [OperatorSummary]) {
        self.operators = operators
    }
}

/// Requests a personal key for an operator.
public struct CreateOperatorRequest: Hashable, Sendable, Codable {
    /// 1 to 100 letters, digits, `-`, `.` and `_`. A name can be used only
    /// once.
    public var name: String

    public init(name: String) {
        self.name = name
    }
}

/// A new key. It is in this answer only.
public struct CreatedOperator: Hashable, Sendable, Codable {
    public var name: String
    public var key: String

    public init(name: String, key: String) {
        self.name = name
        self.key = key
    }
}
