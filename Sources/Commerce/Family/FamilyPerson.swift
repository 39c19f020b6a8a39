// SPDX-License-Identifier: Apache-2.0

/// A person's place in a family. A family is named by its organiser, and a person is
/// in one family at most.
public struct FamilyPerson: Hashable, Sendable {
    public let customer: CustomerID
    /// The organiser of the person's family, who is the person if they are equal. Nil
    /// for a person in no family.
    public internal(set) var organiser: CustomerID?
    public internal(set) var joinedAt: Timestamp?
    /// Since when the others get what the person buys. Nil if they do not.
    public internal(set) var sharesSince: Timestamp?

    /// An organiser and up to five others.
    /// [Apple's page](https://support.apple.com/en-us/108380)
    public static let peopleMax = 6

    public init(
        customer: CustomerID, organiser: CustomerID? = nil, joinedAt: Timestamp? = nil,
        sharesSince: Timestamp? = nil
    ) {
        self.customer = customer
        self.organiser = organiser
        self.joinedAt = joinedAt
        self.sharesSince = sharesSince
    }

    public var isOrganiser: Bool { organiser == customer }

    /// Since when `member` gets what this person buys. Nil if they do not share.
    public func since(for member: FamilyPerson) -> Timestamp? {
        guard isInFamily(of: member), let sharesSince, let joinedAt = member.joinedAt
        else { return nil }
        return max(sharesSince, joinedAt)
    }

    public func isInFamily(of other: FamilyPerson) -> Bool {
        customer != other.customer && organiser != nil && organiser == other.organiser
    }
}

/// Why a family is not changed. The cases are in order of precedence.
public enum FamilyRefusal: String, Error, Hashable, Sendable, CaseIterable {
    /// A person is not a member of a family beside the own place in it.
    case sameCustomer
    /// The person who is to organise is a member of another person's family.
    case notOrganiser
    /// The person who is to join is in another family already.
    case inAnotherFamily
    /// The family has six people.
    case familyFull
    /// The person is in no family, or not in this one.
    case notInFamily
}

/// One change of a person's place, with the place after it.
public struct FamilyChange: Hashable, Sendable {
    public let person: FamilyPerson
    /// The organiser of the family that it concerns.
    public let organiser: CustomerID
    public let kind: Kind

    /// Stores keep the raw values.
    public enum Kind: String, Hashable, Sendable, CaseIterable, Codable {
        case joined
        case left
        /// The organiser left, so that the family is no more.
        case dissolved
        case sharingOn
        case sharingOff
    }

    init(_ kind: Kind, _ person: FamilyPerson, of organiser: CustomerID) {
        (self.kind, self.person, self.organiser) = (kind, person, organiser)
    }
}

/// The decisions on families. Each returns the changes to make, and none if
/// everything is as requested already.
public enum FamilyRules {
    /// Adds `member` to the family of `organiser`, which begins with its first
    /// member. `people`: the number of people in the family.
    public static func joining(
        _ member: FamilyPerson, to organiser: FamilyPerson, people: Int, at instant: Timestamp
    ) throws(FamilyRefusal) -> [FamilyChange] {
        guard member.customer != organiser.customer else { throw .sameCustomer }
        guard organiser.organiser == nil || organiser.isOrganiser else { throw .notOrganiser }
        if member.organiser == organiser.customer { return [] }
        guard member.organiser == nil else { throw .inAnotherFamily }
        guard max(people, 1) < FamilyPerson.peopleMax else { throw .familyFull }
        let joining = organiser.organiser == nil ? [organiser, member] : [member]
        return joining.map { person in
            let joined = FamilyPerson(
                customer: person.customer, organiser: organiser.customer, joinedAt: instant,
                sharesSince: instant)
            return FamilyChange(.joined, joined, of: organiser.customer)
        }
    }

    /// Removes a person from the family of `organiser`, whose people are `people`. If
    /// it is the organiser, the family is dissolved.
    public static func leaving(
        _ person: FamilyPerson, from organiser: CustomerID, people: [FamilyPerson]
    ) throws(FamilyRefusal) -> [FamilyChange] {
        guard person.organiser == organiser else { throw .notInFamily }
        let left = person.isOrganiser ? people : [person]
        return left.map { one in
            FamilyChange(
                person.isOrganiser ? .dissolved : .left, FamilyPerson(customer: one.customer),
                of: organiser)
        }
    }

    /// Switches on or off whether the others get what a person buys.
    public static func sharing(
        _ person: FamilyPerson, isOn: Bool, at instant: Timestamp
    ) throws(FamilyRefusal) -> [FamilyChange] {
        guard let organiser = person.organiser else { throw .notInFamily }
        guard (person.sharesSince != nil) != isOn else { return [] }
        var changed = person
        changed.sharesSince = isOn ? instant : nil
        return [FamilyChange(isOn ? .sharingOn : .sharingOff, changed, of: organiser)]
    }
}
