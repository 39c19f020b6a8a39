// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Requests a session for a customer, an app and a device.
public struct SignInRequest: Hashable, Sendable, Codable {
    /// The app's bundle id. May be missing if the realm has only one app.
    public var bundleId: String?
    /// The app's version in the receipt. `1.0` if missing.
    public var appVersion: String?
    /// The installation's UUID, generated once by the device.
    public var deviceUUID: String
    /// A name for people: a host's name, `shopkeeper`.
    public var deviceName: String?
    /// The environment for which the device is: `Production`, `Sandbox`… A realm of
    /// another one refuses it. Any if missing.
    public var environment: String?
    /// The sign-in name. If missing, a sandbox uses its default customer.
    public var customer: String?
    public var password: String?

    public init(
        bundleId: String? = nil, appVersion: String? = nil, deviceUUID: String,
        deviceName: String? = nil, environment: String? = nil, customer: String? = nil,
        password: String? = nil
    ) {
        self.bundleId = bundleId
        self.appVersion = appVersion
        self.deviceUUID = deviceUUID
        self.deviceName = deviceName
        self.environment = environment
        self.customer = customer
        self.password = password
    }
}

/// A session, and what a device must know about the store.
public struct SignInResponse: Hashable, Sendable, Codable {
    /// To be sent as `Authorization: Bearer …` with every other call.
    public var token: String
    /// The wall time after which the token is rejected.
    public var tokenExpires: Timestamp
    public var customerId: String
    public var customerName: String
    public var bundleId: String
    /// The app's number. Present in production.
    public var appAppleId: Int64?
    public var realm: RealmDescription
    public var storefront: StorefrontDescription
    /// Identifies this customer's use of this app. The same on every device.
    public var appTransactionId: String
    /// Whether this customer is allowed to buy.
    public var canMakePayments: Bool
    /// The store's root certificate, DER in Base64. The device pins it where
    /// that is allowed.
    public var rootCertificate: String
    /// The commercial time of this answer.
    public var now: Timestamp
    /// True if a sandbox shows no payment sheet. Payments are then confirmed
    /// without one. Missing otherwise.
    public var disablesDialogs: Bool?
    /// True if a higher price of a subscription waits for the customer's consent.
    /// Missing otherwise.
    public var asksPriceConsent: Bool?
    /// True if the customer has chosen a product outside of the app, and the app has
    /// still to decide about it. Missing otherwise.
    public var hasPurchaseIntents: Bool?

    public init(
        token: String, tokenExpires: Timestamp, customerId: String, customerName: String,
        bundleId: String, appAppleId: Int64?, realm: RealmDescription,
        storefront: StorefrontDescription, appTransactionId: String, canMakePayments: Bool,
        rootCertificate: String, now: Timestamp, disablesDialogs: Bool? = nil
    ) {
        self.token = token
        self.tokenExpires = tokenExpires
        self.customerId = customerId
        self.customerName = customerName
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.realm = realm
        self.storefront = storefront
        self.appTransactionId = appTransactionId
        self.canMakePayments = canMakePayments
        self.rootCertificate = rootCertificate
        self.now = now
        self.disablesDialogs = disablesDialogs
    }
}

public struct RealmDescription: Hashable, Sendable, Codable {
    /// Created with the realm and never used for another.
    public var id: String
    public var name: String
    /// The environment in the data that the realm signs: `Production`, or a sandbox's
    /// `Sandbox`, `Xcode` or `LocalTesting`.
    public var environment: Environment
    /// Raised when the realm was restored from a backup. Devices then drop
    /// their caches.
    public var generation: Int64

    public init(id: String, name: String, environment: Environment, generation: Int64) {
        self.id = id
        self.name = name
        self.environment = environment
        self.generation = generation
    }
}

public struct StorefrontDescription: Hashable, Sendable, Codable {
    /// Alpha-3 code.
    public var countryCode: String
    /// Alpha-2 code.
    public var region: String
    public var id: String?
    public var currency: String
    /// The locale in which texts are chosen.
    public var locale: String

    public init(countryCode: String, region: String, id: String?, currency: String, locale: String)
    {
        self.countryCode = countryCode
        self.region = region
        self.id = id
        self.currency = currency
        self.locale = locale
    }
}
