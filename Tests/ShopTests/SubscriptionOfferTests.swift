// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import SignedData
import Storage
import StoreWire
import Testing

@testable import Shop

/// Offers that a payment asks for, at the store.
@Suite(.timeLimit(.minutes(5))) struct SubscriptionOfferTests {
    // MARK: Signed offers

    @Test func `a signed offer begins with the next period, and is used once`() async throws {
        let world = try await OfferWorld()
        let offer = try await world.signed()
        #expect(try await world.quote(offer).offer?.price == 2490)

        let asked = try await world.buy(offer, 2)

        #expect(asked.state == "sold")
        let again = try await world.buy(offer, 2)
        #expect(again.state == "sold", "the same payment gets the same answer")
        #expect(try await world.buy(offer, 3).refusal?.code == "offerNonceUsed")
        try await world.world.jump(Period(1, .month))
        let renewed = try await world.lastTransaction()
        #expect(renewed.price == 2490 && renewed.offerType == 2)
        #expect(renewed.offerIdentifier == "half" && renewed.offerDiscountType == "PAY_UP_FRONT")
    }

    @Test func `a token grants it too`() async throws {
        let world = try await OfferWorld()
        let offer = try await world.token()

        #expect(try await world.buy(offer, 2).state == "sold")
        #expect(try await world.buy(offer, 3).refusal?.code == "offerNonceUsed")
        let events = try await world.history().map(\.kind)
        #expect(events == ["subscribed", "redeemed"])
    }

    /// Each way in which an offer's signature can be wrong, and the refusal.
    @Test(arguments: OfferWorld.Wrong.allCases)
    func `a signed offer is wrong`(wrong: OfferWorld.Wrong) async throws {
        let world = try await OfferWorld()
        let (offer, username) = try await world.signed(wrong)

        let refused = try await world.buy(offer, 2, username: username)

        #expect(refused.refusal?.code == wrong.refusal)
        let quote = try await #require(throws: Refusal.self) {
            try await world.quote(offer, username: username)
        }
        #expect(quote.error.code == wrong.refusal)
        #expect(try await world.history().map(\.kind) == ["subscribed"])
    }

    /// Each way in which a token can be wrong.
    @Test(arguments: OfferWorld.WrongToken.allCases)
    func `a token is wrong`(wrong: OfferWorld.WrongToken) async throws {
        let world = try await OfferWorld()

        let refused = try await world.buy(try await world.token(wrong), 2)

        #expect(refused.refusal?.code == wrong.refusal)
        #expect(try await world.history().map(\.kind) == ["subscribed"])
    }

    @Test func `a nonce is used by a payment that fails`() async throws {
        let world = try await OfferWorld()
        let offer = try await world.signed()
        var request = world.request(offer)
        request.currency = "EUR"
        // The present product's next period is not charged now. An upgrade is.
        request.productId = "premium"
        let upgrade = try await world.signed(product: "premium")
        request.offer = upgrade
        request.unitPrice = 1

        let failed = try await world.send(request, 2)

        #expect(failed.refusal?.code == "priceChanged")
        #expect(failed.product?.priceNow == 2490)
        request.currency = "USD"
        request.unitPrice = 2490
        #expect(try await world.send(request, 3).refusal?.code == "offerNonceUsed")
        request.replaces = purchaseID(2)
        #expect(try await world.send(request, 4).state == "sold", "it replaces the failed one")
        #expect(try await world.lastTransaction().offerIdentifier == "half")
    }

    @Test func `a token decides about the introductory offer`() async throws {
        let world = try await OfferWorld(buying: nil)
        let no = try await world.decision(isAllowed: false)
        var request = world.request(no)
        request.productId = "trial"
        request.unitPrice = 4990

        #expect(try await world.send(request, 1).state == "sold")
        #expect(try await world.lastTransaction().offerType == nil)

        let customer = try await OfferWorld(buying: "trial")
        try await customer.cancelAndWait()
        let yes = try await customer.decision(isAllowed: true)
        request.offer = yes
        request.unitPrice = 0
        #expect(try await customer.send(request, 2).state == "sold")
        #expect(try await customer.lastTransaction().offerType == 1)
    }

    @Test func `old nonces are forgotten`() async throws {
        let world = try await OfferWorld()
        _ = try await world.buy(try await world.signed(), 2)
        #expect(try await world.claims() == 1)

        world.world.wall.advance(seconds: 3 * 86_400)
        _ = try await world.world.realm.keeping.prune()

        #expect(try await world.claims() == 0)
    }

    // MARK: Win-back offers

    @Test func `a win-back offer is named in renewals, and brings the customer back`()
        async throws
    {
        let world = try await OfferWorld()
        let offer = OfferRequest(kind: "win-back", offerId: "back")
        #expect(try await world.buy(offer, 2).refusal?.code == "offerNotEligible")
        try await world.cancelAndWait()
        let row = try await world.row()
        let names = try await world.world.realm.winBackOffers(for: row, at: row.subscription.end)
        #expect(names.first == "back")

        #expect(try await world.quote(offer).priceNow == 1490)
        var request = world.request(offer)
        request.unitPrice = 1490
        #expect(try await world.send(request, 3).state == "sold")
        let sold = try await world.lastTransaction()
        #expect(sold.offerType == 4 && sold.offerIdentifier == "back" && sold.price == 1490)
        let after = try await world.row()
        #expect(
            try await world.world.realm.winBackOffers(for: after, at: row.subscription.end).isEmpty)
    }

    @Test func `an offer of no subscription is refused`() async throws {
        let world = try await OfferWorld(buying: nil)
        var request = world.request(OfferRequest(kind: "win-back", offerId: "back"))
        request.productId = "credits.5"
        request.unitPrice = 990
        #expect(try await world.send(request, 1).refusal?.code == "offerUnknown")
        request.productId = "news"
        request.offer?.offerId = "unknown"
        #expect(try await world.send(request, 2).refusal?.code == "offerUnknown")
    }

    @Test(arguments: [
        OfferRequest(kind: "free"), OfferRequest(kind: "win-back"), OfferRequest(kind: "code"),
        OfferRequest(kind: "promotional", offerId: "half"),
        OfferRequest(kind: "promotional", token: "t"), OfferRequest(kind: "introductory"),
        OfferRequest(kind: "win-back", offerId: String(repeating: "x", count: 256)),
        OfferRequest(kind: "code", code: "\u{0}"),
        OfferRequest(
            kind: "promotional", offerId: "half", keyId: "k", nonce: "no",
            timestamp: .init(milliseconds: 1),
            signature: "s"),
    ])
    func `an offer that cannot be read records nothing`(offer: OfferRequest) async throws {
        let world = try await OfferWorld(buying: nil)
        await #expect(throws: Refusal.self) { try await world.buy(offer, 1) }
        let all = try await world.world.realm.purchases.listPurchases()
        #expect(all.purchases.isEmpty)
    }
}

