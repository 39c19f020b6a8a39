// SPDX-License-Identifier: Apache-2.0

import Commerce
import StoreWire
import Testing

@Suite struct DeviceValueTests {
    private let now = Timestamp(milliseconds: 1_795_235_226_007)
    private let storefront = StorefrontDescription(
        countryCode: "DEU", region: "DE", id: "143443", currency: "EUR", locale: "de_DE")
    private let storefrontJSON =
        #"{"countryCode":"DEU","currency":"EUR","id":"143443","locale":"de_DE","region":"DE"}"#
    private let bananas = ProductDescription(
        id: "zoo.bananas.5", type: "Consumable", displayName: "Fünf Bananen",
        description: "Für die Affen", price: 990, currency: "EUR",
        priceLocale: "de_DE@currency=EUR", isFamilyShareable: false, isSold: true)
    private let bananasJSON =
        #"{"currency":"EUR","description":"Für die Affen","displayName":"Fünf Bananen","#
        + #""id":"zoo.bananas.5","isFamilyShareable":false,"isSold":true,"price":990,"#
        + #""priceLocale":"de_DE@currency=EUR","type":"Consumable"}"#

    @Test func `signing in`() throws {
        try expectGolden(
            SignInRequest(deviceUUID: "6b1f0b9e-2f5c-4d0e-9a57-0d6f3c1e8a11"),
            #"{"deviceUUID":"6b1f0b9e-2f5c-4d0e-9a57-0d6f3c1e8a11"}"#)
        try expectGolden(
            SignInRequest(
                bundleId: "com.example.zoo", appVersion: "1.2", deviceUUID: "u",
                deviceName: "host", customer: "blob", password: "hunter2"),
            #"{"appVersion":"1.2","bundleId":"com.example.zoo","customer":"blob","#
                + #""deviceName":"host","deviceUUID":"u","password":"hunter2"}"#)
        let realm = RealmDescription(
            id: "r1", name: "default", environment: .sandbox, generation: 0)
        try expectGolden(
            SignInResponse(
                token: "t", tokenExpires: now, customerId: "1000000000001007",
                customerName: "blob", bundleId: "com.example.zoo", appAppleId: nil, realm: realm,
                storefront: storefront, appTransactionId: "4000000000001007",
                canMakePayments: true, rootCertificate: "MIIB", now: now),
            #"{"appTransactionId":"4000000000001007","bundleId":"com.example.zoo","#
                + #""canMakePayments":true,"customerId":"1000000000001007","#
                + #""customerName":"blob","now":1795235226007,"#
                + #""realm":{"environment":"Sandbox","generation":0,"id":"r1","name":"default"},"#
                + #""rootCertificate":"MIIB","storefront":"# + storefrontJSON
                + #","token":"t","tokenExpires":1795235226007}"#)
    }

    @Test func `products`() throws {
        try expectGolden(ProductsRequest(ids: ["a", "b"]), #"{"ids":["a","b"]}"#)
        try expectGolden(
            ProductsResponse(
                products: [bananas], invalid: [InvalidProduct(id: "c", reason: "Not sold here.")],
                storefront: storefront),
            #"{"invalid":[{"id":"c","reason":"Not sold here."}],"products":["# + bananasJSON
                + #"],"storefront":"# + storefrontJSON + "}")
        var keeper = bananas
        keeper.subscriptionGroupIdentifier = "77EE88FF"
        keeper.subscriptionPeriod = "P1M"
        try expectGolden(
            keeper,
            String(bananasJSON.dropLast(#""type":"Consumable"}"#.count))
                + #""subscriptionGroupIdentifier":"77EE88FF","subscriptionPeriod":"P1M","#
                + #""type":"Consumable"}"#)
    }

    @Test func `a purchase`() throws {
        try expectGolden(
            PurchaseRequest(productId: "a", quantity: 3, unitPrice: 1990, currency: "USD"),
            #"{"currency":"USD","productId":"a","quantity":3,"unitPrice":1990}"#)
        try expectGolden(
            PurchaseRequest(
                productId: "a", quantity: 1, unitPrice: 1990, currency: "USD",
                applicationUsername: "u", replaces: "p"),
            #"{"applicationUsername":"u","currency":"USD","productId":"a","quantity":1,"#
                + #""replaces":"p","unitPrice":1990}"#)
        try expectGolden(
            PurchaseResponse(state: "sold", signedTransaction: "a.b.c", revision: 4),
            #"{"revision":4,"signedTransaction":"a.b.c","state":"sold"}"#)
        try expectGolden(
            PurchaseResponse(
                state: "refused", refusal: WireError(code: "priceChanged", message: "m"),
                product: bananas, revision: 5),
            #"{"product":"# + bananasJSON
                + #","refusal":{"code":"priceChanged","message":"m"},"#
                + #""revision":5,"state":"refused"}"#)
        try expectGolden(
            PurchaseResponse(state: "waiting", waitingFor: "approval", revision: 6),
            #"{"revision":6,"state":"waiting","waitingFor":"approval"}"#)
    }

    @Test func `a state of tomorrow is read as its word`() throws {
        try expectGolden(
            PurchaseResponse(state: "pondering", revision: 1),
            #"{"revision":1,"state":"pondering"}"#)
    }

    @Test func `transactions and finishing`() throws {
        let bought = TransactionDescription(
            signedTransaction: "a.b.c", purchaseId: "p", isFinished: false, revision: 9)
        let other = TransactionDescription(
            signedTransaction: "d.e.f", purchaseId: nil, isFinished: true, revision: 10)
        try expectGolden(
            TransactionsResponse(
                transactions: [bought, other], revision: 10, hasMore: false, now: now),
            #"{"hasMore":false,"now":1795235226007,"revision":10,"transactions":["#
                + #"{"isFinished":false,"purchaseId":"p","revision":9,"#
                + #""signedTransaction":"a.b.c"},"#
                + #"{"isFinished":true,"revision":10,"signedTransaction":"d.e.f"}]}"#)
        try expectGolden(
            FinishResponse(transactionId: "2000000000001007", revision: 11),
            #"{"revision":11,"transactionId":"2000000000001007"}"#)
    }

    @Test func `errors`() throws {
        try expectGolden(
            WireError(
                code: "outOfRange", message: "The quantity is 0.", field: "quantity",
                rule: "1 to 10", remedy: "Ask for one."),
            #"{"code":"outOfRange","field":"quantity","message":"The quantity is 0.","#
                + #""remedy":"Ask for one.","rule":"1 to 10"}"#)
    }

    @Test func `values of another type are refused`() {
        let start = #"{"productId":"a","currency":"USD","unitPrice":1990,"quantity":"#
        for wrong in ["\"1\"", "1.5", "null", "true", "[1]", "9223372036854775808", "-1e30"] {
            expectRefused(PurchaseRequest.self, start + wrong + "}")
        }
        expectRefused(ProductsRequest.self, #"{"ids":"a"}"#)
        expectRefused(ProductsRequest.self, #"{"ids":[1]}"#)
        expectRefused(SignInRequest.self, "{}")
        expectRefused(SignInRequest.self, "[]")
        expectRefused(SignInRequest.self, "")
    }
}

@Suite struct DeviceRoutePathTests {
    @Test(
        arguments: [
            (.signIn, "POST /device/v1/sessions"), (.products, "POST /device/v1/products"),
            (.purchase(id: "6b1f"), "PUT /device/v1/purchases/6b1f"),
            (
                .transactions(since: 12, waitSeconds: 50),
                "GET /device/v1/transactions?since=12&wait=50"
            ),
            (.finish(transactionID: "7"), "POST /device/v1/transactions/7/finish"),
            (.receipt, "GET /device/v1/receipt"),
            (.priceIncreases, "GET /device/v1/price-increases"),
            (.reviewRequest, "POST /device/v1/reviews/requests"),
            (.review, "PUT /device/v1/review"),
            (
                .consent(subscriptionID: "2000000000001000"),
                "PUT /device/v1/subscriptions/2000000000001000/price-consent"
            ),
        ] as [(DeviceRoute, String)])
    func `a route prints its method and address`(route: DeviceRoute, printed: String) {
        #expect("\(route.method) \(route.path)" == printed)
    }
}
