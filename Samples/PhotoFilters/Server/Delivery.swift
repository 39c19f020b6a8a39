// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import SignedData

/// Everything that the server does about purchases.
struct Delivery: Sendable {
    static let app: BundleID = "com.example.photofilters"
    /// How long an address of a file can be used.
    static let seconds: Int64 = 300

    let filters: [Filter]
    let receipts: ReceiptVerifier
    /// Signs addresses.
    let key: SymmetricKey
    let clock: WallClock

    /// The addresses of the filters that a receipt proves. What was refunded is not
    /// delivered. Throws `VerificationFailure`.
    func addresses(for receipt: [UInt8]) throws -> [String] {
        let proof = try receipts.verify(
            receipt, bundleID: Self.app, environment: "ProductionSandbox")
        let bought = Set(proof.purchases.filter { $0.cancellationDate == nil }.map(\.productID))
        let expires = clock.now.adding(seconds: Self.seconds).milliseconds
        return filters.filter { bought.contains(ProductID($0.productIdentifier)) }.map {
            address(of: $0.name, expires: expires)
        }
    }

    func address(of name: String, expires: Int64) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: message(name, expires), using: key)
        return "/files/\(name)?expires=\(expires)&signature=\(hexadecimal(code))"
    }

    /// The filter of an address. Nil for one that is forged or whose time is over.
    func filter(_ name: String, expires: String, signature given: String) -> Filter? {
        guard let instant = Int64(expires), clock.now.milliseconds < instant,
            let code = bytes(hexadecimal: given[...]),
            HMAC<SHA256>.isValidAuthenticationCode(
                code, authenticating: message(name, instant), using: key)
        else { return nil }
        return filters.first { $0.name == name }
    }

    private func message(_ name: String, _ expires: Int64) -> Data {
        Data("\(expires)/\(name)".utf8)
    }
}

/// A filter as its file in the folder describes it.
struct Filter: Codable, Sendable {
    let name: String
    let productIdentifier: String
    let table: [Int]
}
