// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import Storage
import StoreWire

/// What a merchant's server requests for one subscription.
struct MerchantExtension: Hashable, Sendable {
    let days: Int
    let reason: Int
    /// Any text of the merchant's.
    let identifier: String
}

/// A renewal date that a merchant's server has extended.
struct ExtendedRenewal: Sendable {
    let end: Timestamp
    let webOrderLineItemID: String
}

extension SubscriptionRoom {
    /// How often a merchant may extend a subscription in a year.
    /// [Apple's page](https://developer.apple.com/documentation/appstoreserverapi/extending-the-renewal-date-for-auto-renewable-subscriptions)
    static let extensionsMax = 2
    private static let yearMilliseconds: Int64 = 365 * 86_400_000

    /// Extends one subscription once under the request's identifier. The same request
    /// again returns what the first one did. Throws ``AppleRefusal``, in order: 4040005,
    /// 4000011 for an identifier that has another request, 4030004, 4030005.
    func extend(
        _ id: TransactionID, of customer: CustomerID, _ request: MerchantExtension,
        _ context: RequestContext
    ) async throws -> ExtendedRenewal {
        let shelf = try await realm.loadShelf(for: customer)
        let (commit, isCharged) = (self.commit, realm.chargesRenewals)
        let ending = try await realm.lineOrLeave(of: customer) {
            line -> Ending<ExtendedRenewal> in
            guard let row = try SubscriptionRow.find(id, of: customer, line.writing) else {
                throw AppleRefusal(.originalTransactionIdNotFound)
            }
            let mark = BulkMark(
                key: BulkChangeKey(
                    bundleID: row.bundleID, request: Self.uuid(of: request.identifier)),
                subscription: id)
            guard try mark.write(isDone: true, line) else {
                return .leave(try Self.answer(again: request, mark, row, line))
            }
            let context = try RenewalContext(row, shelf, line, at: line.now, isCharged: isCharged)
            let events = try Self.extended(
                row, days: request.days, reason: request.reason, line)
            let after = try commit.write(events, to: row, line, hasURL: context.hasURL) { _ in
                throw StorageFault(.malformedRow, "an extension that sells a period")
            }
            return .commit(try Self.answer((after ?? row).subscription, row, line))
        }
        if case .commit = ending {
            realm.wake(customer)
            realm.ring(customer)
            realm.ports.log(
                .info, "renewal date extended", context, ["subscription": "\(id)"])
        }
        return ending.answer
    }

    /// The events of an extension that a merchant's server requests, or why there is none.
    /// Throws ``AppleRefusal``, in order: 4030004, 4030005.
    static func extended(
        _ row: SubscriptionRow, days: Int, reason: Int? = nil, _ line: CustomerLine
    ) throws -> [SubscriptionEvent] {
        guard row.subscription.current.price.amount.milliunits > 0 else {
            throw AppleRefusal(.subscriptionExtensionIneligible)
        }
        let events: [SubscriptionEvent]
        do throws(SubscriptionRefusal) {
            events = try row.subscription.extended(
                days: days, reason: reason, at: line.now, cause: .operator)
        } catch { throw AppleRefusal(.subscriptionExtensionIneligible) }
        let earlier = try line.writing.query(
            Statement.Subscriptions.eventsAfter,
            [
                .integer(row.customer.value), .integer(row.subscription.originalID.value),
                .integer(0),
            ]
        ).map { row -> SubscriptionEvent in
            try StoredJSON.value(try row.text("body"), "an event that cannot be read")
        }
        let recent = earlier.filter { event in
            guard case .extended = event.change else { return false }
            return line.now.milliseconds(since: event.at) < yearMilliseconds
        }
        guard recent.count < extensionsMax else { throw AppleRefusal(.subscriptionMaxExtension) }
        return events
    }

    /// The effect that the request had at first, whatever has happened since. Throws
    /// 4000011 if the identifier had another request.
    private static func answer(
        again request: MerchantExtension, _ mark: BulkMark, _ row: SubscriptionRow,
        _ line: CustomerLine
    ) throws -> ExtendedRenewal {
        let other = AppleRefusal(.invalidRequestIdentifier)
        guard let revision = try mark.revision(of: row.customer, line.writing) else {
            throw other
        }
        let rows = try line.writing.query(
            Statement.Subscriptions.eventsUpTo,
            [
                .integer(row.customer.value), .integer(mark.subscription.value),
                .integer(revision),
            ])
        let events = try rows.map { row -> SubscriptionEvent in
            try StoredJSON.value(try row.text("body"), "an event that cannot be read")
        }
        // Extensions of all, and those of an earlier program, have no reason.
        guard let last = events.last, try rows.last?.integer("revision") == revision,
            case .extended(let end, let reason) = last.change,
            reason == nil || reason == request.reason,
            var extended = Subscription(events.dropLast()),
            extended.end(extendedBy: request.days) == end
        else { throw other }
        extended.apply(last)
        return try answer(extended, row, line)
    }

    private static func answer(
        _ extended: Subscription, _ row: SubscriptionRow, _ line: CustomerLine
    ) throws -> ExtendedRenewal {
        let key: [SQLValue] = [
            .integer(row.customer.value), .integer(extended.current.transaction.value),
        ]
        guard let found = try line.writing.first(Statement.Transactions.one, key) else {
            throw StorageFault(.malformedRow, "a subscription whose transaction is gone")
        }
        return ExtendedRenewal(
            end: extended.end,
            webOrderLineItemID: "\(try TransactionFacts(row: found).webOrderLineItemID)")
    }

    /// An identifier is any text; marks have UUIDs. The same text has the same one.
    private static func uuid(of identifier: String) -> UUIDText {
        if let uuid = UUIDText(identifier) { return uuid }
        let digits = hexadecimal(SHA256.hash(data: Data(identifier.utf8)).prefix(16))
        let ends = [8, 12, 16, 20, 32]
        let parts = zip([0] + ends, ends).map { start, end in
            String(digits.dropFirst(start).prefix(end - start))
        }
        guard let uuid = UUIDText(parts.joined(separator: "-")) else {
            preconditionFailure("32 hexadecimal digits make a UUID")
        }
        return uuid
    }
}
