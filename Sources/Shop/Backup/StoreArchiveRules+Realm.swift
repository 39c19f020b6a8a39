// SPDX-License-Identifier: Apache-2.0

import Archive
import Commerce
import Foundation
import Storage

/// The rules for the values of a realm's database. Where the rules of the
/// columns are not enough, a row is also read as the store would read it.
extension StoreArchiveRules {
    static let realm = house + customers + purchases + owed + elsewhere

    private static let customer = number(.customer)
    private static let place = ValueRule.integer(0...1_000_000)
    private static let json = ValueRule.text(bytes: 2...4_194_304)
    private static let version = ValueRule.text(bytes: 1...255)
    /// An id in a catalogue file, or a combination of several.
    private static let longName = ValueRule.text(bytes: 1...1024)

    private static let house = [
        TableRules(
            "realm",
            [
                "singleton": .integer(1...1), "id": realmID, "name": realmName,
                "environment": environment, "seed": seed.optional, "generation": generation,
                "clock_ahead": .integer(
                    -RealmClock.latest.milliseconds...RealmClock.latest.milliseconds),
                "clock_stands_at": .integer(
                    Realm.clockEarliest.milliseconds...Realm.clockLatest.milliseconds
                ).optional,
                "catalogue_revision": .count, "audit_count": .count,
                "clock_rate": .integer(RealmClock.rates), "clock_since": .time,
                "house_revision": .count, "buckets": nothing, "cluster": nothing,
                "reset_generation": .count,
            ], rowsMax: 1),
        TableRules(
            "apps",
            [
                "bundle_id": longName, "app_id": .count.optional, "name": .text(bytes: 0...4096),
                "storefront": .storefront, "locale": .text(bytes: 0...255),
                "purchases_enabled": .flag, "settings": json.optional,
                "shared_secret": .text(bytes: 1...255).optional,
                "notification_url": .text("an address that notifications may go to") {
                    (try? NotificationURL.check($0, isProduction: false)) != nil
                }.optional, "has_sold": .flag,
            ]
        ) { row in
            orWords("settings that can be read") {
                if let text = try row.optional("settings", Row.optionalText) {
                    _ = try SandboxSettings(stored: text)
                }
            }
        },
        TableRules(
            "products",
            [
                "bundle_id": longName, "product_id": id, "place": place,
                "product_type": .word(ProductType.allCases.map(\.rawValue)),
                "reference_name": .text(bytes: 0...65_536), "price": .price,
                "is_family_shareable": .flag, "localizations": json,
                "group_id": id.optional,
                "period": .text(bytes: 0...64).optional,
                "state": .word(ReviewState.allCases.map(\.rawValue)),
                "withdrawn_at": .time.optional, "listing": json, "from_file": .flag,
                "came_with": version.optional, "terms": json.optional,
            ], row: product),
        TableRules(
            "catalogue_files",
            [
                "bundle_id": longName, "name": .text(bytes: 0...1024),
                "contents": .blob(bytes: 0...67_108_864),
                "overlay": .blob(bytes: 0...67_108_864).optional, "stored_at": .time,
            ]),
        TableRules(
            "catalogue_images",
            [
                "bundle_id": longName, "image_id": id,
                "contents": .blob(bytes: 1...Realm.imageBytesMax),
            ]),
        TableRules("audit", audit),
        TableRules(
            "app_versions",
            [
                "bundle_id": longName, "version": version,
                "state": .word(AppVersionState.allCases.map(\.rawValue)), "made_at": .time,
                "live_at": .time.optional,
            ]),
        TableRules(
            "subscription_groups",
            [
                "bundle_id": longName, "group_id": id, "place": place,
                "name": .text(bytes: 0...65_536), "localizations": json, "from_file": .flag,
            ]
        ) { row in orWords("words that can be read") { _ = try StoredGroup(row: row) } },
        TableRules(
            "server_keys",
            [
                "key_id": .name, "issuer_id": .name, "bundle_id": longName,
                "public_key": .blob(bytes: 1...1024), "created_at": .time,
                "revoked_at": .time.optional,
            ]),
        TableRules("number_marks", ["kind": numberKind, "next_count": nextCount]),
    ]

