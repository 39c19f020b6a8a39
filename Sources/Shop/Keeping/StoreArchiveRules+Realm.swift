// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Foundation
import Storage
import StoreWire
import Work

/// The rules that concern several values of a realm's rows. Where they are not
/// enough, a row is also read as the store would read it.
extension StoreArchiveRules {
    // MARK: Columns that are more than text

    /// Why an outbox row is owed.
    static func isCause(_ text: String) -> Bool {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return false }
        switch String(parts[0]) {
        case NotificationKind.oneTimeCharge:
            return isTransaction(String(parts[1]))
        case SubscriptionCommit.causePrefix, FamilyCommit.causePrefix:
            let numbers = parts[1].split(separator: ".", omittingEmptySubsequences: false)
                .map(String.init)
            let isWhole =
                parts[0] == FamilyCommit.causePrefix
                ? FamilyCommit.isCause(numbers) : numbers.count == 2
            return isWhole && isTransaction(numbers[0]) && Edge.number(numbers[1]) != nil
        case RefundCause.prefix:
            return RefundCause.parts(of: text).map { isTransaction($0.transaction.description) }
                ?? false
        case BulkCause.prefix: return BulkCause.key(of: text) != nil
        case NotificationKind.test: return MerchantRoom.askedDate(ofToken: String(parts[1])) != nil
        case MerchantRoom.handPrefix:
            return UUIDText(String(parts[1]))?.text == String(parts[1])
        default: return false
        }
    }

    private static func isTransaction(_ text: String) -> Bool {
        Edge.number(text).flatMap(NumberLayout.init(number:))?.kind == .transaction
    }

    static func isPurchase(_ subject: String) -> Bool {
        guard let key = PurchaseKey(customer: CustomerID(1), subject: subject) else {
            return false
        }
        let id = key.purchaseID.value
        return BundleID.isValid(key.bundleID.value) && UUIDText(id)?.text == id
    }

    // MARK: Rows as a whole

    /// Checks what concerns several values of a row, or more than its schema knows.
    static func row(_ table: String, _ row: Row) -> BrokenRule? {
        switch table {
        case "apps": app(row)
        case "faults": fault(row)
        case "products": product(row)
        case "subscription_groups": group(row)
        case "outbox", "notifications", "notification_attempts": cause(in: "cause", row)
        case "errands": errand(row)
        case "due_work": dueWork(row)
        case "subscriptions": subscription(row)
        case "subscription_events": event(row)
        case "refunds": refund(row)
        case "refund_events": refundEvent(row)
        case "renewal_charges": charge(row)
        case "bulk_changes": bulkChange(row)
        case "family_people": FamilyArchiveRules.person(row)
        case "family_shares": FamilyArchiveRules.share(row)
        case "family_events": FamilyArchiveRules.event(row)
        case "purchases": purchase(row)
        case "transactions": transaction(row)
        default: nil
        }
    }

    private static func cause(in column: String, _ row: Row) -> BrokenRule? {
        broken(
            column,
            "`ONE_TIME_CHARGE/` and a transaction's number, `SUBSCRIPTION/`, a transaction's number, "
                + "`.` and an event's number, `FAMILY/` and the same with a revision (and `.` and a "
                + "number after the first), `REFUND/` and the same with the refund's number "
                + "between, `BULK/`, an app and a request's id, or `TEST/` and a token"
        ) {
            isCause(try row.text(column))
        }
    }

    private static func purchase(in column: String, _ row: Row) -> BrokenRule? {
        broken(column, "a bundle id, `/` and a purchase id") { isPurchase(try row.text(column)) }
    }

    private static func refund(in column: String, _ row: Row) -> BrokenRule? {
        broken(column, "a transaction's number, `.` and a refund's number") {
            guard let parts = RefundRow.parts(ofSubject: try row.text(column)) else { return false }
            return isTransaction(parts.transaction.description)
        }
    }

    /// Checks that the columns are a refund as a store writes it.
    private static func refund(_ row: Row) -> BrokenRule? {
        broken("state", "a refund as a store writes it, with the values of its state") {
            let read = try RefundRow(row: row)
            let refund = read.refund
            let isWhole =
                (refund.state == .requested) == (refund.decidedAt == nil)
                && (refund.state == .reversed) == (refund.reversedAt != nil)
                && [.granted, .reversed].contains(refund.state) == (refund.grant != nil)
                && (refund.wish == nil) == (refund.requestedAt == nil)
            return try isWhole
                && zip(RealmSchema.refunds.columns, read.row).allSatisfy {
                    try $0.value(in: row) == $1
                }
        }
    }

    /// Checks that the other columns repeat the event.
    private static func refundEvent(_ row: Row) -> BrokenRule? {
        broken("body", "an event as a store writes it, which the other columns repeat") {
            let text = try row.text("body")
            let event: RefundEvent = try StoredJSON.value(text, "an event")
            return try StoredJSON.text(event) == text
                && event.at.milliseconds == row.integer("happened_at")
                && event.cause.rawValue == row.text("cause")
        }
    }

    /// Returns the rule if `body` returns false or throws.
    private static func broken(
        _ column: String, _ words: String, unless body: () throws -> Bool
    ) -> BrokenRule? {
        (try? body()) == true ? nil : BrokenRule(column, words)
    }

    private static func fault(_ row: Row) -> BrokenRule? {
        broken("value", "a value of the failure, as a store writes it") {
            guard let name = Fault.Name(rawValue: try row.text("name")) else { return false }
            let text = try row.text("value")
            return Fault(name, value: text)?.value == text
        }
    }

    private static func app(_ row: Row) -> BrokenRule? {
        broken("settings", "settings as a store writes them") {
            guard let text = try row.optionalText("settings") else { return true }
            return try SandboxSettings(stored: text).stored() == text
        }
    }

    private static func group(_ row: Row) -> BrokenRule? {
        broken("localizations", "words as a store writes them") {
            try StoredGroup(row: row).words() == row.value("localizations")
        }
    }

    private static func errand(_ row: Row) -> BrokenRule? {
        if (try? row.text("kind")) == WorkKind.notification { return cause(in: "subject", row) }
        if (try? row.text("kind")).map(WorkKind.families.contains) == true {
            return FamilyArchiveRules.errand(row)
        }
        let isRenewal = (try? row.text("kind")).map(WorkKind.renewals.contains) == true
        // A reset and a deletion look for open charges in their lane.
        let kind = try? row.text("kind")
        let lane =
            switch kind {
            case WorkKind.offerRelease: WorkKind.offersLane
            case WorkKind.bulk: WorkKind.bulkLane
            default: WorkKind.processorLane
            }
        let isRefund = kind.map(WorkKind.refunds.contains) == true
        return
            (isRefund
            ? refund(in: "subject", row)
            : isRenewal
                ? renewal(in: "subject", row)
                : kind == WorkKind.bulk
                    ? bulk(in: "subject", row) : purchase(in: "subject", row))
            ?? broken("lane", "`\(lane)` for errands of this kind") {
                try row.text("lane") == lane
            }
    }

    private static func renewal(in column: String, _ row: Row) -> BrokenRule? {
        broken(column, "a transaction's number, an instant and an attempt, joined by `/`") {
            let text = try row.text(column)
            return RenewalChargeKey(customer: CustomerID(1), subject: text)?.subject == text
        }
    }

    private static func bulk(in column: String, _ row: Row) -> BrokenRule? {
        broken(column, "a bundle id, `/` and the id of a request") {
            BulkChangeKey(subject: try row.text(column)) != nil
        }
    }

    /// Checks that the other columns repeat the change, and that it has come as far
    /// as they say.
    private static func bulkChange(_ row: Row) -> BrokenRule? {
        broken("body", "a change as a store writes it, which the other columns repeat") {
            let read = try BulkChangeRow(row: row)
            return try read.isWhole
                && zip(RealmSchema.bulkChanges.columns, read.row).allSatisfy {
                    try $0.value(in: row) == $1
                }
        }
    }

    /// Checks that the other columns repeat what the body says.
    private static func charge(_ row: Row) -> BrokenRule? {
        broken("body", "a charge as a store writes it, which the other columns repeat") {
            let read = try RenewalChargeRow(row: row)
            return try zip(RealmSchema.renewalCharges.columns, read.row).allSatisfy {
                try $0.value(in: row) == $1
            }
        }
            ?? broken("state", "a state with the dates and names that it needs") {
                try RenewalChargeRow(row: row).isWhole
            }
    }

    private static func dueWork(_ row: Row) -> BrokenRule? {
        guard (try? row.text("kind")) == WorkKind.subscription else {
            return purchase(in: "subject", row)
        }
        return broken("subject", "a transaction's number") {
            isTransaction(try row.text("subject"))
        }
    }

    /// Checks that the other columns repeat what the state says.
    private static func subscription(_ row: Row) -> BrokenRule? {
        broken("state", "a subscription as a store writes it, which the other columns repeat") {
            let read = try SubscriptionRow(row: row)
            return try zip(RealmSchema.subscriptions.columns, read.row).allSatisfy {
                try $0.value(in: row) == $1
            }
        }
    }

    private static func event(_ row: Row) -> BrokenRule? {
        broken("body", "an event as a store writes it, which the other columns repeat") {
            let text = try row.text("body")
            let event: SubscriptionEvent = try StoredJSON.value(text, "an event")
            return try StoredJSON.text(event) == text
                && event.at.milliseconds == row.integer("happened_at")
                && event.cause.rawValue == row.text("cause")
        }
    }

    private static func product(_ row: Row) -> BrokenRule? {
        guard let product = try? Product(row: row) else {
            return BrokenRule("localizations", "words that can be read")
        }
        return words(row, product) ?? subscribed(row, product) ?? listing(row)
            ?? terms(row, product)
    }

    private static func words(_ row: Row, _ product: Product) -> BrokenRule? {
        broken("localizations", "words as a store writes and admits them") {
            try CatalogueRules.check(product)
            return try product.storedWords() == row.text("localizations")
        }
    }

    /// The export of a product of another type has no place for them.
    private static func subscribed(_ row: Row, _ product: Product) -> BrokenRule? {
        guard product.type != .autoRenewable else { return nil }
        let words = "null, except for an auto-renewable"
        let columns = ["group_id", "period"]
        return columns.first { (try? row.value($0)) != .null }.map { BrokenRule($0, words) }
    }

    private static func listing(_ row: Row) -> BrokenRule? {
        broken("listing", "a listing as a store writes and admits it") {
            let listing = try Listing(row: row)
            let places = listing.prices.map(\.storefront) + (listing.storefronts ?? [])
            return try listing.stored() == row.text("listing")
                && places.allSatisfy { Storefront.named($0) != nil }
                && listing.images.allSatisfy(IDText.isID)
                && areSums(listing.prices.map(\.amount))
                && listing.prices.compactMap(\.startsAt).allSatisfy {
                    ValueRule.time.admits(.integer($0.milliseconds))
                }
        }
    }

    /// A product that was a subscription before keeps its terms.
    private static func terms(_ row: Row, _ product: Product) -> BrokenRule? {
        broken("terms", "terms as a store writes and admits them") {
            guard let text = try row.optionalText("terms") else { return true }
            let period = product.period.flatMap { Period(iso8601: $0) } ?? Period(1, .month)
            let terms = try SubscriptionTerms(
                stored: text, groupID: product.groupID ?? "none", period: period)
            let offers = OfferKind.allCases.flatMap { terms.offers($0) }
            let ids = (terms.promotionalOffers + terms.winBackOffers).compactMap(\.id)
            let sums = terms.billingPlans.flatMap { [$0.price, $0.commitmentPrice] }
            return try terms.stored() == text && areSums(sums + offers.map(\.price))
                && ids.allSatisfy(IDText.isID)
                && (offers.map(\.periodCount) + [terms.level]).allSatisfy {
                    (0...1_000_000).contains($0)
                }
        }
    }

    private static func areSums(_ amounts: [Amount]) -> Bool {
        amounts.allSatisfy { (0...Amount.milliunitsMax).contains($0.milliunits) }
    }

    /// A refused purchase is recorded as it was requested.
    private static func purchase(_ row: Row) -> BrokenRule? {
        let isRefused = (try? row.text("state")) == PurchaseState.refusedWord
        if !isRefused, (try? row.text("product_id")).map(IDText.isID) != true {
            return BrokenRule("product_id", ValueRule.id.words + ", unless it is refused")
        }
        let range = 1...Int64(Payment.quantityMax)
        if !isRefused, (try? row.integer("quantity")).map(range.contains) != true {
            return BrokenRule("quantity", "1 to \(Payment.quantityMax), unless it is refused")
        }
        let key = PurchaseKey(
            customer: CustomerID(1), bundleID: BundleID("a"), purchaseID: PurchaseID("a"))
        return broken("offer", "null, or a requested offer as a store writes it") {
            guard let text = try row.optionalText("offer") else { return true }
            let offer: RequestedOffer = try StoredJSON.value(text, "a requested offer")
            return StoredJSON.text(offer) == text
        }
            ?? broken("state", "a state, with the refusal, transaction or reason that it needs") {
                try PurchaseRow(row, key: key) != nil
            }
            ?? broken("decided_at", "null, or not before `asked_at` if it is decided") {
                guard let decided = try row.optionalInteger("decided_at") else { return true }
                return try PurchaseRow(row, key: key)?.state.isDecided == true
                    && decided >= row.integer("asked_at")
            }
    }

    /// Checks that the facts match the part of the receipt that is made from
    /// them.
    private static func transaction(_ row: Row) -> BrokenRule? {
        period(row)
            ?? broken("record", "the record that is made from the row's facts") {
                try TransactionFacts(row: row).record == row.blob("record")
            }
            ?? broken("revocation_reason", "null, unless it is revoked") {
                try (row.value("revocation_reason") == .null) == (row.value("revoked_at") == .null)
            }
            ?? broken("revocation_type", "null, unless it is revoked") {
                try row.value("revocation_type") == .null || row.value("revoked_at") != .null
            }
            ?? broken("revocation_percentage", "present if it is refunded in part") {
                try (row.value("revocation_percentage") != .null)
                    == (row.optionalText("revocation_type")
                        == RevocationType.refundProrated.rawValue)
            }
    }

    /// Checks that a subscription's period has all of its facts, as a store writes
    /// them, and that no other transaction has any.
    private static func period(_ row: Row) -> BrokenRule? {
        let isPeriod = (try? row.text("product_type")) == ProductType.autoRenewable.rawValue
        let rules: [(column: String, holds: (SQLValue) throws -> Bool)] = [
            ("group_id", { ($0 != .null) == isPeriod }),
            ("expires_at", { ($0 != .null) == isPeriod }),
            (
                "offer",
                { value in
                    guard isPeriod else { return value == .null }
                    return try PeriodFacts(row)?.storedOffer == row.optionalText("offer")
                }
            ),
            (
                "commitment",
                { value in
                    guard isPeriod else { return value == .null }
                    return try PeriodFacts(row)?.storedCommitment == row.optionalText("commitment")
                }
            ),
            ("is_upgraded", { _ in try isPeriod || !row.boolean("is_upgraded") }),
        ]
        let words = "what a store writes for a subscription's period, and nothing for another sale"
        return rules.lazy.compactMap { rule in
            broken(rule.column, words) { try rule.holds(try row.value(rule.column)) }
        }.first
    }
}
