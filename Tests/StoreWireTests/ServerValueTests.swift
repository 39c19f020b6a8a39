// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import StoreWire
import TestSupport
import Testing

@Suite(.unforgiven) struct ServerValueTests {
    private static var bought: JWSTransactionDecodedPayload {
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = "2000000000001007"
        payload.originalTransactionId = "2000000000001007"
        payload.bundleId = "com.example.zoo"
        payload.productId = "zoo.bananas.5"
        payload.purchaseDate = Timestamp(milliseconds: 1_795_235_226_007)
        payload.originalPurchaseDate = Timestamp(milliseconds: 1_795_235_226_007)
        payload.quantity = 3
        payload.type = "Consumable"
        payload.inAppOwnershipType = "PURCHASED"
        payload.signedDate = Timestamp(milliseconds: 1_795_235_226_008)
        payload.environment = "Sandbox"
        payload.storefront = "USA"
        payload.storefrontId = "143441"
        payload.transactionReason = "PURCHASE"
        payload.price = 5970
        payload.currency = "USD"
        payload.appTransactionId = "4000000000001007"
        return payload
    }

    private static let boughtFields =
        #""appTransactionId":"4000000000001007","bundleId":"com.example.zoo","#
        + #""currency":"USD","environment":"Sandbox","inAppOwnershipType":"PURCHASED","#
        + #""originalPurchaseDate":1795235226007,"#
        + #""originalTransactionId":"2000000000001007","price":5970,"#
        + #""productId":"zoo.bananas.5","purchaseDate":1795235226007,"quantity":3,"#
        + #""signedDate":1795235226008,"storefront":"USA","storefrontId":"143441","#
        + #""transactionId":"2000000000001007","transactionReason":"PURCHASE","#
        + #""type":"Consumable""#

    @Test func `a transaction leaves out what it has not`() throws {
        try expectGolden(Self.bought, "{" + Self.boughtFields + "}")
        try expectGolden(JWSTransactionDecodedPayload(), "{}")
    }

    @Test func `answers of the server API`() throws {
        try expectGolden(
            TransactionInfoResponse(signedTransactionInfo: "a.b.c"),
            #"{"signedTransactionInfo":"a.b.c"}"#)
        try expectGolden(
            AppleErrorResponse.transactionIdNotFound,
            #"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#)
    }

    @Test func `an error's number begins with the status`() {
        let errors: [(AppleErrorResponse, Int)] = [
            (.invalidTransactionId, 400), (.appTransactionIdNotSupported, 400),
            (.appNotFound, 404), (.transactionIdNotFound, 404), (.generalInternal, 500),
        ]
        for (error, status) in errors { #expect(error.errorCode / 10_000 == status) }
    }

    @Test func `an operator's record is the payload and more in one object`() throws {
        let record = TransactionRecord(
            payload: Self.bought, signedTransactionInfo: "a.b.c", customerId: "1000000000001007",
            purchaseId: "p", unitPrice: 1990, isFinished: false)
        let printed = try JSONEncoder().encode(record)
        let object = try #require(
            try JSONSerialization.jsonObject(with: printed) as? [String: Any])
        #expect(object.count == 17 + 5)
        #expect(object["transactionId"] as? String == "2000000000001007")
        #expect(object["signedTransactionInfo"] as? String == "a.b.c")
        #expect(try JSONDecoder().decode(TransactionRecord.self, from: printed) == record)
    }

    @Test(arguments: Seeds.all)
    func `any transaction survives printing and reading`(seed: UInt64) throws {
        var generator = SeededGenerator(seed)
        for _ in 0..<200 {
            let payload = Self.random(&generator)
            let json = try JSONEncoder().encode(payload)
            #expect(!String(decoding: json, as: UTF8.self).contains(":null"))
            #expect(
                try JSONDecoder().decode(JWSTransactionDecodedPayload.self, from: json) == payload)
        }
    }

    private static func random(
        _ generator: inout SeededGenerator
    ) -> JWSTransactionDecodedPayload {
        var payload = JWSTransactionDecodedPayload()
        func text() -> String? {
            // A text that looks like a null would spoil the look for nulls.
            generator.boolean() ? "t" + generator.text(upTo: 12).filter { $0 != ":" } : nil
        }
        func date() -> Timestamp? {
            generator.boolean()
                ? Timestamp(milliseconds: generator.integer(in: 0...253_402_300_799_999)) : nil
        }
        payload.transactionId = text()
        payload.originalTransactionId = text()
        payload.webOrderLineItemId = text()
        payload.bundleId = text()
        payload.productId = text()
        payload.subscriptionGroupIdentifier = text()
        payload.purchaseDate = date()
        payload.originalPurchaseDate = date()
        payload.expiresDate = date()
        payload.quantity = generator.boolean() ? generator.integer(in: 1...10) : nil
        payload.type = text()
        payload.appAccountToken = text()
        payload.signedDate = date()
        payload.revocationDate = date()
        payload.revocationReason = generator.boolean() ? 1 : nil
        payload.isUpgraded = generator.boolean() ? generator.boolean() : nil
        payload.offerType = generator.boolean() ? 3 : nil
        payload.offerIdentifier = text()
        payload.storefront = text()
        payload.price =
            generator.boolean() ? generator.integer(in: 0...Amount.milliunitsMax) : nil
        payload.currency = text()
        return payload
    }
}

@Suite struct OperatorValueTests {
    private let made = Timestamp(milliseconds: 5)