    private static let customers = [
        TableRules(
            "customers",
            [
                "customer_id": customer, "name": .text(bytes: 1...100),
                "storefront": .storefront.optional, "may_buy": .flag,
                "password_hash": passwordHash.optional, "revision": .count, "created_at": .time,
                "asks_to_buy": .flag, "cleared_revision": .count.optional,
                "email": .text("an e-mail address") {
                    (try? Edge.email($0, "email")) != nil
                }.optional, "interrupts_purchases": .flag,
            ]),
        TableRules(
            "sign_in_names", ["name": .text(bytes: 1...1024), "customer_id": customer]),
        TableRules(
            "devices",
            [
                "customer_id": customer, "bundle_id": longName, "device_uuid": .uuid,
                "device_id": number(.device), "name": .text(bytes: 0...255).optional,
                "app_version": version, "seen_at": .time,
            ]),
        TableRules(
            "app_accounts",
            [
                "customer_id": customer, "bundle_id": longName,
                "app_transaction_id": number(.appTransaction), "original_purchased_at": .time,
                "original_version": version,
            ]),
    ]

    /// A hash that is not too expensive to verify.
    private static let passwordHash = ValueRule.text(
        "`scrypt$N$r$p$salt$hash` with a cost of at most \(PasswordCost.bytesMax) bytes"
    ) { Passwords.isStored($0) }

    private static let purchases = [
        TableRules(
            "purchases",
            [
                "customer_id": customer, "bundle_id": longName, "purchase_id": .uuid,
                "product_id": .text(bytes: 0...255),
                "quantity": .integer(Int64.min...Int64.max), "unit_price": .price,
                "currency": .currency,
                "application_username": .text(bytes: 0...Edge.usernameBytesMax).optional,
                "replaces": .uuid.optional, "state": .name, "refusal": .name.optional,
                "waiting_for": .word(WaitingReason.allCases.map(\.rawValue)).optional,
                "transaction_id": number(.transaction).optional, "total_price": total.optional,
                "processor_reference": .text(bytes: 0...65_536).optional,
                "void_owed_at": .time.optional, "asked_at": .time,
                "decided_at": .time.optional, "revision": .count,
                "simulates_ask_to_buy": .flag,
                "approval": .word(ApprovalAnswer.allCases.map(\.rawValue)).optional,
                "voided_at": .time.optional, "captured_at": .time.optional,
            ], row: purchase),
        TableRules(
            "transactions",
            [
                "customer_id": customer, "transaction_id": number(.transaction),
                "original_transaction_id": number(.transaction), "bundle_id": longName,
                "product_id": id,
                "product_type": .word(ProductType.allCases.map(\.rawValue)),
                "quantity": .integer(1...Int64(Payment.quantityMax)), "unit_price": .price,
                "total_price": total, "currency": .currency, "storefront": .storefront,
                "app_account_token": .uuid.optional,
                "app_transaction_id": number(.appTransaction), "purchase_id": .uuid.optional,
                "purchased_at": .time, "original_purchased_at": .time,
                "finished_at": .time.optional, "revoked_at": .time.optional,
                "revocation_reason": .integer(0...1000).optional, "revision": .count,
                "changed_at": .time, "record": .blob(bytes: 1...65_536),
            ], row: transaction),
    ]

    private static let total = ValueRule.integer(
        0...Amount.milliunitsMax * Int64(Payment.quantityMax))
    /// Rows that belong to the realm itself have the customer 0.
    private static let ower = ValueRule("a customer's number, or 0") {
        $0 == .integer(0) || customer.admits($0)
    }
    private static let cause = ValueRule.text(bytes: 1...4096)

