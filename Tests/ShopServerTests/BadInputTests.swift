// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreWire
import Testing

/// A request, and the answer it must get.
struct BadInput: Sendable, CustomTestStringConvertible {
    let name: String
    var method = "POST"
    let path: String
    let body: [UInt8]?
    let status: Int
    let code: String
    let field: String?

    var testDescription: String { name }

    init(
        _ name: String, _ address: String, _ body: String?, _ status: Int, _ code: String,
        _ field: String?
    ) {
        self.init(name, address, bytes: body.map { Array($0.utf8) }, status, code, field)
    }

    init(
        _ name: String, _ address: String, bytes: [UInt8]?, _ status: Int, _ code: String,
        _ field: String?
    ) {
        let parts = address.split(separator: " ").map(String.init)
        self.name = name
        method = parts[0]
        path = parts[1]
        body = bytes
        self.status = status
        self.code = code
        self.field = field
    }
}

extension BadInput {
    private static let purchase =
        "PUT /device/v1/purchases/00000000-0000-4000-8000-00000000000a"
    private static let products = "POST /device/v1/products"
    private static let device = "0f0f0f0f-1111-4222-8333-444444444444"

    private static func payment(
        product: String = "\"credits.5\"", quantity: String = "1", price: String = "990",
        currency: String = "\"USD\"", more: String = ""
    ) -> String {
        "{\"productId\":\(product),\"quantity\":\(quantity),\"unitPrice\":\(price),"
            + "\"currency\":\(currency)\(more)}"
    }

    /// Bodies that are no JSON, or none as the protocol takes it.
    static let notJSON: [BadInput] = [
        BadInput("no body", products, "", 400, "notJSON", "body"),
        BadInput("words", products, "hello", 400, "notJSON", "body"),
        BadInput("half an object", products, "{\"ids\":[\"a\"", 400, "notJSON", "body"),
        BadInput("two values", products, "{\"ids\":[]} {}", 400, "notJSON", "body"),
        BadInput(
            "one key twice", products, "{\"ids\":[],\"ids\":[\"a\"]}", 400, "notJSON", "body"),
        BadInput(
            "a hundred thousand brackets", products, String(repeating: "[", count: 100_000), 400,
            "notJSON", "body"),
        BadInput(
            "deep nesting that is closed", products,
            "{\"ids\":" + String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
                + "}", 400, "notJSON", "body"),
        BadInput(
            "bytes that are no UTF-8", products,
            bytes: Array("{\"ids\":[\"".utf8) + [0xC3, 0x28, 0xFF] + Array("\"]}".utf8), 400,
            "notJSON", "body"),
        BadInput("an array", products, "[]", 400, "fieldInvalid", "body"),
        BadInput("null", products, "null", 400, "fieldInvalid", "body"),
        BadInput("nothing in it", products, "{}", 400, "fieldMissing", "ids"),
        BadInput("another type", products, "{\"ids\":\"a\"}", 400, "fieldInvalid", "ids"),
        BadInput("an element", products, "{\"ids\":[\"a\",3]}", 400, "fieldInvalid", "ids[1]"),
        BadInput(
            "far too large", products,
            "{\"ids\":[\"" + String(repeating: "a", count: 600_000) + "\"]}", 413,
            "bodyTooLarge", "body"),
        BadInput(
            "more ids than are taken", products,
            "{\"ids\":[" + Array(repeating: "\"a\"", count: 1001).joined(separator: ",") + "]}",
            400, "tooManyIds", "ids"),
        BadInput(
            "U+0000 in an id", products, "{\"ids\":[\"a\\u0000b\"]}", 400, "textInvalid", "ids"),
    ]

