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
                    case .probe, .signed: "Public"
                    case .merchant: "Merchant"
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
            ("TakePurchase", TakePurchaseRequest(signedTransaction: "s", account: "a")),
            ("TakeReceipt", TakeReceiptRequest(receipt: "r", account: "a")),
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