    private static let owed = [
        TableRules(
            "outbox",
            [
                "customer_id": ower, "cause": cause, "notification_uuid": .uuid,
                "notification_type": .name, "bundle_id": longName,
                "transaction_id": number(.transaction).optional, "revision": .count,
                "created_at": .time,
            ]),
        TableRules(
            "errands",
            [
                "customer_id": ower, "kind": .name, "subject": cause, "lane": longName,
                "due_at": .time, "attempt": .integer(0...1_000_000_000),
                "fence": .integer(0...1_000_000_000_000), "lease_until": .time.optional,
            ]),
        TableRules(
            "due_work",
            [
                "customer_id": customer, "kind": .word([ApprovalTimeout.kind]),
                "subject": cause, "due_at": .time,
            ]
        ) { row in
            orWords("the subject names a purchase") {
                let subject = try row.text("subject")
                guard PurchaseKey(customer: CustomerID(1), subject: subject) != nil else {
                    throw StorageFault(.malformedRow, "no purchase")
                }
            }
        },
        TableRules(
            "notifications",
            [
                "customer_id": ower, "cause": cause, "notification_uuid": .uuid,
                "notification_type": .name, "subtype": .name.optional, "bundle_id": longName,
                "signed_payload": .text("a compact JWS of at most 1 MiB", isJWS),
                "signed_at": .time, "delivered_at": .time.optional,
            ]),
        TableRules(
            "notification_attempts",
            [
                "customer_id": ower, "cause": cause, "attempt": .integer(0...1_000_000_000),
                "attempted_at": .time, "result": .name, "status": .integer(0...999).optional,
            ]),
    ]

    /// A backup contains a realm whose customers are all on one cluster.
    private static let elsewhere = [
        TableRules(
            "clusters",
            ["cluster": .name, "buckets": .name, "founded_at": nothing, "audit_carried": .count],
            rowsMax: 0),
        TableRules(
            "arrivals",
            [
                "customer_id": customer, "name": .name, "storefront": nothing, "may_buy": .flag,
                "password_hash": nothing, "created_at": .time, "asks_to_buy": .flag,
                "interrupts_purchases": .flag, "email": nothing,
            ], rowsMax: 0),
    ]

    private static let nothing = ValueRule("null") { $0 == .null }

    private static func isJWS(_ text: String) -> Bool {
        (5...1_048_576).contains(text.utf8.count)
            && text.split(separator: ".", omittingEmptySubsequences: false).count == 3
            && text.utf8.allSatisfy { byte in
                (97...122).contains(byte) || (65...90).contains(byte)
                    || (48...57).contains(byte) || [45, 46, 95].contains(byte)
            }
    }

    // MARK: Rows as a whole

    /// Returns `words` if `body` throws.
    private static func orWords(_ words: String, _ body: () throws -> Void) -> String? {
        do { try body() } catch { return words }
        return nil
    }

    @Sendable private static func product(_ row: Row) -> String? {
        // An older schema has no listing.
        guard let draft = try? row.hasColumn("terms") ? ProductDraft(row: row) : nil else {
            return row.hasColumn("terms")
                ? "words, listing and terms that can be read"
                : orWords("words that can be read") { _ = try Product(row: row) }
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

    @Sendable private static func purchase(_ row: Row) -> String? {
        let key = PurchaseKey(
            customer: CustomerID(1), bundleID: BundleID("a"), purchaseID: PurchaseID("a"))
        guard row.hasColumn("simulates_ask_to_buy") else { return nil }
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
    @Sendable private static func transaction(_ row: Row) -> String? {
        guard let facts = try? TransactionFacts(row: row), let record = try? row.blob("record")
        else { return "facts that can be read" }
        return facts.record == record ? nil : "the record that is made from the row's facts"
    }
}

extension Row {
    fileprivate func hasColumn(_ name: String) -> Bool { (try? value(name)) != nil }

    /// Reads a column's value. Nil if an older schema has no such column.
    fileprivate func optional<Value>(
        _ name: String, _ read: (Row) -> (String) throws -> Value?
    ) throws -> Value? {
        hasColumn(name) ? try read(self)(name) : nil
    }
}
