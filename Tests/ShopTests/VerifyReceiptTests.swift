// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import StoreWire
import TestSupport
import Testing

@testable import Shop

/// verifyReceipt, as a merchant's server asks it.
@Suite(.timeLimit(.minutes(5))) struct VerifyReceiptTests {
    typealias Object = [String: Any]

    @Test func `a receipt of a subscription is returned with what is true now`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        for (n, product) in ["credits.5", "pro", "news"].enumerated() {
            try await world.buy(product, purchaseID(n), session: session)
        }
        let old = try await world.receiptText(session)
        let secret = try await world.secret()
        _ = try await world.realm.moveClock(
            MoveClockRequest(advancePeriod: "P45D"), TestWorld.context)
        _ = try await world.realm.keeping.workOnce()

        let answer = try await world.verify(old, password: secret)

        #expect(answer["status"] as? Int == 0 && answer["environment"] as? String == "Sandbox")
        let receipt = try #require(answer["receipt"] as? Object)
        #expect(receipt["receipt_type"] as? String == "ProductionSandbox")
        #expect(receipt["bundle_id"] as? String == TestWorld.bundleID.value)
        #expect(receipt["adam_id"] as? Int == 0 && receipt["download_id"] as? Int == 0)
        let bought = try #require(receipt["in_app"] as? [Object])
        #expect(bought.map { $0["product_id"] as? String } == ["credits.5", "pro", "news"])
        #expect(bought[1]["is_in_intro_offer_period"] == nil && bought[1]["expires_date"] == nil)
        let latest = try #require(answer["latest_receipt_info"] as? [Object])
        #expect(
            latest.map { $0["product_id"] as? String } == ["news", "news", "pro", "credits.5"])
        #expect(latest[0]["in_app_ownership_type"] as? String == "PURCHASED")
        #expect(latest[0]["subscription_group_identifier"] as? String == "g")
        let pending = try #require((answer["pending_renewal_info"] as? [Object])?.first)
        #expect(pending["auto_renew_status"] as? String == "1")
        #expect(
            pending["original_transaction_id"] as? String == bought[2]["transaction_id"] as? String)
        let short = try await world.verify(old, password: secret, isShort: true)
        #expect((short["latest_receipt_info"] as? [Object])?.count == 3)
        try await world.checkNewest(answer, for: session, count: 4)
    }

    /// Every text field's type, and each date three times.
    @Test func `dates come three times, and all values of purchases are texts`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let id = try await world.sell("news", 1, session)
        _ = try await world.decide(id, "granted", reason: "issueWithApp")

        let answer = try await world.verify(
            try await world.receiptText(session), password: try await world.secret())

        let latest = try #require((answer["latest_receipt_info"] as? [Object])?.first)
        #expect(latest.values.allSatisfy { $0 is String })
        for name in [
            "purchase_date", "original_purchase_date", "expires_date", "cancellation_date",
        ] {
            let milliseconds = try #require(Int64(latest[name + "_ms"] as? String ?? ""))
            let date = Timestamp(milliseconds: milliseconds)
            #expect(latest[name] as? String == date.receiptText(inPacificTime: false))
            #expect(latest[name + "_pst"] as? String == date.receiptText(inPacificTime: true))
            #expect(milliseconds % 1000 == 0)
        }
        #expect(latest["cancellation_reason"] as? String == "1")
        let receipt = try #require(answer["receipt"] as? Object)
        for name in ["receipt_creation_date", "request_date", "original_purchase_date"] {
            #expect(receipt[name] is String && receipt[name + "_ms"] is String)
            #expect((receipt[name + "_pst"] as? String)?.hasSuffix("America/Los_Angeles") == true)
        }
    }

    @Test func `without subscriptions there is the receipt alone, and no secret is needed`()
        async throws
    {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        try await world.buy("pro", purchaseID(1), session: session)

        let answer = try await world.verify(try await world.receiptText(session))

        #expect(Set(answer.keys) == ["status", "environment", "receipt"])
        _ = try await world.secret()
        let wrong = try await world.verify(
            try await world.receiptText(session), password: "0123456789abcdef0123456789abcdef")
        #expect(wrong["status"] as? Int == 21_004 && wrong.count == 1)
    }

    @Test func `the flag for old transactions has several forms`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        try await world.buy("news", purchaseID(1), session: session)
        try await world.jump(Period(1, .month))
        let (receipt, secret) = (try await world.receiptText(session), try await world.secret())
        func answer(_ flag: String) async throws -> Object {
            try await world.answer(
                #"{"receipt-data":"\#(receipt)","password":"\#(secret)","#
                    + #""exclude-old-transactions":\#(flag)}"#)
        }

        for (flag, count) in [
            ("true", 1), (#""true""#, 1), ("1", 1), (#""1""#, 1), ("false", 2), (#""false""#, 2),
            ("0", 2), (#""0""#, 2), ("null", 2),
        ] {
            let latest = try await answer(flag)["latest_receipt_info"] as? [Object]
            #expect(latest?.count == count, "\(flag)")
        }
        for flag in ["2", "-1", #""yes""#, "[]"] {
            #expect(try await answer(flag)["status"] as? Int == 21_002, "\(flag)")
        }
    }

    /// A renewal that was charged ahead is dated later than what an upgrade sells now, and
    /// than the period that remains after its refund.
    @Test(arguments: [true, false])
    func `without old transactions there is the one that the status is about`(
        isUpgraded: Bool
    ) async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        let sold = try await world.buy("small", purchaseID(1), session: session)
        let first = try #require(try world.verified(sold.signedTransaction).transactionId)
        let ahead = try await world.realm.subscriptions.renew(first, TestWorld.context)
            .subscription.transactionId
        if isUpgraded {
            _ = try await world.sell("premium", 2, session)
        } else {
            try await world.decide(ahead, "granted")
        }
        let secret = try await world.secret()

        let all = try await world.merchant().statuses(of: first, only: []).data
        let shown = try #require(all.first?.lastTransactions.first)
        let id = try #require(try world.verified(shown.signedTransactionInfo).transactionId)
        let short = try await world.verify(
            try await world.receiptText(session), password: secret, isShort: true)
        let single = try await world.verify(
            Base64.encode(Array(try #require(sold.signedTransaction).utf8)), password: secret)

        #expect(shown.status == 1 && id != ahead && (id == first) != isUpgraded)
        let latest = try #require(short["latest_receipt_info"] as? [Object])
        #expect(latest.map { $0["transaction_id"] as? String } == [id])
        #expect((single["latest_receipt_info"] as? Object)?["transaction_id"] as? String == id)
    }

    /// `weeks`: since the renewal failed.
    @Test(arguments: [(0, 0), (16, 0), (16, 3)])
    func `cancelling in a grace period removes the pending renewal, and at no other time`(
        graceDays: Int, weeks: Int
    ) async throws {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        _ = try await world.realm.catalogue.changeApp(
            TestWorld.bundleID.value, AppChange(gracePeriodDays: graceDays), TestWorld.context)
        let sold = try await world.buy("news", purchaseID(1), session: session)
        let id = try await world.subscription()
        try await world.realm.subscriptions.failBilling(of: id, true, TestWorld.context)
        try await world.jump(Period(1, .month))
        if weeks > 0 { try await world.jump(Period(weeks, .week)) }
        let isInGrace = graceDays > 0 && weeks == 0
        let before = try await world.realm.subscriptions.show(id).status

        try await world.realm.subscriptions.switchRenewal(of: id, on: false, TestWorld.context)

        #expect(before == (isInGrace ? "grace" : "retry"))
        let secret = try await world.secret()
        let answer = try await world.verify(
            try await world.receiptText(session), password: secret)
        let pending = try #require(answer["pending_renewal_info"] as? [Object])
        #expect(pending.map { $0["auto_renew_status"] as? String } == (isInGrace ? [] : ["0"]))
        #expect(pending.allSatisfy { $0["expiration_intent"] as? String == "1" })
        let single = try await world.verify(
            Base64.encode(Array(try #require(sold.signedTransaction).utf8)), password: secret)
        #expect(single["status"] as? Int == 21_006)
        #expect(single["auto_renew_status"] as? Int == (isInGrace ? nil : 0))
        try await world.checkFolds()
    }

    @Test func `each status has its cause`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        _ = try await world.store.createRealm(
            CreateRealmRequest(name: "live", environment: .production, seed: nil))
        let session = try await world.session()
        try await world.buy("news", purchaseID(1), session: session)
        let receipt = try await world.receiptText(session)
        let secret = try await world.secret()
        func status(_ body: String, realm: String? = nil) async throws -> Int? {
            try await world.answer(body, realm: realm)["status"] as? Int
        }
        func body(_ receipt: String, _ password: String) -> String {
            #"{"receipt-data":"\#(receipt)","password":"\#(password)"}"#
        }
        var spoilt = try #require(Base64.decode(Array(receipt.utf8)))
        spoilt[spoilt.count - 1] ^= 1

        #expect(try await status("") == 21_002)
        #expect(try await status("{}") == 21_002)
        #expect(try await status(#"{"receipt-data":7}"#) == 21_002)
        #expect(try await status(body("moon", secret)) == 21_002)
        #expect(try await status(body(Base64.encode([1, 2, 3]), secret)) == 21_002)
        #expect(try await status(body(Base64.encode(spoilt), secret)) == 21_003)
        #expect(try await status(body(receipt, "x")) == 21_004)
        #expect(try await status(#"{"receipt-data":"\#(receipt)"}"#) == 21_004)
        #expect(try await status(body(receipt, secret), realm: "live") == 21_007)
        let live = try await world.store.realm(named: "live")
        let header = ReceiptHeader(
            environment: "Production", bundleID: TestWorld.bundleID, appVersion: "1.0",
            device: [], opaque: [], creationDate: TestWall.start)
        let other = Base64.encode(try live.authority.receipts.sign(header, records: []))
        #expect(try await status(body(other, secret)) == 21_008)
        #expect(try await status(body(other, secret), realm: "live") == 21_003, "no such app")
        #expect(try await status(body(receipt, secret)) == 0)
        for value in ["21002", "21003", "21005", "21009", "21010", "21100", "21199"] {
            _ = try await world.realm.faults.set(
                "verify-receipt", SetFaultRequest(value: value), TestWorld.context)
            let answer = try await world.answer(body(receipt, secret))
            #expect(answer["status"] as? Int == Int(value))
            let retries = [answer["is_retryable"], answer["is-retryable"]].map { $0 as? Bool }
            #expect(retries == (value.hasPrefix("211") ? [true, true] : [nil, nil]))
        }
        try await world.realm.faults.clear("verify-receipt", TestWorld.context)
        _ = try await world.realm.customers.clearHistory(
            ofCustomer: session.customer.description, TestWorld.context)
        #expect(try await status(body(receipt, secret)) == 21_010)
    }

    @Test func `the shared secret selects the realm, production first`() async throws {
        let world = try await TestWorld.openWithSubscriptions()
        _ = try await world.store.createRealm(
            CreateRealmRequest(name: "live", environment: .production, seed: nil))
        let session = try await world.session()
        try await world.buy("news", purchaseID(1), session: session)
        let receipt = try await world.receiptText(session)
        let secret = try await world.secret()
        let first = try await world.verify(receipt, password: secret)
        let realm = try await world.store.realm(named: "live")
        try await realm.catalogue.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: TestWorld.bundleID))

        _ = try await realm.catalogue.makeSharedSecret(
            TestWorld.bundleID.value, given: secret, TestWorld.context)
        let shared = try await world.verify(receipt, password: secret)
        let named = try await world.verify(receipt, password: secret, realm: "default")

        #expect(first["status"] as? Int == 0 && named["status"] as? Int == 0)
        #expect(shared["status"] as? Int == 21_007, "then it is sent to the sandbox")
        let short = try await refusal {
            try await realm.catalogue.makeSharedSecret(
                TestWorld.bundleID.value, given: "short", TestWorld.context)
        }
        #expect(short.error.code == "sharedSecretInvalid")
    }

    /// A server that has several secrets mistakes one for another.
    @Test func `the secret of another realm is a wrong secret, under Apple's names too`()
        async throws
    {
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        try await world.buy("news", purchaseID(1), session: session)
        let receipt = try await world.receiptText(session)
        _ = try await world.secret()
        for (name, environment) in [("live", Environment.production), ("second", .sandbox)] {
            _ = try await world.store.createRealm(
                CreateRealmRequest(name: name, environment: environment, seed: nil))
            let realm = try await world.store.realm(named: name)
            try await realm.catalogue.putCatalogue(
                TestWorld.catalogue(), app: AppDescription(bundleID: TestWorld.bundleID))
            let secret = String(repeating: name == "live" ? "a" : "b", count: 32)
            _ = try await realm.catalogue.makeSharedSecret(
                TestWorld.bundleID.value, given: secret, TestWorld.context)
            let body = #"{"receipt-data":"\#(receipt)","password":"\#(secret)"}"#
            let answer = try await world.answer(body, at: .sandbox)
            #expect(answer["status"] as? Int == 21_004, "\(name)")
        }
    }

    /// Genuine answers have these keys and types; ours has no others, but for the
    /// list.
    @Test func `keys and types are those of genuine answers`() async throws {
        guard let corpus = CorpusLocation.folder else {
            print("skipped: 1 test of genuine answers (SHOPKEEPER_CORPUS names no folder)")
            return
        }
        let world = try await TestWorld.openWithSubscriptions()
        let session = try await world.session()
        for (n, product) in ["pro", "news"].enumerated() {
            try await world.buy(product, purchaseID(n), session: session)
        }
        let ours = try await world.verify(
            try await world.receiptText(session), password: try await world.secret())
        for name in [
            "RevenueCat__purchases-ios__verifyReceiptSample1.txt",
            "imdhemy__appstore-iap__verify_receipt_response.json",
        ] {
            let file = URL(fileURLWithPath: "\(corpus)/receipts/\(name)")
            let genuine = try #require(
                try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? Object)
            let differences = Self.differences(genuine, ours, at: "")
            #expect(differences.subtracting(Self.known) == [], "\(name)")
        }
    }

    /// What ours has besides: fields that are later than the samples.
    private static let known: Set = [
        "+latest_receipt_info.in_app_ownership_type",
        "+latest_receipt_info.subscription_group_identifier",
        "+status", "-latest_receipt_info.is_in_intro_offer_period",
        "-latest_receipt_info.cancellation_reason", "-pending_renewal_info.expiration_intent",
        "-pending_renewal_info.is_in_billing_retry_period",
        "-in_app.is_in_intro_offer_period", "-in_app.web_order_line_item_id",
    ]

    /// `+` a key that ours has alone, `-` one that it lacks, `!` one of another type.
    private static func differences(_ genuine: Object, _ ours: Object, at path: String) -> Set<
        String
    > {
        var found: Set<String> = []
        for (key, value) in genuine {
            guard let mine = ours[key] else {
                found.insert("-\(path)\(key)")
                continue
            }
            switch (value, mine) {
            case (let value as Object, let mine as Object):
                found.formUnion(differences(value, mine, at: ""))
            case (let value as [Object], let mine as [Object]):
                let all = { (list: [Object]) in
                    list.reduce(Object()) { $0.merging($1) { first, _ in first } }
                }
                found.formUnion(differences(all(value), all(mine), at: key + "."))
            default:
                if (value is String) != (mine is String) { found.insert("!\(path)\(key)") }
            }
        }
        for key in ours.keys where genuine[key] == nil { found.insert("+\(path)\(key)") }
        return found
    }
}

extension TestWorld {
    func receiptText(_ session: DeviceSession) async throws -> String {
        let answer = try await realm.purchases.receipt(
            ifNoneMatch: nil, session, Self.context)
        guard case .receipt(let bytes, _) = answer else { return "" }
        return Base64.encode(bytes)
    }

    func secret() async throws -> String {
        let made = try await realm.catalogue.makeSharedSecret(Self.bundleID.value, Self.context)
        return try #require(made.sharedSecret)
    }

    func answer(
        _ body: String, realm: String? = nil, at environment: Environment? = nil
    ) async throws -> [String: Any] {
        let answer = try await store.verifyReceipt(
            realm: realm, at: environment, Self.context
        ) {
            Array(body.utf8)
        }
        let json = try JSONSerialization.jsonObject(with: Data(answer))
        return try #require(json as? [String: Any])
    }

    func verify(
        _ receipt: String, password: String? = nil, isShort: Bool = false, realm: String? = nil
    ) async throws -> [String: Any] {
        var fields = [#""receipt-data":"\#(receipt)""#]
        if let password { fields.append(#""password":"\#(password)""#) }
        if isShort { fields.append(#""exclude-old-transactions":true"#) }
        return try await answer("{\(fields.joined(separator: ","))}", realm: realm)
    }

    /// The newest receipt of an answer is one for the device that had the old one.
    fileprivate func checkNewest(
        _ answer: [String: Any], for session: DeviceSession, count: Int
    ) async throws {
        let text = try #require(answer["latest_receipt"] as? String)
        let bytes = try #require(Base64.decode(Array(text.utf8)))
        let receipt = try ReceiptVerifier(roots: [realm.authority.root])
            .verify(bytes, bundleID: Self.bundleID)
        let device = Self.deviceUUID.filter { $0 != "-" }
        let octets = stride(from: 0, to: 32, by: 2).compactMap { index in
            UInt8(String(Array(device)[index...index + 1]), radix: 16)
        }
        #expect(receipt.purchases.count == count && receipt.isForDevice(octets))
        #expect(receipt.appVersion == session.appVersion)
    }
}
