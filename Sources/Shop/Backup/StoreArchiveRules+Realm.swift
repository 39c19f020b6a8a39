// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Foundation
import Storage

/// The rules that concern several values of a realm's rows. Where they are not
/// enough, a row is also read as the store would read it.
extension StoreArchiveRules {
    static func isJWS(_ text: String) -> Bool {
        (5...1_048_576).contains(text.utf8.count)
            && text.split(separator: ".", omittingEmptySubsequences: false).count == 3
            && text.utf8.allSatisfy { byte in
                (97...122).contains(byte) || (65...90).contains(byte)
                    || (48...57).contains(byte) || [45, 46, 95].contains(byte)
            }
    }

    /// Returns `words` if `body` throws.
    private static func orWords(_ words: String, _ body: () throws -> Void) -> String? {
        do { try body() } catch { return words }
        return nil
    }

    @Sendable static func app(_ row: Row) -> String? {
        orWords("settings that can be read") {
            if let text = try row.optionalText("settings") {
                _ = try SandboxSettings(stored: text)
            }
        }
    }

    @Sendable static func group(_ row: Row) -> String? {
        orWords("words that can be read") { _ = try StoredGroup(row: row) }
    }

    @Sendable static func dueWork(_ row: Row) -> String? {
        orWords("the subject names a purchase") {
            let subject = try row.text("subject")
            guard PurchaseKey(customer: CustomerID(1), subject: subject) != nil else {
                throw StorageFault(.malformedRow, "no purchase")
            }
        }
    }

    @Sendable static func product(_ row: Row) -> String? {
        guard let draft = try? ProductDraft(row: row) else {
            return "words, listing and terms that can be read"
        }
        let sums =
            draft.listing.prices.map(\.amount)
            + (draft.terms?.billingPlans.flatMap { [$0.price, $0.commitmentPrice] } ?? [])
            + OfferKind.allCases.flatMap { draft.terms?.offers($0).map(\.price) ?? [] }
        guard sums.allSatisfy({ (0...Amount.milliunitsMax).contains($0.milliunits) }) else {
            return "prices of 0 to \(Amount.milliunitsMax) thousandths"
        }
        let ids = [OfferKind.promotional, .winBack].flatMap { kind in
            draft.terms?.offers(kind).map { $0.id ?? "" } ?? []
        }
        guard ids.allSatisfy({ $0.isEmpty || IDText.isID($0) }) else {
            return "offers' ids of \(IDText.rule)"
        }
        let dates = draft.listing.prices.compactMap(\.startsAt)
        guard dates.allSatisfy({ ValueRule.time.admits(.integer($0.milliseconds)) }) else {
            return "prices begin at a \(ValueRule.time.words)"
        }
        let counts = OfferKind.allCases.flatMap { draft.terms?.offers($0).map(\.periodCount) ?? [] }
        let levels = draft.terms.map { [$0.level] } ?? []
        return (counts + levels).allSatisfy { (0...1_000_000).contains($0) }
            ? nil : "levels, and numbers of periods, from 0 to 1000000"
    }

    @Sendable static func purchase(_ row: Row) -> String? {
        let key = PurchaseKey(
            customer: CustomerID(1), bundleID: BundleID("a"), purchaseID: PurchaseID("a"))
        guard let purchase = try? PurchaseRow(row, key: key) else {
            return "a state, with the refusal, transaction or reason that it needs"
        }
        // A purchase with a quantity out of range may be recorded as refused.
        if purchase.state.refusal == nil,
            !(1...Payment.quantityMax).contains(purchase.payment.quantity)
        {
            return "a quantity of 1 to \(Payment.quantityMax), but where it is refused"
        }
        return nil
    }

    /// Checks that the facts match the part of the receipt that is made from
    /// them.
    @Sendable static func transaction(_ row: Row) -> String? {
        guard let facts = try? TransactionFacts(row: row), let record = try? row.blob("record")
        else { return "facts that can be read" }
        return facts.record == record ? nil : "the record that is made from the row's facts"
    }
}
