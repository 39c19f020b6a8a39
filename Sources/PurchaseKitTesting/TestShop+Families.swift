// SPDX-License-Identifier: Apache-2.0

import Shop
public import StoreWire

/// Families of the shop's customers, by sign-in name. Nil is the sandbox's default
/// customer. Each call returns when the family has got, or lost, what follows from it.
/// All throw ``Refusal``.
///
/// ```swift
/// try await shop.addCustomer("ada")
/// try await shop.family(of: nil, adds: "ada")
/// try await shop.familyRemoves("ada", from: nil)
/// ```
extension TestShop {
    private static var context: RequestContext { RequestContext(requestID: "test") }

    /// Returns the family of a customer.
    public func family(of customer: String?) async throws -> FamilyRecord {
        try await realm.families.show(try await customerID(customer))
    }

    /// Adds a member to the family that a customer organises.
    @discardableResult
    public func family(of organiser: String?, adds member: String?) async throws -> FamilyRecord {
        try await realm.families.join(
            try await customerID(organiser), member: try await customerID(member), Self.context)
    }

    /// Removes a member from the family that a customer organises, or dissolves it if
    /// both are the same.
    @discardableResult
    public func familyRemoves(
        _ member: String?, from organiser: String?
    ) async throws -> FamilyRecord {
        try await realm.families.leave(
            try await customerID(organiser), member: try await customerID(member), Self.context)
    }

    /// Switches on or off whether a customer's family gets what the customer buys.
    @discardableResult
    public func familySharing(
        _ isSharing: Bool, by customer: String?
    ) async throws -> FamilyRecord {
        try await realm.families.setSharing(
            try await customerID(customer), FamilySharingRequest(isSharing: isSharing),
            Self.context)
    }
}
