// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// A customer, as operators see it.
public struct CustomerSummary: Hashable, Sendable, Codable {
    public var customerId: String
    /// The sign-in name.
    public var name: String
    /// For information only. It is not used for signing in. Missing if unknown.
    public var email: String?
    /// Alpha-3 country code.
    public var storefront: String
    /// Whether the customer is allowed to buy.
    public var canMakePayments: Bool
    /// Whether a parent must approve each payment.
    public var asksToBuy: Bool
    /// Whether each purchase is interrupted until it is answered. Sandboxes
    /// only.
    public var interruptsPurchases: Bool
    /// Whether signing in requires a password.
    public var hasPassword: Bool
    /// The commercial time of its creation.
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

/// Requests a new customer.
public struct CreateCustomerRequest: Hashable, Sendable, Codable {
    /// The sign-in name, 1 to 100 characters, unique in the realm.
    public var name: String
    /// At most 254 bytes, one `@` between other characters, no spaces or
    /// control characters. Several customers may have the same address.
    public var email: String?
    /// May be missing only in a sandbox.
    public var password: String?
    /// Alpha-3 country code. If missing, the storefront of the realm's
    /// catalogue.
    public var storefront: String?
    /// Whether the customer is allowed to buy. True if missing.
    public var canMakePayments: Bool?
    /// Whether a parent must approve each payment. False if missing.
    public var asksToBuy: Bool?
    /// Whether each purchase is interrupted. Sandboxes only. False if missing.
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

/// Changes a customer. A missing field stays unchanged.
public struct ChangeCustomerRequest: Hashable, Sendable, Codable {
    /// Like ``CreateCustomerRequest/email``. An empty text removes it.
    public var email: String?
    public var canMakePayments: Bool?
    /// Whether a parent must approve each payment from now on.
    public var asksToBuy: Bool?
    /// Whether each purchase is interrupted from now on; sandboxes only.
    public var interruptsPurchases: Bool?
    /// A new password. It ends every session of the customer.
    public var password: String?
    /// Alpha-3 country code. The customer moves to this storefront.
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

/// What was deleted with a customer's history.
public struct HistoryCleared: Hashable, Sendable, Codable {
    public var customerId: String
    /// The number of deleted purchases, including refused and waiting ones.
    public var purchases: Int64
    /// The number of deleted transactions.
    public var transactions: Int64
    /// The customer's revision at which the new history begins.
    public var revision: Int64

    public init(customerId: String, purchases: Int64, transactions: Int64, revision: Int64) {
        self.customerId = customerId
        self.purchases = purchases
        self.transactions = transactions
        self.revision = revision
    }
}

/// A key for a merchant's server, without its secret half.
public struct ServerKeySummary: Hashable, Sendable, Codable {
    public var keyId: String
    public var issuerId: String
    /// The app whose transactions it may read.
    public var bundleId: String
    /// The wall time of its creation.
    public var createdDate: Timestamp
    /// The wall time of its revocation. Missing while the key is valid.
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

/// A new key. The secret half is in this answer only and is not stored.
public struct CreatedServerKey: Hashable, Sendable, Codable {
    public var keyId: String
    public var issuerId: String
    public var bundleId: String
    /// PKCS#8 PEM, P-256, the format of Apple's libraries.
    public var privateKey: String

    public init(keyId: String, issuerId: String, bundleId: String, privateKey: String) {
        self.keyId = keyId
        self.issuerId = issuerId
        self.bundleId = bundleId
        self.privateKey = privateKey
    }
}