    /// Payments that keep JSON's rules and break the protocol's.
    static let payments: [BadInput] = [
        BadInput(
            "a number as text", purchase, payment(quantity: "\"1\""), 400, "fieldInvalid",
            "quantity"),
        BadInput(
            "half a credit", purchase, payment(quantity: "1.5"), 400, "fieldInvalid", "quantity"),
        BadInput(
            "a huge number", purchase, payment(quantity: "1e400"), 400, "fieldInvalid", "quantity"),
        BadInput(
            "more digits than any integer", purchase,
            payment(price: String(repeating: "9", count: 4000)), 400, "fieldInvalid", "unitPrice"),
        BadInput(
            "a negative price", purchase, payment(price: "-1"), 400, "priceInvalid", "unitPrice"),
        BadInput(
            "no currency", purchase, payment(currency: "\"dollars\""), 400, "currencyInvalid",
            "currency"),
        BadInput(
            "null for a required field", purchase, payment(product: "null"), 400, "fieldInvalid",
            "productId"),
        BadInput(
            "U+0000 in a product", purchase, payment(product: "\"a\\u0000\""), 400, "textInvalid",
            "productId"),
        BadInput(
            "U+0000 in a user's name", purchase,
            payment(more: ",\"applicationUsername\":\"\\u0000\""), 400, "textInvalid",
            "applicationUsername"),
        BadInput(
            "a user's name of 2000 letters", purchase,
            payment(more: ",\"applicationUsername\":\"\(String(repeating: "u", count: 2000))\""),
            400, "textTooLong", "applicationUsername"),
        BadInput(
            "what it replaces is no id", purchase, payment(more: ",\"replaces\":\"x\""), 400,
            "uuidInvalid", "replaces"),
        BadInput(
            "no purchase id", "PUT /device/v1/purchases/1", payment(), 400, "uuidInvalid",
            "purchaseId"),
    ]

    static let addresses: [BadInput] = [
        BadInput("nothing there", "GET /nothing", nil, 404, "unknownPath", "path"),
        BadInput("a realm's own root", "GET /realms/test-1", nil, 404, "unknownPath", "path"),
        BadInput("a later version", "POST /device/v2/products", "{}", 404, "unknownPath", "path"),
        BadInput("a slash too many", "GET /device/v1/receipt/", nil, 404, "unknownPath", "path"),
        BadInput(
            "no such realm", "POST /realms/nowhere/device/v1/products", "{}", 404, "realmNotFound",
            "realm"),
        BadInput(
            "a realm's name that is none", "POST /realms/%00/device/v1/products", "{}", 400,
            "addressInvalid", "address"),
        BadInput(
            "realms in realms", "GET /realms/a/realms/b/device/v1/receipt", nil, 404, "unknownPath",
            "path"),
        BadInput(
            "the store's business in a realm", "GET /realms/test-1/operator/v1/realms", nil, 404,
            "unknownPath", "path"),
        BadInput("another method", "DELETE /device/v1/products", nil, 405, "wrongMethod", "method"),
        BadInput(
            "a revision of letters", "GET /device/v1/transactions?since=abc", nil, 400,
            "queryInvalid", "since"),
        BadInput(
            "a wait before now", "GET /device/v1/transactions?wait=-1", nil, 400, "queryInvalid",
            "wait"),
        BadInput(
            "no such transaction", "POST /device/v1/transactions/77/finish", nil, 404,
            "transactionNotFound", "transactionId"),
        BadInput(
            "no number", "POST /device/v1/transactions/abc/finish", nil, 404, "transactionNotFound",
            "transactionId"),
        BadInput(
            "a kind of root", "GET /certificates/root?kind=apple", nil, 400, "queryInvalid", "kind"),
        BadInput(
            "a form of root", "GET /certificates/root?format=docx", nil, 400, "queryInvalid",
            "format"),
    ]

    static let signIns: [BadInput] = [
        BadInput("no device", "POST /device/v1/sessions", "{}", 400, "fieldMissing", "deviceUUID"),
        BadInput(
            "a device that is no UUID", "POST /device/v1/sessions", "{\"deviceUUID\":\"x\"}", 400,
            "uuidInvalid", "deviceUUID"),
        BadInput(
            "an unknown app", "POST /device/v1/sessions",
            "{\"deviceUUID\":\"\(device)\",\"bundleId\":\"com.example.none\"}", 404,
            "bundleIdUnknown", "bundleId"),
        BadInput(
            "an unknown customer", "POST /device/v1/sessions",
            "{\"deviceUUID\":\"\(device)\",\"customer\":\"nobody\",\"password\":\"x\"}", 401,
            "signInRefused", "customer"),
        BadInput(
            "nobody in production", "POST /realms/live/device/v1/sessions",
            "{\"deviceUUID\":\"\(device)\"}", 400, "customerMissing", "customer"),
    ]
}

