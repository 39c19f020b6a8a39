// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import StoreWire
import Testing

@testable import Shop

@Suite(.timeLimit(.minutes(5))) struct ReceiptTests {
    @Test func `an empty receipt contains app, version and device`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()

        let receipt = try await world.receipt(session)

        #expect(receipt.environment == "ProductionSandbox")
        #expect(receipt.bundleID == TestWorld.bundleID)
        #expect(receipt.appVersion == "2.1")
        #expect(receipt.originalAppVersion == "2.1")
        #expect(receipt.appItemID == 0)
        #expect(receipt.creationDate == TestWall.start)
        #expect(receipt.originalPurchaseDate == TestWall.start)
        #expect(receipt.purchases.isEmpty)
        let device = try #require(
            bytes(hexadecimal: TestWorld.deviceUUID.filter { $0 != "-" }))
        #expect(receipt.isForDevice(device))
    }

    @Test func `a receipt holds what was bought`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        let sold = try await world.buy(purchaseID(1), quantity: 3, session: session)
        try await world.buy("pro", purchaseID(2), session: session)

        let receipt = try await world.receipt(session)

        var expected = ReceiptPurchase(
            quantity: 3, productID: "credits.5",
            transactionID: try #require(try world.verified(sold.signedTransaction).transactionId),
            purchaseDate: TestWall.start, type: .consumable)
        expected.originalPurchaseDate = TestWall.start
        #expect(receipt.purchases.first?.encoded() == expected.encoded())
        #expect(receipt.purchases.map(\.productID) == ["credits.5", "pro"])
    }

    @Test func `a consumable leaves the receipt when it is finished`() async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()
        for (n, product) in ["credits.5", "pro"].enumerated() {
            let sold = try await world.buy(product, purchaseID(n), session: session)
            let id = try #require(try world.verified(sold.signedTransaction).transactionId)
            _ = try await world.realm.purchases.finish(id, session, TestWorld.context)
        }

        let receipt = try await world.receipt(session)

        #expect(receipt.purchases.map(\.productID) == ["pro"])
    }

    @Test func `an unchanged receipt is neither built nor signed`() async throws {
        let world = try await TestWorld.open()
        let token = try await world.signIn().token
        let session = try await world.realm.customers.session(token: token)
        let first = try await world.realm.purchases.receipt(
            ifNoneMatch: nil, session, TestWorld.context)
        let etag = try tag(first)
        let signed = world.logged.count("receipt signed")
        world.places.counter.reset()

        let headers = [
            etag, "W/\(etag)", "\"x\", \(etag)", "*", "  \(etag)  ", "\"x\" , W/\(etag) , \"y\"",
            " * ",
        ]
        for header in headers {
            let again = try await world.realm.purchases.receipt(
                ifNoneMatch: header, session, TestWorld.context)
            #expect(again == .unchanged(etag: etag))
        }

        #expect(world.logged.count("receipt signed") == signed)
        #expect(world.places.counter.statements.isEmpty)
    }

    @Test(arguments: ["", "\"x\"", "\"x\", \"y\"", "**", "\""])
    func `a receipt under another tag is sent`(header: String) async throws {
        let world = try await TestWorld.open()
        let session = try await world.session()

        let answer = try await world.realm.purchases.receipt(
            ifNoneMatch: header, session, TestWorld.context)

        #expect(try tag(answer) != header)
    }

    @Test func `every commit of the customer changes the receipt's tag`() async throws {
        let world = try await TestWorld.open()
        let token = try await world.signIn().token
        let before = try await world.realm.customers.session(token: token)
        let first = try await world.realm.purchases.receipt(
            ifNoneMatch: nil, before, TestWorld.context)
        let etag = try tag(first)
        try await world.buy(purchaseID(1), session: before)

        let after = try await world.realm.customers.session(token: token)
        let second = try await world.realm.purchases.receipt(
            ifNoneMatch: etag, after, TestWorld.context)

        let next = try tag(second)
        #expect(next != etag)
        #expect(next.hasPrefix("\"\(world.realm.description.id)."))
    }

    @Test func `one customer's receipt contains nothing of another's`() async throws {
        let world = try await TestWorld.open()
        _ = try await world.realm.customers.createCustomer(CreateCustomerRequest(name: "other"))
        try await world.buy(purchaseID(1))

        let receipt = try await world.receipt(try await world.session(customer: "other"))

        #expect(receipt.purchases.isEmpty)
    }

    @Test func `the original version stays that of the first sign-in`() async throws {
        let world = try await TestWorld.open()
        _ = try await world.signIn()
        world.wall.advance(seconds: 86_400)
        let newer = try await world.realm.customers.signIn(
            SignInRequest(appVersion: "3.0", deviceUUID: TestWorld.deviceUUID),
            TestWorld.context)

        let receipt = try await world.receipt(
            try await world.realm.customers.session(token: newer.token))

        #expect(receipt.appVersion == "3.0")
        #expect(receipt.originalAppVersion == "2.1")
        #expect(receipt.originalPurchaseDate == TestWall.start)
    }

    /// The tag of a receipt that was sent.
    private func tag(_ answer: ReceiptAnswer) throws -> String {
        if case .receipt(_, let etag) = answer { return etag }
        return try #require(nil, "the receipt was said to be unchanged")
    }
}
