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
            return Edge.number(String(parts[1])).flatMap(NumberLayout.init(number:))?.kind
                == .transaction
        case NotificationKind.test: return MerchantRoom.askedDate(ofToken: String(parts[1])) != nil
        default: return false
        }
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
        case "products": product(row)
        case "subscription_groups": group(row)
        case "outbox", "notifications", "notification_attempts": cause(in: "cause", row)
        case "errands": errand(row)
        case "due_work": purchase(in: "subject", row)
        case "purchases": purchase(row)
        case "transactions": transaction(row)
        default: nil
        }
    }

    private static func cause(in column: String, _ row: Row) -> BrokenRule? {
        broken(column, "`ONE_TIME_CHARGE/` and a transaction's number, or `TEST/` and a token") {
            isCause(try row.text(column))
        }
    }

    private static func purchase(in column: String, _ row: Row) -> BrokenRule? {
        broken(column, "a bundle id, `/` and a purchase id") { isPurchase(try row.text(column)) }
    }

    /// Returns the rule if `body` returns false or throws.
    private static func broken(
        _ column: String, _ words: String, unless body: () throws -> Bool
    ) -> BrokenRule? {
        (try? body()) == true ? nil : BrokenRule(column, words)
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
        (try? row.text("kind")) == WorkKind.notification
            ? cause(in: "subject", row) : purchase(in: "subject", row)
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
        return broken("state", "a state, with the refusal, transaction or reason that it needs") {
            try PurchaseRow(row, key: key) != nil
        }
    }

    /// Checks that the facts match the part of the receipt that is made from
    /// them.
    private static func transaction(_ row: Row) -> BrokenRule? {
        broken("record", "the record that is made from the row's facts") {
            try TransactionFacts(row: row).record == row.blob("record")
        }
    }
}
