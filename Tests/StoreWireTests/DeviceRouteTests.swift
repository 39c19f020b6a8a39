// SPDX-License-Identifier: Apache-2.0

import StoreWire
import Testing

@Suite struct DeviceRouteTests {
    static let routes: [DeviceRoute] = [
        .signIn, .products, .purchase(id: "6b1f0b9e-2f5c-4d0e-9a57-0d6f3c1e8a11"),
        .transactions(since: 0, waitSeconds: 0),
        .transactions(since: 9_007_199_254_740_993, waitSeconds: 50),
        .transactions(since: 7, after: 2_000_000_000_000_001, waitSeconds: 50),
        .finish(transactionID: "2000000000001000"), .receipt,
        .priceIncreases, .consent(subscriptionID: "2000000000001000"),
        .reviewRequest, .review,
    ]

    @Test(arguments: routes)
    func `what a device prints, the store reads`(route: DeviceRoute) throws {
        let sides = route.path.split(separator: "?", maxSplits: 1).map(String.init)

        let read = try DeviceRoute(
            method: route.method, path: sides[0], query: sides.count == 2 ? sides[1] : nil)

        #expect(read == route)
    }

    @Test(arguments: routes)
    func `another method is distinguished from an unknown path`(route: DeviceRoute) {
        let path = String(route.path.split(separator: "?")[0])

        #expect(throws: DeviceRouteMistake.wrongMethod(allowed: route.method)) {
            try DeviceRoute(method: "PATCH", path: path)
        }
    }

    @Test(arguments: [
        "/device/v1", "/device/v1/", "/device/v2/products", "/device/v1/products/",
        "/device/v1/purchases", "/device/v1/purchases/", "/device/v1/purchases/a/b",
        "/device/v1/transactions//finish", "/device/v1/transactions/1/begin", "/", "",
    ])
    func `what is not there is unknown`(path: String) {
        #expect(throws: DeviceRouteMistake.unknownPath) {
            try DeviceRoute(method: "GET", path: path)
        }
    }

    @Test(arguments: [
        ("since=-1", "since"), ("since=", "since"), ("since", "since"), ("since=1e3", "since"),
        ("since=99999999999999999999", "since"), ("since=1&wait=x", "wait"),
        ("wait=-5", "wait"),
    ])
    func `a query that breaks its rule names the field`(query: String, field: String) {
        #expect(
            throws: DeviceRouteMistake.badQuery(
                field: field, rule: "a whole number from 0 to 9223372036854775807")
        ) {
            try DeviceRoute(method: "GET", path: "/device/v1/transactions", query: query)
        }
    }

    @Test func `a wait is cut down and unknown words are passed over`() throws {
        let route = try DeviceRoute(
            method: "GET", path: "/device/v1/transactions", query: "later=1&wait=600&since=7")

        #expect(route == .transactions(since: 7, waitSeconds: 50))
    }

    @Test func `an empty query is no query`() throws {
        let route = try DeviceRoute(method: "GET", path: "/device/v1/transactions", query: "")

        #expect(route == .transactions(since: 0, waitSeconds: 0))
    }
}