/// A world with a customer who subscribes, and a merchant's key.
struct OfferWorld {
    let world: TestWorld
    let session: DeviceSession
    let key: CreatedServerKey

    init(
        buying product: String? = "news", places: TestPlaces = TestPlaces(), seed: Int64? = nil
    ) async throws {
        world = try await TestWorld.openWithSubscriptions(places: places, seed: seed)
        session = try await world.session()
        key = try await world.realm.merchant.createServerKey(bundleID: TestWorld.bundleID.value)
        if let product { try await world.buy(product, purchaseID(1), session: session) }
    }

    func request(_ offer: OfferRequest) -> PurchaseRequest {
        PurchaseRequest(
            productId: "news", quantity: 1, unitPrice: 2490, currency: "USD", offer: offer)
    }

    func send(_ request: PurchaseRequest, _ id: Int) async throws -> PurchaseResponse {
        try await world.realm.purchases.purchase(
            purchaseID(id), request, session, TestWorld.context)
    }

    @discardableResult
    func buy(
        _ offer: OfferRequest, _ id: Int, username: String? = nil
    ) async throws -> PurchaseResponse {
        var request = request(offer)
        request.applicationUsername = username
        return try await send(request, id)
    }

    func quote(
        _ offer: OfferRequest, username: String? = nil
    ) async throws -> ProductDescription {
        try await world.realm.purchases.quote(
            OfferQuoteRequest(productId: "news", offer: offer, applicationUsername: username),
            try await world.realm.customers.asOfNow(session))
    }

