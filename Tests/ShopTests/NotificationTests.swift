// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import SignedData
import Storage
import StoreWire
import Testing

@testable import Shop
@testable import Work

@Suite(.timeLimit(.minutes(5))) struct NotificationTests {
    @Test func `a sale's notification carries the signed transaction`() async throws {
        let world = try await TestWorld.openWithURL()
        let sold = try world.verified(try await world.buy(purchaseID(1)).signedTransaction)
        let courier = ScriptedCourier()

        let outcomes = try await world.attempt(courier)

        #expect(outcomes == [.done])
        let parcel = try #require(courier.parcels.first)
        let payload = try world.opened(parcel)
        #expect(parcel.url == TestWorld.url && !parcel.isProduction)
        #expect(payload.notificationType == "ONE_TIME_CHARGE" && payload.subtype == nil)
        #expect(payload.notificationUUID == parcel.id && payload.version == "2.0")
        #expect(payload.data?.environment == "Sandbox")
        // A sandbox tells no app's number.
        #expect(payload.data?.appAppleId == nil)
        let inner = try world.verified(payload.data?.signedTransactionInfo)
        #expect(inner.transactionId == sold.transactionId)
        #expect(inner.price == 990)
    }

    @Test func `what is sold without a URL owes no notification`() async throws {
        let world = try await TestWorld.open()
        try await world.buy(purchaseID(1))
        let courier = ScriptedCourier()

        #expect(try await world.attempt(courier) == [.done])

        #expect(courier.parcels.isEmpty)
    }

    @Test func `a later attempt sends the bytes of the first`() async throws {
        let world = try await TestWorld.openWithURL()
        try await world.buy(purchaseID(1))
        let courier = ScriptedCourier(Delivery(.timedOut), Delivery(status: 500))

        try await world.attempt(courier)
        world.wall.advance(seconds: 3600)
        try await world.attempt(courier)
        try await world.attempt(courier)
        try await world.attempt(courier)

        #expect(courier.parcels.count == 3)
        #expect(Set(courier.parcels).count == 1)
        let bearer = try await world.bearer()
        let history = try await world.history(bearer: bearer)
        let results = history.notificationHistory?.first?.sendAttempts
        #expect(
            results?.compactMap(\.sendAttemptResult) == [
                .timedOut, .unsuccessfulStatus, .success,
            ])
    }

    @Test func `two processes that try at once send the same bytes`() async throws {
        let world = try await TestWorld.openWithURL()
        try await world.buy(purchaseID(1))
        let courier = ScriptedCourier()
        let (customer, cause) = try #require(try await world.causes().first)

        try await withThrowingTaskGroup(of: NotificationAttempt.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await world.realm.merchant.attemptNotification(
                        cause, of: customer, in: TestWorld.bundleID.value, by: courier)
                }
            }
            try await group.waitForAll()
        }

        #expect(courier.parcels.count == 8)
        #expect(Set(courier.parcels).count == 1)
    }

    @Test func `a sandbox gives up after one attempt`() async throws {
        let world = try await TestWorld.openWithURL()
        try await world.buy(purchaseID(1))

        #expect(try await world.attempt(ScriptedCourier(Delivery(status: 404))) == [.givenUp])
    }

    @Test func `production tries again by the timetable, six times in all`() async throws {
        let world = try await TestWorld.open(realm: "live", environment: .production)
        try await world.realm.catalogue.setNotificationURL(
            "https://example.com/n", bundleID: TestWorld.bundleID.value, TestWorld.context)
        _ = try await world.realm.merchant.admit(bearer: try await world.bearer())
            .requestTestNotification(TestWorld.context)
        let courier = ScriptedCourier(
            Delivery(.tlsIssue), Delivery(.noResponse), Delivery(.timedOut),
            Delivery(status: 302), Delivery(status: 207), Delivery(status: 503))
        let start = world.wall.clock.now

        var hours: [Int64] = []
        var last: [ErrandOutcome] = []
        for _ in 0..<6 {
            last = try await world.attempt(courier)
            guard case .again(let date)? = last.first else { break }
            hours.append(date.milliseconds(since: start) / 3_600_000)
            world.wall.advance(seconds: date.milliseconds(since: world.wall.clock.now) / 1000)
        }

        #expect(hours == [1, 13, 37, 85, 157])
        #expect(last == [.givenUp])
        #expect(courier.parcels.allSatisfy { $0.isProduction })
        let payload = try world.opened(courier.parcels[0])
        #expect(payload.data?.appAppleId == 1234)
    }

    @Test func `a URL that is taken away ends what was owed`() async throws {
        let world = try await TestWorld.openWithURL()
        try await world.buy(purchaseID(1))
        let courier = ScriptedCourier(Delivery(.timedOut))
        try await world.attempt(courier)

        try await world.realm.catalogue.setNotificationURL(
            nil, bundleID: TestWorld.bundleID.value, TestWorld.context)

        #expect(try await world.attempt(courier) == [.done])
        #expect(courier.parcels.count == 1)
    }

    @Test func `what was signed outlives the process`() async throws {
        let world = try await TestWorld.openWithURL()
        try await world.buy(purchaseID(1))
        let courier = ScriptedCourier(Delivery(.timedOut))
        try await world.attempt(courier)

        let next = try await world.restarted()
        try await next.attempt(courier)

        #expect(courier.parcels.count == 2)
        #expect(Set(courier.parcels).count == 1)
    }

    @Test func `a seeded realm names its notifications alike`() async throws {
        var uuids: Set<String> = []
        for randomness in [1, 2] as [UInt64] {
            let world = try await TestWorld.openWithURL(seed: 7, randomness: randomness)
            try await world.buy(purchaseID(1))
            let courier = ScriptedCourier()
            try await world.attempt(courier)
            uuids.formUnion(courier.parcels.map(\.id))
        }
        #expect(uuids.count == 1)
    }

    @Test func `where notifications may go`() async throws {
        let sandbox = ["http://127.0.0.1:8080/n", "https://example.com", "http://a.b:1/x?y=z"]
        let nowhere = [
            "", "example.com", "ftp://example.com", "https://u@example.com",
            "https://u:p@example.com", "https://example.com/#f", "https:///x", "http://a b",
            "https://exämple.com", "http://a:70000", "http://a/\r\nx", "http://a/\u{0}",
            "https://a/" + String(repeating: "x", count: 1030),
        ]
        for url in sandbox {
            #expect(throws: Never.self) { try NotificationURL.check(url, isProduction: false) }
        }
        for url in nowhere + ["http://example.com", "https://example.com:80"] {
            #expect(throws: Refusal.self, "\(url)") {
                try NotificationURL.check(url, isProduction: true)
            }
        }
        for url in nowhere {
            #expect(throws: Refusal.self, "\(url)") {
                try NotificationURL.check(url, isProduction: false)
            }
        }
    }

    @Test func `a URL belongs to one app and is shown to operators`() async throws {
        let world = try await TestWorld.openWithURL()
        // Serving the app's catalogue again leaves the URL alone.
        try await world.realm.catalogue.putCatalogue(
            TestWorld.catalogue(), app: AppDescription(bundleID: TestWorld.bundleID))

        let app = try #require(try await world.realm.catalogue.appSummaries().first)
        let unknown = try await refusal {
            try await world.realm.catalogue.setNotificationURL(
                TestWorld.url, bundleID: "com.example.none", TestWorld.context)
        }

        #expect(app.bundleId == TestWorld.bundleID.value && app.notificationUrl == TestWorld.url)
        #expect(unknown.error.code == "bundleIdUnknown")
    }
}
