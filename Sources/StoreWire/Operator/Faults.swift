// SPDX-License-Identifier: Apache-2.0

/// A failure toward merchants' servers that a sandbox simulates.
public struct FaultRecord: Hashable, Sendable, Codable {
    /// `rate-limits`, `verify-receipt`, `notifications` or `notification-attempts`.
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