    func history() async throws -> [SubscriptionEventRecord] {
        try await world.realm.subscriptions.history(of: session.customer.description).events
    }

    func row() async throws -> SubscriptionRow {
        let record = try #require(await world.realm.subscriptions.list().subscriptions.first)
        let id = try #require(Int64(record.subscriptionId))
        return try #require(
            await world.realm.read(of: session.customer) {
                try SubscriptionRow.find(TransactionID(id), of: session.customer, $0)
            })
    }

    func lastTransaction() async throws -> JWSTransactionDecodedPayload {
        try #require(await world.realm.purchases.listTransactions().transactions.last?.payload)
    }

    func cancelAndWait() async throws {
        try await world.realm.subscriptions.switchRenewal(
            of: try await world.subscription(), on: false, TestWorld.context)
        try await world.jump(Period(2, .month))
    }

    func claims() async throws -> Int64 {
        let count = Statement("test.claims", [], "SELECT count(*) AS claims FROM offer_claims")
        return try await world.realm.home.read {
            try $0.first(count)?.integer("claims") ?? 0
        }
    }
}

/// The merchant's side, right and wrong.
extension OfferWorld {
    enum Wrong: String, CaseIterable {
        case key, keyOfAnotherApp, revokedKey, product, offer, username, usernameCase, nonce, time
        case tooOld, future, signature

        var refusal: String {
            switch self {
            case .key, .keyOfAnotherApp, .revokedKey: "offerKeyUnknown"
            case .tooOld, .future: "offerOutdated"
            default: "offerSignatureInvalid"
            }
        }
    }

    enum WrongToken: String, CaseIterable {
        case expiry, audience, bundle, product, offer, issuer, key, signature, tooOld, transaction
        case form

        var refusal: String {
            switch self {
            case .issuer, .key: "offerKeyUnknown"
            case .signature: "offerSignatureInvalid"
            case .tooOld: "offerOutdated"
            default: "offerTokenInvalid"
            }
        }
    }

    private static func nonce() throws -> UUIDText {
        try #require(UUIDText("0f0f0f0f-1111-2222-3333-0123456789ab"))
    }

    /// An offer as its merchant's server signs it.
    func signed(product: String = "news") async throws -> OfferRequest {
        try await request(
            SignedOffer(
                bundleID: TestWorld.bundleID, keyID: key.keyId, productID: ProductID(product),
                offerID: "half", username: nil, nonce: try Self.nonce(),
                signedAt: world.wall.clock.now))
    }

    private func request(
        _ offer: SignedOffer, by pem: String? = nil
    ) async throws -> OfferRequest {
        OfferRequest(
            kind: "promotional", offerId: "half", keyId: offer.keyID, nonce: offer.nonce.text,
            timestamp: offer.signedAt,
            signature: try offer.signature(privateKeyPEM: pem ?? key.privateKey))
    }

