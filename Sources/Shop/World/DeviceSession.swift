// SPDX-License-Identifier: Apache-2.0

public import Commerce
import Crypto
import Foundation
import Storage

/// A customer on a device, using an app, authenticated by a token. Read from
/// the database together with the clock.
public struct DeviceSession: Sendable {
    public let customer: CustomerID
    public let bundleID: BundleID
    /// The installation's UUID in lower case.
    public let deviceUUID: String
    public let appVersion: String
    /// The customer's revision when the session was read.
    public let revision: Int64

    /// The realm's generation when the session was read.
    let generation: Int64
    /// The hash by which the session's row is found again.
    let tokenHash: [UInt8]
    let appID: Int64?
    let storefront: Storefront
    let locale: String
    let mayBuy: Bool
    let appTransactionID: Int64
    let originalPurchasedAt: Timestamp
    let originalVersion: String
    let clock: ClockRow

    /// Facts for the log: numbers only.
    var facts: [String: String] { ["customer": customer.description] }

    init(_ row: Row, _ customer: CustomerID, _ tokenHash: [UInt8]) throws {
        self.customer = customer
        self.tokenHash = tokenHash
        bundleID = BundleID(try row.text("bundle_id"))
        deviceUUID = try row.text("device_uuid")
        appVersion = try row.text("app_version")
        revision = try row.integer("revision")
        generation = try row.integer("generation")
        appID = try row.optionalInteger("app_id")
        guard let storefront = Storefront.named(try row.text("storefront")) else {
            throw StorageFault(.malformedRow, "a storefront that is not known")
        }
        self.storefront = storefront
        locale = try row.text("locale")
        mayBuy = try row.boolean("may_buy")
        appTransactionID = try row.integer("app_transaction_id")
        originalPurchasedAt = Timestamp(milliseconds: try row.integer("original_purchased_at"))
        originalVersion = try row.text("original_version")
        clock = try ClockRow(row)
    }
}

/// A session's token: the customer's number, which determines the partition,
/// and 256 random bits, of which only the SHA-256 is stored.
struct SessionToken {
    static let secretBytes = 32
    static let hashBytes = 32

    let customer: CustomerID
    private let secret: [UInt8]

    init(customer: CustomerID, randomness: Randomness) {
        self.customer = customer
        secret = randomness.bytes(Self.secretBytes)
    }

    /// Nil if `text` does not have the form of a token.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count < 128, parts.count == 2,
            let customer = Edge.number(String(parts[0])),
            let secret = bytes(hexadecimal: parts[1]), secret.count == Self.secretBytes
        else { return nil }
        self.customer = CustomerID(customer)
        self.secret = secret
    }

    var text: String { "\(customer.value).\(hexadecimal(secret))" }

    var hash: [UInt8] { Array(SHA256.hash(data: Data(secret))) }
}