    @Test func `realms and their clock`() throws {
        try expectGolden(
            RealmList(realms: [
                RealmSummary(
                    id: "r", name: "n", environment: .sandbox, seed: nil, createdDate: made)
            ]),
            #"{"realms":[{"createdDate":5,"environment":"Sandbox","id":"r","name":"n"}]}"#)
        try expectGolden(
            CreateRealmRequest(name: "n", environment: .sandbox, seed: 7),
            #"{"environment":"Sandbox","name":"n","seed":7}"#)
        try expectGolden(CreateRealmRequest(name: "n"), #"{"name":"n"}"#)
        try expectGolden(
            ClockDescription(now: made, isStanding: true, offsetMilliseconds: nil),
            #"{"isStanding":true,"now":5}"#)
        try expectGolden(
            ClockDescription(now: made, isStanding: false, offsetMilliseconds: 7, rate: 60),
            #"{"isStanding":false,"now":5,"offsetMilliseconds":7,"rate":60}"#)
        try expectGolden(MoveClockRequest(rate: 60), #"{"rate":60}"#)
        try expectGolden(
            AppSettings(
                bundleId: "b", timeRate: 0, speed: 1, asksToBuy: true,
                interruptsPurchases: false,
                failsRenewals: false, hasGracePeriod: false, disablesDialogs: false,
                errors: [FailingCall(call: "Purchase", kind: "generic", error: "unknown")],
                unobeyed: ["s"]),
            #"{"asksToBuy":true,"bundleId":"b","disablesDialogs":false,"errors":["#
                + #"{"call":"Purchase","error":"unknown","kind":"generic"}],"#
                + #""failsRenewals":false,"hasGracePeriod":false,"interruptsPurchases":false,"#
                + #""speed":1,"timeRate":0,"unobeyed":["s"]}"#)
        try expectGolden(MoveClockRequest(standAt: made), #"{"standAt":5}"#)
        try expectGolden(
            MoveClockRequest(advanceMilliseconds: 60_000), #"{"advanceMilliseconds":60000}"#)
    }

    @Test func `customers and server keys`() throws {
        try expectGolden(
            CustomerList(customers: [
                CustomerSummary(
                    customerId: "1", name: "blob", storefront: "USA", canMakePayments: true,
                    asksToBuy: true, hasPassword: false, createdDate: made)
            ]),
            #"{"customers":[{"asksToBuy":true,"canMakePayments":true,"createdDate":5,"customerId":"1","#
                + #""hasPassword":false,"interruptsPurchases":false,"name":"blob","#
                + #""storefront":"USA"}]}"#)
        try expectGolden(
            CreateCustomerRequest(name: "b", email: "b@x", interruptsPurchases: true),
            #"{"email":"b@x","interruptsPurchases":true,"name":"b"}"#)
        try expectGolden(CreateCustomerRequest(name: "blob"), #"{"name":"blob"}"#)
        try expectGolden(
            ServerKeyList(serverKeys: [
                ServerKeySummary(keyId: "K", issuerId: "I", bundleId: "b", createdDate: made)
            ]),
            #"{"serverKeys":[{"bundleId":"b","createdDate":5,"issuerId":"I","keyId":"K"}]}"#)
        try expectGolden(
            CreatedServerKey(keyId: "K", issuerId: "I", bundleId: "b", privateKey: "PEM"),
            #"{"bundleId":"b","issuerId":"I","keyId":"K","privateKey":"PEM"}"#)
        try expectGolden(CreateServerKeyRequest(bundleId: "b"), #"{"bundleId":"b"}"#)
        try expectGolden(ServerStatus(status: "ok"), #"{"status":"ok"}"#)
    }
}
