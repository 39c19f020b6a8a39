// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StoreWire
import TestSupport
import Testing

@testable import LedgerServer

/// `docs/ledger-openapi.json` against the routes, and against the fields of the
/// answers' types.
@Suite struct LedgerPageTests {
    private struct Page: Decodable {
        struct Operation: Decodable {
            let tags: [String]
            let security: [[String: [String]]]
        }

        struct Schema: Decodable {
            let required: [String]?
            let properties: [String: Anything]?
        }

        struct Anything: Decodable {}

        struct Components: Decodable { let schemas: [String: Schema] }

        let paths: [String: [String: Operation]]
        let components: Components
    }

    private static func page() throws -> Page {
        let path = try PackageRoot.path() + "/docs/ledger-openapi.json"
        return try JSONDecoder().decode(
            Page.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    @Test func `the file has every route with its key, and no other`() throws {
        var documented: [String: String] = [:]
        for (path, operations) in try Self.page().paths {
            let pattern = path.replacing(#/\{[a-zA-Z]+\}/#, with: "{}")
            for (method, operation) in operations {
                #expect(
                    operation.security.isEmpty == (operation.tags == ["Public"]), "\(path)")
                documented["\(method.uppercased()) \(pattern)"] = operation.tags.first
            }
        }

        let served = Dictionary(
            uniqueKeysWithValues: LedgerRoutes.table.all.map { route in
                let tag =
                    switch route.access {
                    case .probe, .signed, .open: "Public"
                    case .merchant: "Merchant"
                    case .app: "App"
                    case .metrics: "Metrics"
                    }
                return ("\(route.method) \(route.pattern)", tag)
            })
        #expect(documented == served)
    }

    /// Values with every field, as they travel.
    private static func values() -> [(String, any Encodable)] {
        let purchase = LedgerPurchase(
            rootFingerprint: "a", environment: "Sandbox", bundleId: "b", transactionId: "1",
            originalTransactionId: "1", productId: "p", type: "Consumable",
            purchaseDate: .init(milliseconds: 1), quantity: 1, unspent: 1, account: "a",
            revocationDate: .init(milliseconds: 1), revocationReason: 1, revision: 1)
        let redemption = LedgerRedemption(
            account: "a", idempotencyKey: "k", purpose: "p", rootFingerprint: "a",
            environment: "Sandbox", bundleId: "b", productId: "p", transactionId: "1", unit: 1,
            redeemedDate: .init(milliseconds: 1))
        let proof = WaitingProofReport(
            proof: "p", kind: "receipt", bundleId: "b", keptDate: .init(milliseconds: 1),
            attempts: 1, nextDate: .init(milliseconds: 1), trouble: "t", refusal: "r")
        let forward = ForwardReport(
            url: "u", waiting: 1, parked: 1, oldestDate: .init(milliseconds: 1), trouble: "t")
        let difference = LedgerDifference(
            kind: "factsDiffer", environment: "Sandbox", bundleId: "b", transactionId: "1",
            field: "quantity", isFixed: false, refusal: "r")
        return [
            ("Purchase", purchase), ("Redemption", redemption),
            (
                "Reservation",
                LedgerReservation(
                    account: "a", idempotencyKey: "k", purpose: "p", rootFingerprint: "a",
                    environment: "Sandbox", bundleId: "b", productId: "p", transactionId: "1",
                    state: "held", reservedDate: .init(milliseconds: 1),
                    expiresDate: .init(milliseconds: 1), redemption: redemption)
            ),
            (
                "ReceiptTaken",
                ReceiptTaken(
                    bundleId: "b", environment: "Sandbox", purchases: [purchase], refused: [])
            ),
            (
                "NotificationTaken",
                NotificationTaken(
                    notificationType: "TEST", notificationUUID: "u", purchase: purchase)
            ),
            (
                "Unspent",
                UnspentPurchases(
                    account: "a", environment: "Sandbox", purchases: [], next: "n")
            ),
            (
                "Entitlement",
                LedgerEntitlement(
                    name: "n", isActive: true, startDate: .init(milliseconds: 1),
                    endDate: .init(milliseconds: 1), productId: "p", transactionId: "1", why: "w")
            ),
            (
                "Entitlements",
                AccountEntitlements(account: "a", environment: "Sandbox", entitlements: [])
            ),
            (
                "EntitlementReason",
                EntitlementReason(
                    account: "a", environment: "Sandbox", name: "n", isActive: true, why: "w",
                    purchases: [], grantedBy: [])
            ),
            (
                "EntitlingPurchase",
                EntitlingPurchase(
                    transactionId: "1", productId: "p", startDate: .init(milliseconds: 1),
                    endDate: .init(milliseconds: 1), end: "never")
            ),
            (
                "SignedEntitlements",
                SignedEntitlements(signedEntitlements: "s", expiresDate: .init(milliseconds: 1))
            ),
            ("PublicKeys", LedgerPublicKeys(keys: [])),
            (
                "Balance",
                LedgerBalance(currency: "c", balance: 1, granted: 1, spent: 1, writtenOff: 1)
            ),
            ("Balances", AccountBalances(account: "a", environment: "Sandbox", balances: [])),
            (
                "Spend",
                SpendRequest(
                    idempotencyKey: "k", currency: "c", amount: 1, purpose: "p",
                    environment: "Sandbox")
            ),
            (
                "Spending",
                LedgerSpending(
                    account: "a", environment: "Sandbox", idempotencyKey: "k", currency: "c",
                    amount: 1, purpose: "p", entry: 1, balance: 1,
                    spentDate: .init(milliseconds: 1))
            ),
            (
                "Event",
                LedgerEvent(
                    date: .init(milliseconds: 1), kind: "k", text: "t", transactionId: "1",
                    idempotencyKey: "k")
            ),
            (
                "History",
                AccountHistory(account: "a", environment: "Sandbox", events: [], next: "n")
            ),
            (
                "Product",
                LedgerProduct(
                    productId: "p", environment: "Sandbox", purchases: 1, claimed: 1,
                    granted: 1, isConfigured: true)
            ),
            ("Products", LedgerProducts(products: [])),
            ("GrantsApplied", GrantsApplied(granted: 1, left: 1)),
            ("TakePurchase", TakePurchaseRequest(signedTransaction: "s", account: "a")),
            ("TakeReceipt", TakeReceiptRequest(receipt: "r", account: "a", mode: "local")),
            (
                "TakeTransaction",
                TakeTransactionRequest(
                    transactionId: "1", account: "a", bundleId: "b", environment: "Sandbox")
            ),
            (
                "ProofKept",
                ProofKept(proof: "p", keptDate: .init(milliseconds: 1), message: "m")
            ),
            ("WaitingProof", proof),
            ("WaitingProofs", WaitingProofs(account: "a", proofs: [proof])),
            ("Forward", forward), ("Forwards", ForwardReports(forwards: [forward])),
            ("Unpark", UnparkRequest(url: "u")),
            ("Reconcile", ReconcileRequest(account: "a", after: "b", fix: true)),
            ("Difference", difference),
            (
                "Reconciliation",
                ReconcileReport(
                    account: "a", checked: 1, differences: [difference], next: "a")
            ),
            (
                "CreateKey", CreateLedgerKeyRequest(name: "n", scope: "app")
            ),
            (
                "CreatedKey",
                CreatedLedgerKey(
                    keyId: "i", name: "n", scope: "app", key: "k",
                    createdDate: .init(milliseconds: 1))
            ),
            (
                "KeyRecord",
                LedgerKeyRecord(
                    keyId: "i", name: "n", scope: "app", createdDate: .init(milliseconds: 1),
                    revokedDate: .init(milliseconds: 1))
            ),
            ("KeyRecords", LedgerKeys(keys: [])),
            (
                "AuditEntry",
                LedgerAuditEntry(
                    date: .init(milliseconds: 1), actor: "a", action: "a", account: "a",
                    subject: "s")
            ),
            ("Audit", LedgerAudit(entries: [], next: "n")),
            ("Restore", RestoreRequest(signedTransaction: "s", dryRun: true)),
            (
                "RestoreOutcome",
                RestoreOutcome(
                    account: "a", policy: "keep", outcome: "kept", isDryRun: true,
                    environment: "Sandbox", transactionId: "1", productId: "p", units: 1,
                    entitlements: [], credits: [])
            ),
            ("MergeAccount", MergeAccountRequest(into: "b")),
            (
                "AccountMerge",
                AccountMerge(account: "a", into: "b", mergedDate: .init(milliseconds: 1))
            ),
            (
                "AccountExport",
                AccountExport(
                    account: "a", exportedDate: .init(milliseconds: 1), tables: [:])
            ),
            (
                "AccountErasure",
                AccountErasure(
                    erasedDate: .init(milliseconds: 1), accounts: 1, notifications: 1)
            ),
            (
                "Webhook",
                WebhookReport(
                    url: "u", messageId: "m", type: "t", account: "a", state: "sent",
                    createdDate: .init(milliseconds: 1), attempts: 1,
                    nextDate: .init(milliseconds: 1), sentDate: .init(milliseconds: 1),
                    trouble: "t")
            ),
            ("Webhooks", WebhookReports(webhooks: [], next: "n")),
            ("WebhooksRequest", WebhooksRequest(url: "u", messageIds: ["m"])),
            ("WebhooksChanged", WebhooksChanged(changed: 1)),
            ("TokenRequest", AccountTokenRequest(seconds: 1)),
            (
                "IssuedToken",
                IssuedAccountToken(
                    account: "a", token: "t", expiresDate: .init(milliseconds: 1))
            ),
            (
                "Redeem",
                RedeemRequest(
                    idempotencyKey: "k", transactionId: "1", productId: "p", purpose: "p",
                    environment: "Sandbox", bundleId: "b")
            ),
            (
                "Reserve",
                ReserveRequest(
                    idempotencyKey: "k", transactionId: "1", productId: "p", purpose: "p",
                    environment: "Sandbox", bundleId: "b", seconds: 1)
            ),
        ]
    }

    @Test func `every field of a type is in its schema, and no other`() throws {
        let schemas = try Self.page().components.schemas
        for (name, value) in Self.values() {
            let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value))
            let fields = try #require(object as? [String: Any])
            let schema = try #require(schemas[name])
            #expect(Set(fields.keys) == Set(try #require(schema.properties).keys), "\(name)")
        }
    }
}
