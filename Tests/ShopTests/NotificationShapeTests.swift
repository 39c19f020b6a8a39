// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import StoreWire
import Testing

@testable import Shop

/// A notification by hand has the fields of the one that its event causes.
@Suite(.timeLimit(.minutes(5))) struct NotificationShapeTests {
    typealias Object = [String: Any]

    /// The objects of a notification, as JSON.
    private struct Shape {
        let body: Object
        let data: Object
        let sale: Object
        let renewal: Object

        init(_ signedPayload: String) throws {
            body = try Self.object(signedPayload)
            let data = body["data"] as? Object
            self.data = data ?? [:]
            sale = try Self.object(data?["signedTransactionInfo"] as? String)
            renewal = try Self.object(data?["signedRenewalInfo"] as? String)
        }

        private static func object(_ signed: String?) throws -> Object {
            guard let signed else { return [:] }
            let body = String(signed.split(separator: ".")[1])
                .replacing("-", with: "+").replacing("_", with: "/")
            let padded = body + String(repeating: "=", count: (4 - body.count % 4) % 4)
            let json = try JSONSerialization.jsonObject(
                with: try #require(Data(base64Encoded: padded)))
            return try #require(json as? Object)
        }

        /// Which fields there are. Win-back offers depend on the catalogue.
        var fields: [String: Set<String>] {
            [
                "body": Set(body.keys), "data": Set(data.keys), "transaction": Set(sale.keys),
                "renewal": Set(renewal.keys).subtracting(["eligibleWinBackOfferIds"]),
                "summary": Set((body["summary"] as? Object ?? [:]).keys),
            ]
        }

        /// What the event decides, and not the product.
        var facts: [String: String] {
            let decided: [(Object, [String])] = [
                (data, ["status"]),
                (sale, ["revocationReason", "revocationType"]),
                (
                    renewal,
                    [
                        "autoRenewStatus", "expirationIntent", "isInBillingRetryPeriod",
                        "priceIncreaseStatus", "offerType", "offerDiscountType",
                    ]
                ),
            ]
            return decided.reduce(into: [:]) { facts, part in
                for name in part.1 { facts[name] = part.0[name].map { "\($0)" } }
            }
        }
    }

    private func world() async throws -> TestWorld {
        let world = try await TestWorld.openWithSubscriptions()
        try await world.realm.catalogue.setNotificationURL(
            TestWorld.url, bundleID: TestWorld.bundleID.value, TestWorld.context)
        return world
    }

    private func shape(
        byHand kind: String, _ world: TestWorld, transaction: String? = nil
    ) async throws -> Shape {
        let parts = kind.split(separator: "/").map(String.init)
        let bundleID = transaction == nil ? "com.example.nobody" : TestWorld.bundleID.value
        return try Shape(
            try await world.realm.merchant.signNotification(
                SignNotificationRequest(
                    bundleId: bundleID, notificationType: parts[0],
                    subtype: parts.count > 1 ? parts[1] : nil, transactionId: transaction),
                TestWorld.context
            ).signedPayload)
    }

    /// The notification of a kind that the last of the commands causes.
    private func shape(
        ofCaused kind: String, _ commands: [String], _ world: TestWorld
    ) async throws -> Shape {
        let courier = ScriptedCourier()
        for (n, command) in commands.enumerated() {
            try await NotificationCauseTests().run(command, n, world)
            try await world.attempt(courier)
        }
        let last = try courier.parcels.last { parcel in
            let payload = try world.opened(parcel)
            let subtype = payload.subtype.map { "/\($0)" } ?? ""
            return (payload.notificationType ?? "") + subtype == kind
        }
        let body = try JSONDecoder().decode(
            ResponseBodyV2.self, from: Data(try #require(last).body))
        return try Shape(body.signedPayload)
    }

    /// A revocation by an operator is without a family, and has no type.
    @Test(
        arguments: NotificationCauseTests.table.split(separator: "\n").map(String.init).filter {
            !$0.hasPrefix("REVOKE ")
        })
    func `one by hand has the fields of the one that its event causes`(
        line: String
    ) async throws {
        let sides = line.split(separator: "|").map { $0.split(separator: " ").map(String.init) }
        let kind = sides[0][0]
        let world = try await world()
        let caused = try await shape(ofCaused: kind, sides[1], world)

        let invented = try await shape(byHand: kind, world)

        #expect(invented.fields == caused.fields)
        #expect(invented.facts == caused.facts)
    }

    @Test func `one that a member of the family gets is invented with that ownership`()
        async throws
    {
        let sale = try await shape(byHand: "REVOKE", try await world()).sale
        #expect(sale["inAppOwnershipType"] as? String == "FAMILY_SHARED")
        #expect(sale["type"] as? String == "Non-Consumable")
        #expect(sale["revocationType"] as? String == "FAMILY_REVOKE")
        #expect(sale["revocationDate"] != nil && sale["revocationReason"] as? Int == 0)
    }

    /// The events whose marks a subscription that was only bought does not have.
    static let marked = [
        "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
        "DID_FAIL_TO_RENEW", "DID_FAIL_TO_RENEW/GRACE_PERIOD", "EXPIRED",
        "EXPIRED/BILLING_RETRY", "EXPIRED/PRICE_INCREASE", "EXPIRED/PRODUCT_NOT_FOR_SALE",
        "EXPIRED/VOLUNTARY", "GRACE_PERIOD_EXPIRED", "OFFER_REDEEMED", "OFFER_REDEEMED/DOWNGRADE",
        "OFFER_REDEEMED/UPGRADE", "PRICE_INCREASE/ACCEPTED", "PRICE_INCREASE/PENDING",
    ]

    @Test(arguments: marked)
    func `an existing subscription is told as the event would have left it`(
        kind: String
    ) async throws {
        let world = try await world()
        let id = try await world.sell("news", 1, try await world.session())
        let line = try #require(
            NotificationCauseTests.table.split(separator: "\n").first {
                $0.hasPrefix("\(kind) ")
            })
        let commands = line.split(separator: "|")[1].split(separator: " ").map(String.init)
        let caused = try await shape(ofCaused: kind, commands, try await self.world())

        let told = try await shape(byHand: kind, world, transaction: id)

        #expect(told.fields == caused.fields)
        #expect(told.facts == caused.facts)
        #expect(told.sale["transactionId"] as? String == id)
        if kind.hasSuffix("DOWNGRADE") {
            #expect(told.renewal["autoRenewProductId"] as? String == "small")
        }
        if let status = told.data["status"] as? Int, status != 1 {
            let end = try #require(told.sale["expiresDate"] as? Int)
            #expect(Int64(end) <= world.wall.clock.now.milliseconds, "its period has ended")
        }
        let stored = try await world.realm.subscriptions.list().subscriptions.first
        #expect(stored?.status == "active", "nothing is stored")
    }

    @Test func `an existing purchase is told as refunded, and as given back`() async throws {
        let world = try await world()
        let session = try await world.session()
        let pro = try await world.sell("pro", 1, session)
        let news = try await world.sell("news", 2, session)

        let refunded = try await shape(byHand: "REFUND", world, transaction: pro).sale
        let period = try await shape(byHand: "REFUND", world, transaction: news)
        let revoked = try await shape(byHand: "REVOKE", world, transaction: pro).sale
        try await world.decide(pro, "granted", "full")
        let restored = try await shape(byHand: "REFUND_REVERSED", world, transaction: pro).sale

        #expect(refunded["revocationType"] as? String == "REFUND_FULL")
        #expect(refunded["revocationDate"] != nil && refunded["revocationReason"] != nil)
        #expect(period.facts["status"] == "5" && period.facts["autoRenewStatus"] == "0")
        #expect(revoked["revocationDate"] != nil && revoked["revocationType"] == nil)
        #expect(restored["revocationDate"] == nil && restored["revocationReason"] == nil)
    }
}
