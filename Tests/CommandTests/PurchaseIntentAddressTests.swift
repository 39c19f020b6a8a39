// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import shopkeeper

/// Addresses that choose a product for a customer.
struct PurchaseIntentAddressTests {
    private static let start = "itms-services://?action=purchaseIntent"

    @Test(arguments: ["com.example.hidden-beaches", "a"])
    func `an address names an app and one of its products`(app: String) throws {
        let address = try PurchaseIntentAddress(
            Self.start + "&bundleId=\(app)&productIdentifier=com.example.the_lagoon")

        #expect("\(address.bundleID)" == app)
        #expect(address.product == "com.example.the_lagoon")
    }

    @Test func `a scheme is read in capitals too`() throws {
        let address = try PurchaseIntentAddress(
            "ITMS-Services://?action=purchaseIntent&bundleId=a&productIdentifier=b")

        #expect(address.product == "b")
    }

    @Test(arguments: [
        "", "https://?action=purchaseIntent&bundleId=a&productIdentifier=b",
        "itms-services://host?action=purchaseIntent&bundleId=a&productIdentifier=b",
        "itms-services://?action=install&bundleId=a&productIdentifier=b",
        start + "&bundleId=a", start + "&productIdentifier=b",
        start + "&bundleId=a&bundleId=a&productIdentifier=b",
        start + "&bundleId=&productIdentifier=b", start + "&bundleId=a&productIdentifier=",
        start + "&bundleId=..&productIdentifier=b", start + "&bundleId=a/b&productIdentifier=b",
        start + "&bundleId=a_b&productIdentifier=b", start + "&bundleId=a&productIdentifier=b%20c",
    ])
    func `another address is refused`(url: String) {
        #expect(throws: (any Error).self) { try PurchaseIntentAddress(url) }
    }

    @Test func `an address has an end`() {
        let long = String(repeating: "x", count: 2048)
        #expect(throws: (any Error).self) {
            try PurchaseIntentAddress(Self.start + "&bundleId=a&productIdentifier=b&more=" + long)
        }
    }
}