@Suite(.timeLimit(.minutes(5))) struct BadInputTests {
    @Test(arguments: 0..<4)
    func `bad input gets a status, a code, the field, a rule and a remedy`(
        table: Int
    ) async throws {
        let rows = [BadInput.notJSON, BadInput.payments, BadInput.addresses, BadInput.signIns]
        try await TestServer.with { server in
            let token = try await server.token()
            for row in rows[table] {
                let reply = try await server.send(row.method, row.path, row.body, bearer: token)
                let said = "\(row.name): \(reply.text)"
                #expect(reply.status == row.status, "\(said)")
                #expect(reply.header("Content-Type") == "application/json", "\(said)")
                #expect(reply.error?.code == row.code, "\(said)")
                #expect(reply.error?.field == row.field, "\(said)")
                #expect(reply.error?.message.hasSuffix(".") == true, "\(said)")
                #expect(reply.error?.rule != nil && reply.error?.remedy != nil, "\(said)")
                #expect(!reply.text.contains("null"), "\(said)")
            }
            try await server.expectItSells()
            #expect(try await server.transactions(bearer: token).transactions.count == 1)
        }
    }

    @Test(
        arguments: [
            ("nothing", 1, 990, "unknownProduct"), ("monthly", 1, 2990, "notSoldYet"),
            ("credits.5", 0, 990, "quantityOutOfRange"),
            ("credits.5", 11, 990, "quantityOutOfRange"),
            ("pro", 2, 4990, "quantityOfNonConsumable"), ("credits.5", 1, 1, "priceChanged"),
        ] as [(String, Int, Int64, String)])
    func `what is not sold is a recorded refusal`(
        product: String, quantity: Int, price: Int64, code: String
    ) async throws {
        try await TestServer.with { server in
            let token = try await server.token()
            let request = PurchaseRequest(
                productId: product, quantity: quantity, unitPrice: price, currency: "USD")

            let first = try await server.send(
                .purchase(id: purchaseID(1)), request, bearer: token)
            let again = try await server.send(
                .purchase(id: purchaseID(1)), request, bearer: token)

            let refused = try first.decoded(PurchaseResponse.self)
            #expect(first.status == 200)
            #expect(refused.state == "refused")
            #expect(refused.refusal?.code == code)
            #expect(refused.refusal?.rule != nil && refused.refusal?.remedy != nil)
            #expect(try again.decoded(PurchaseResponse.self) == refused)
            try await server.expectItSells()
        }
    }

    @Test func `a purchase id with other contents is a conflict that names the field`()
        async throws
    {
        try await TestServer.with { server in
            let token = try await server.token()
            _ = try await server.buy(purchaseID(1), bearer: token)

            let reply = try await server.buy(purchaseID(1), quantity: 2, bearer: token)

            #expect(reply.status == 409)
            #expect(reply.error?.code == "purchaseIdReused")
            #expect(reply.error?.field == "quantity")
            #expect(try await server.transactions(bearer: token).transactions.count == 1)
        }
    }

    @Test func `another customer's transaction cannot be finished`() async throws {
        try await TestServer.with { server in
            let theirs = try await server.token(
                customer: TestServer.customer, password: TestServer.password)
            let mine = try await server.token()
            _ = try await server.buy(purchaseID(1), bearer: theirs)
            let sold = try await server.transactions(bearer: theirs).transactions
            let payload = try #require(sold.first?.signedTransaction.split(separator: ".")[1])
            let id = try #require(Base64URL.transactionID(String(payload)))

            let reply = try await server.send(
                .finish(transactionID: id), nothing, bearer: mine)

            #expect(reply.status == 404)
            #expect(reply.error?.code == "transactionNotFound")
            let unchanged = try await server.transactions(bearer: theirs).transactions
            #expect(unchanged.map(\.isFinished) == [false])
            #expect(unchanged.map(\.revision) == sold.map(\.revision))
        }
    }

    @Test func `a wrong method is answered with the right ones`() async throws {
        try await TestServer.with { server in
            let one = try await server.send("DELETE", "/device/v1/receipt")
            let two = try await server.send("PUT", "/operator/v1/customers")

            #expect(one.header("Allow") == "GET")
            #expect(two.header("Allow") == "GET, POST")
        }
    }
}

enum Base64URL {
    /// The transaction's number in a payload.
    static func transactionID(_ payload: String) -> String? {
        var text = payload.replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        while text.utf8.count % 4 != 0 { text += "=" }
        guard let data = Data(base64Encoded: text) else { return nil }
        return try? JSONDecoder().decode(JWSTransactionDecodedPayload.self, from: data)
            .transactionId
    }
}
