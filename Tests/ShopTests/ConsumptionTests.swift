// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import StoreWire
import Testing

@testable import Shop

/// What a merchant reports about a purchase whose money was asked for.
@Suite(.timeLimit(.minutes(5))) struct ConsumptionTests {
    static func body(_ fields: String = "") -> [UInt8] {
        Array(
            #"{"customerConsented":true,"sampleContentProvided":false,"#.utf8)
            + Array(#""deliveryStatus":"DELIVERED"\#(fields)}"#.utf8)
    }

    @Test func `a report is kept with the request, and the request decided by it`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let id = try await world.sell("credits.5", 1, session)
        let asked = try await world.decide(id, "requested")
        let merchant = try await world.merchant()

        try await merchant.reportConsumption(
            of: id, Self.body(#","consumptionPercentage":75000"#), TestWorld.context)
        let decided = try await world.decide(id, "advised", reason: "issueWithApp")

        #expect(asked.refund.advice == "full", "nothing was reported")
        #expect(decided.refund.report?.consumptionPercentage == 75_000)
        #expect(decided.refund.state == "granted" && decided.refund.kind == "prorated")
        #expect(decided.refund.percentage == 25_000 && decided.refund.sum == 240)
        let revoked = try await world.realm.purchases.transaction(id).payload
        #expect(revoked.revocationType == "REFUND_PRORATED")
        #expect(revoked.revocationPercentage == 25_000 && revoked.revocationReason == 1)
        let events = try await world.realm.subscriptions.history(
            of: session.customer.description
        ).events
        #expect(events.map(\.kind) == ["refundRequested", "refundReported", "refundGranted"])
        #expect(events.map(\.cause) == ["tester", "merchant", "operator"])
        let audit = try await world.realm.auditEntries().entries.map(\.deed)
        #expect(audit.last == "refund.follow")
    }

    @Test func `the first version is kept whole, and declines by the merchant's preference`()
        async throws
    {
        let world = try await TestWorld.openWithSubscriptions()
        let id = try await world.sell("credits.5", 1, try await world.session())
        _ = try await world.decide(id, "requested")
        let merchant = try await world.merchant()
        let body = #"""
            {"customerConsented":true,"consumptionStatus":2,"platform":1,
             "sampleContentProvided":true,"deliveryStatus":0,"appAccountToken":"",
             "accountTenure":7,"playTime":1,"lifetimeDollarsRefunded":0,
             "lifetimeDollarsPurchased":3,"userStatus":1,"refundPreference":2}
            """#

        try await merchant.reportConsumptionV1(of: id, Array(body.utf8), TestWorld.context)
        let decided = try await world.decide(id, "advised")

        #expect(decided.refund.state == "declined" && decided.refund.report?.version == 1)
        #expect(decided.refund.report?.refundPreference == "DECLINE")
    }

    @Test func `a report without a request is accepted and not kept`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let id = try await world.sell("pro", 1, try await world.session())
        let merchant = try await world.merchant()

        try await merchant.reportConsumption(of: id, Self.body(), TestWorld.context)

        #expect(try await world.realm.refunds.list().refunds.isEmpty)
        let none = try await refusal { try await world.decide(id, "advised") }
        #expect(none.error.code == "refundNotRequested")
    }

    @Test func `an order is found by its id, and another app's is not`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let id = try await world.sell("pro", 1, try await world.session())
        let order = try #require(try await world.realm.purchases.transaction(id).orderId)
        let merchant = try await world.merchant()

        let found = try await merchant.lookUp(order: order.lowercased())
        let other = try await world.merchant("com.example.other").lookUp(order: order)
        let none = try await merchant.lookUp(order: "M9999999999")

        #expect(found.status == 0)
        #expect(try world.verified(found.signedTransactions?.first).transactionId == id)
        #expect(other == OrderLookupResponse(status: 1) && none == other)
    }

    @Test func `an app transaction says when the customer got the app`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let id = try await world.sell("pro", 1, session)
        let merchant = try await world.merchant()

        let told = try await merchant.appTransaction(of: id).signedAppTransactionInfo

        let parts = told.split(separator: ".")
        let bytes = try #require(Base64URL.decoded(String(parts[1])))
        let payload = try JSONDecoder().decode(
            JWSAppTransactionDecodedPayload.self, from: bytes)
        let sold = try await world.realm.purchases.transaction(id).payload
        #expect(payload.receiptType == "Sandbox" && payload.appAppleId == nil)
        #expect(payload.bundleId == TestWorld.bundleID.value)
        #expect(payload.originalPurchaseDate == session.originalPurchasedAt)
        #expect(payload.applicationVersion == "2.1")
        #expect(payload.appTransactionId == sold.appTransactionId)
        let own = try await merchant.appTransaction(of: sold.appTransactionId ?? "")
        #expect(own.signedAppTransactionInfo.split(separator: ".").count == 3)
    }
}

private enum Base64URL {
    static func decoded(_ text: String) -> Data? {
        let plain = text.replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
    }
}

extension TestWorld {
    /// A merchant's server of an app, with a token that is good.
    func merchant(_ bundleID: String = TestWorld.bundleID.value) async throws -> Merchant {
        if try await realm.catalogue.apps().allSatisfy({ $0.bundleID.value != bundleID }) {
            try await realm.catalogue.putCatalogue(
                Self.catalogue(), app: AppDescription(bundleID: BundleID(bundleID)))
        }
        return try await realm.merchant.admit(bearer: try await bearer(bundleID))
    }
}
