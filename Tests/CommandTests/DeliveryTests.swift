// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import SignedData
import Testing

@testable import PhotoFiltersServer

/// The addresses of a server that delivers filters.
@Suite struct DeliveryTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    private let delivery = Delivery(
        filters: [
            Filter(name: "sepia", productIdentifier: "a", table: []),
            Filter(name: "negative", productIdentifier: "b", table: []),
        ], receipts: ReceiptVerifier(roots: []), key: SymmetricKey(size: .bits256),
        clock: WallClock { Self.now })

    @Test func `an address is for one filter until it expires`() throws {
        let later = Self.now.milliseconds + 1
        let code = try #require(
            delivery.address(of: "sepia", expires: later).split(separator: "=").last)
        let tries: [(String, Int64, String, String?)] = [
            ("sepia", later, String(code), "sepia"),
            ("negative", later, String(code), nil),
            ("sepia", later + 1, String(code), nil),
            ("sepia", later, String(code.dropLast(2)), nil),
            ("sepia", later, "", nil),
        ]
        for (name, expires, signature, found) in tries {
            let filter = delivery.filter(name, expires: "\(expires)", signature: signature)
            #expect(filter?.name == found, "\(name) \(expires) \(signature)")
        }
        let over = delivery.address(of: "sepia", expires: Self.now.milliseconds)
        let old = try #require(over.split(separator: "=").last)
        #expect(
            delivery.filter(
                "sepia", expires: "\(Self.now.milliseconds)", signature: String(old)) == nil)
        #expect(delivery.filter("sepia", expires: "soon", signature: String(code)) == nil)
    }

    @Test func `what is no receipt proves nothing`() {
        #expect(throws: VerificationFailure.self) { try delivery.addresses(for: [1, 2, 3]) }
    }
}
