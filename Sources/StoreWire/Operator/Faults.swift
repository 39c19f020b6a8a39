// SPDX-License-Identifier: Apache-2.0

/// A failure that a sandbox simulates toward merchants' servers or devices.
public struct FaultRecord: Hashable, Sendable, Codable {
    /// `rate-limits`, `verify-receipt`, `notifications`, `notification-attempts`,
    /// `devices` or `payments`.
    public var name: String
    public var value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// What a sandbox simulates, by name.
public struct FaultList: Hashable, Sendable, Codable {
    public var faults: [FaultRecord]

    public init(faults: [FaultRecord]) { self.faults = faults }
}

/// Switches a failure on.
public struct SetFaultRequest: Hashable, Sendable, Codable {
    public var value: String

    public init(value: String) { self.value = value }
}