    /// An offer that is wrong in one way, and the username that the payment has.
    func signed(_ wrong: Wrong) async throws -> (OfferRequest, String?) {
        let now = world.wall.clock.now
        let uuid = "0F0F0F0F-1111-2222-3333-0123456789AB"
        func offer(
            key: String? = nil, product: String = "news", id: String = "half",
            username: String? = nil, at: Timestamp? = nil
        ) throws -> SignedOffer {
            SignedOffer(
                bundleID: TestWorld.bundleID, keyID: key ?? self.key.keyId,
                productID: ProductID(product), offerID: id, username: username,
                nonce: try Self.nonce(), signedAt: at ?? now)
        }
        switch wrong {
        case .key: return (try await request(try offer(key: "UNKNOWN123")), nil)
        case .keyOfAnotherApp:
            _ = try await world.realm.catalogue.createApp(
                CreateAppRequest(bundleId: "com.example.other"), TestWorld.context)
            let other = try await world.realm.merchant.createServerKey(
                bundleID: "com.example.other")
            return (
                try await request(try offer(key: other.keyId), by: other.privateKey), nil
            )
        case .revokedKey:
            let made = try await request(try offer())
            try await world.realm.merchant.revokeServerKey(key.keyId, TestWorld.context)
            return (made, nil)
        case .product: return (try await request(try offer(product: "small")), nil)
        case .offer: return (try await request(try offer(id: "other")), nil)
        case .username: return (try await request(try offer(username: "ann")), "bob")
        case .usernameCase: return (try await request(try offer(username: "Ann")), "ann")
        case .nonce:
            var made = try await request(try offer())
            made.nonce = uuid.replacing("A", with: "B")
            return (made, nil)
        case .time:
            var made = try await request(try offer())
            made.timestamp = now.adding(milliseconds: -1)
            return (made, nil)
        case .tooOld:
            return (try await request(try offer(at: now.adding(seconds: -86_401))), nil)
        case .future: return (try await request(try offer(at: now.adding(seconds: 61))), nil)
        case .signature:
            var made = try await request(try offer())
            made.signature = "AAAA"
            return (made, nil)
        }
    }

    func token(_ wrong: WrongToken? = nil) async throws -> OfferRequest {
        let now = world.wall.clock.now
        let other = try await world.realm.merchant.createServerKey(
            bundleID: TestWorld.bundleID.value)
        let claims = OfferToken.Claims(
            issuerID: wrong == .issuer ? "someone" : key.issuerId,
            bundleID: wrong == .bundle ? "com.example.other" : TestWorld.bundleID,
            productID: wrong == .product ? "small" : "news",
            offerID: wrong == .offer ? "other" : "half",
            transactionID: wrong == .transaction ? "2000000000000001" : nil,
            nonce: try Self.nonce(),
            at: wrong == .tooOld ? now.adding(seconds: -86_401) : now)
        var text = try OfferToken.sign(
            claims, for: wrong == .audience ? .introductory : .promotional,
            keyID: wrong == .key ? "UNKNOWN123" : key.keyId,
            privateKeyPEM: wrong == .signature ? other.privateKey : key.privateKey)
        if wrong == .expiry { text = try expiring() }
        if wrong == .form { text = "a.b" }
        return OfferRequest(kind: "promotional", offerId: "half", token: text)
    }

    /// A token that is right but for its `exp`.
    private func expiring() throws -> String {
        let seconds = world.wall.clock.now.milliseconds / 1000
        let nonce = try Self.nonce()
        let parts = [
            #"{"alg":"ES256","kid":"\#(key.keyId)","typ":"JWT"}"#,
            #"{"iss":"\#(key.issuerId)","iat":\#(seconds),"exp":\#(seconds + 300),"#
                + #""aud":"promotional-offer","bid":"\#(TestWorld.bundleID)","#
                + #""nonce":"\#(nonce.text)","productId":"news","offerIdentifier":"half"}"#,
        ].map { Self.base64URL(Data($0.utf8)) }
        let signed = try P256.Signing.PrivateKey(pemRepresentation: key.privateKey)
            .signature(for: Data(parts.joined(separator: ".").utf8))
        return (parts + [Self.base64URL(signed.rawRepresentation)]).joined(separator: ".")
    }

    private static func base64URL(_ bytes: Data) -> String {
        bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    func decision(isAllowed: Bool) async throws -> OfferRequest {
        let claims = OfferToken.Claims(
            issuerID: key.issuerId, bundleID: TestWorld.bundleID, productID: "trial",
            isIntroductionAllowed: isAllowed, transactionID: String(session.appTransactionID),
            nonce: try Self.nonce(), at: world.wall.clock.now)
        return OfferRequest(
            kind: "introductory",
            token: try OfferToken.sign(
                claims, for: .introductory, keyID: key.keyId, privateKeyPEM: key.privateKey))
    }
}
