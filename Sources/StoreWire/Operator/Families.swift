// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A family, as operators see it.
public struct FamilyRecord: Hashable, Sendable, Codable {
    /// The customer who names the family.
    public var organiserId: String
    /// The organiser and the members, by number. Empty if the family was dissolved.
    public var people: [FamilyPersonRecord]

    public init(organiserId: String, people: [FamilyPersonRecord]) {
        self.organiserId = organiserId
        self.people = people
    }
}

/// A person in a family.
public struct FamilyPersonRecord: Hashable, Sendable, Codable {
    public var customerId: String
    /// Commercial time.
    public var joinedDate: Timestamp
    /// Whether the others get what this person buys.
    public var isSharing: Bool

    public init(customerId: String, joinedDate: Timestamp, isSharing: Bool) {
        self.customerId = customerId
        self.joinedDate = joinedDate
        self.isSharing = isSharing
    }
}

/// Switches on or off whether the family gets what a customer buys.
public struct FamilySharingRequest: Hashable, Sendable, Codable {
    public var isSharing: Bool

    public init(isSharing: Bool) {
        self.isSharing = isSharing
    }
}
