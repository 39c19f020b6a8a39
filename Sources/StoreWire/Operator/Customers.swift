// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A customer as operators see it.
public struct CustomerSummary: Hashable, Sendable, Codable {
    public var customerId: String
    /// The sign-in name.
    public var name: String
    /// For people; nobody signs in by it. Missing where none is known.
    public var email: String?
    /// Alpha-3 country code.
    public var storefront: String
    /// Whether the customer may buy.
    public var canMakePayments: Bool
    /// Whether somebody must approve each payment.
    public var asksToBuy: Bool
    /// Whether each purchase is interrupted until somebody answers it:
    /// sandboxes only.
    public var interruptsPurchases: Bool
    /// Whether signing in wants a password.
    public var hasPassword: Bool
    /// Commercial time at which it was made.
    public var createdDate: Timestamp

    public init(
        customerId: String, name: String, email: String? = nil, storefront: String,
        canMakePayments: Bool, asksToBuy: Bool, interruptsPurchases: Bool = false,
        hasPassword: Bool, createdDate: Timestamp
    ) {
        self.customerId = customerId
        self.name = name
        self.email = email
        self.storefront = storefront
        self.canMakePayments = canMakePayments
        self.asksToBuy = asksToBuy
        self.interruptsPurchases = interruptsPurchases
        self.hasPassword = hasPassword
        self.createdDate = createdDate
    }
}

/// Asks for a new customer.
public struct CreateCustomerRequest: Hashable, Sendable, Codable {
    /// The sign-in name, 1 to 100 characters, unique in the realm.
    public var name: String
    /// At most 254 bytes, one `@` between other characters, no spaces or control
    /// characters; several customers may have the same.
    public var email: String?
    /// May be missing in a sandbox only.
    public var password: String?
    /// Alpha-3 country code; when missing, the one of the realm's catalogue.
    public var storefront: String?
    /// Whether the customer may buy; true when missing.
    public var canMakePayments: Bool?
    /// Whether somebody must approve each payment; false when missing.
    public var asksToBuy: Bool?
    /// Whether each purchase is interrupted; sandboxes only, false when missing.
    public var interruptsPurchases: Bool?

    public init(
        name: String, email: String? = nil, password: String? = nil, storefront: String? = nil,
        canMakePayments: Bool? = nil, asksToBuy: Bool? = nil, interruptsPurchases: Bool? = nil
    ) {
        self.name = name
        self.email = email
        self.interruptsPurchases = interruptsPurchases
        self.password = password
        self.storefront = storefront
        self.canMakePayments = canMakePayments
        self.asksToBuy = asksToBuy
    }
}

/// Changes a customer; what is missing stays as it is.
public struct ChangeCustomerRequest: Hashable, Sendable, Codable {
    /// As ``CreateCustomerRequest/email``; empty: none any more.
    public var email: String?
    public var canMakePayments: Bool?
    /// Whether somebody must approve each payment from now on.
    public var asksToBuy: Bool?
    /// Whether each purchase is interrupted from now on; sandboxes only.
    public var interruptsPurchases: Bool?
    /// Ends every session of the customer.
    public var password: String?
    /// Alpha-3 country code: the customer has moved.
    public var storefront: String?

    public init(
        email: String? = nil, canMakePayments: Bool? = nil, asksToBuy: Bool? = nil,
        interruptsPurchases: Bool? = nil, password: String? = nil, storefront: String? = nil
    ) {
        self.email = email
        self.interruptsPurchases = interruptsPurchases
        self.canMakePayments = canMakePayments
        self.asksToBuy = asksToBuy
        self.password = password
        self.storefront = storefront
    }
}

/// What was of a customer whose history was cleared.
public struct HistoryCleared: Hashable, Sendable, Codable {
    public var customerId: String
    /// How many purchases went, refused and waiting ones too.
    public var purchases: Int64
    /// How many transactions went.
    public var transactions: Int64
    /// The customer's revision from which on there is a history again.
    public var revision: Int64

    public init(customerId: String, purchases: Int64, transactions: Int64, revision: Int64) {
        self.customerId = customerId
        self.purchases = purchases
        self.transactions = transactions
        self.revision = revision
    }
}

/// A key with which a merchant's server asks, without its secret half.
public struct ServerKeySummary: Hashable, Sendable, Codable {
    public var keyId: String
    public var issuerId: String
    /// The app whose transactions it may read.
    public var bundleId: String
    /// Wall time at which it was made.
    public var createdDate: Timestamp
    /// Wall time at which it was revoked; missing while it opens doors.
    public var revokedDate: Timestamp?

    public init(
        keyId: String, issuerId: String, bundleId: String, createdDate: Timestamp,
        revokedDate: Timestamp? = nil
    ) {
        self.keyId = keyId
        self.issuerId = issuerId
        self.bundleId = bundleId
        self.createdDate = createdDate
        self.revokedDate = revokedDate
    }
}

/// A key just made. Its secret half is told this once and kept nowhere.
public struct CreatedServerKey: Hashable, Sendable, Codable {
    public var keyId: String
    public var issuerId: String
    public var bundleId: String
    /// PKCS#8 PEM, P-256, as Apple's libraries take it.
    public var privateKey: String

    public init(keyId: String, issuerId: String, bundleId: String, privateKey: String) {
        self.keyId = keyId
        self.issuerId = issuerId
        self.bundleId = bundleId
        self.privateKey = privateKey
    }
}
