// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Shop
public import StoreWire

/// Subscriptions of the shop's customers, and what can be forced on them. Any
/// transaction of a subscription names it. A change returns when it is visible,
/// with the events that it caused.
extension TestShop {
    private static var context: RequestContext { RequestContext(requestID: "test") }

    /// Returns all subscriptions, by customer.
    public func subscriptions() async throws -> [SubscriptionRecord] {
        try await realm.subscriptions.list().subscriptions
    }

    /// Returns the only subscription. Throws ``TestShopFault`` if there is none, or
    /// more than one.
    public func subscription() async throws -> SubscriptionRecord {
        let all = try await subscriptions()
        guard all.count == 1, let one = all.first else {
            throw TestShopFault("the shop has \(all.count) subscriptions, and not one")
        }
        return one
    }

    /// Returns what happened to the only subscription's customer, in order.
    public func history() async throws -> [SubscriptionEventRecord] {
        try await realm.subscriptions.history(of: try await subscription().customerId).events
    }

    /// Charges the next period now.
    @discardableResult
    public func renew(_ subscription: String) async throws -> SubscriptionAnswer {
        try await realm.subscriptions.renew(subscription, Self.context)
    }

    /// Ends it now, whatever was paid.
    @discardableResult
    public func expire(_ subscription: String) async throws -> SubscriptionAnswer {
        try await realm.subscriptions.expire(subscription, Self.context)
    }

    /// Lets its renewals fail from now on.
    @discardableResult
    public func failBilling(_ subscription: String) async throws -> SubscriptionAnswer {
        try await realm.subscriptions.failBilling(of: subscription, true, Self.context)
    }

    /// Lets its renewals succeed, and charges an unpaid one now.
    @discardableResult
    public func fixBilling(_ subscription: String) async throws -> SubscriptionAnswer {
        try await realm.subscriptions.failBilling(of: subscription, false, Self.context)
    }

    /// Switches its renewal off, as the customer would.
    @discardableResult
    public func cancel(_ subscription: String) async throws -> SubscriptionAnswer {
        try await realm.subscriptions.switchRenewal(of: subscription, on: false, Self.context)
    }

    /// Announces a higher price, which needs the customer's consent. `price`: in
    /// thousandths of the currency's unit. It applies to periods that begin at
    /// `startDate` or later.
    @discardableResult
    public func raisePrice(
        of subscription: String, to price: Int64, from startDate: Timestamp
    ) async throws -> SubscriptionAnswer {
        try await realm.subscriptions.raisePrice(
            of: subscription, RaisePriceRequest(price: price, startDate: startDate), Self.context)
    }

    /// Switches its renewal on again.
    @discardableResult
    public func resume(_ subscription: String) async throws -> SubscriptionAnswer {
        try await realm.subscriptions.switchRenewal(of: subscription, on: true, Self.context)
    }
}

/// A test asked its shop for what it does not have.
public struct TestShopFault: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
