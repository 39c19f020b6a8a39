// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// Asks for a session: who is asking, for which app, from which device.
public struct SignInRequest: Hashable, Sendable, Codable {
    /// The app; when missing, the realm's only one.
    public var bundleId: String?
    /// The app's version, as the receipt tells it; `1.0` when missing.
    public var appVersion: String?
    /// The installation's UUID, made once by the device.
    public var deviceUUID: String
    /// A name for people: a host's name, `shopkeeper`.
    public var deviceName: String?
    /// Sign-in name; when missing, a sandbox answers for its default customer.
    public var customer: String?
    public var password: String?

    public init(
        bundleId: String? = nil, appVersion: String? = nil, deviceUUID: String,
        deviceName: String? = nil, customer: String? = nil, password: String? = nil
    ) {
        self.bundleId = bundleId
        self.appVersion = appVersion
        self.deviceUUID = deviceUUID
        self.deviceName = deviceName
        self.customer = customer
        self.password = password
    }
}

/// A session, and what a device must know of the store it speaks to.
public struct SignInResponse: Hashable, Sendable, Codable {
    /// Goes into `Authorization: Bearer …` of every other call.
    public var token: String
    /// Wall time after which the token is refused.
    public var tokenExpires: Timestamp
    public var customerId: String
    public var customerName: String
    public var bundleId: String
    /// The app's number; present in production.
    public var appAppleId: Int64?
    public var realm: RealmDescription
    public var storefront: StorefrontDescription
    /// Identifies this customer's use of this app; the same on every device.
    public var appTransactionId: String
    /// Whether this customer may buy.
    public var canMakePayments: Bool
    /// The store's root certificate, DER in Base64: pinned where the device may.
    public var rootCertificate: String
    /// Commercial time when this was answered.
    public var now: Timestamp
    /// True where a sandbox shows no payment sheet: payments are confirmed by
    /// themselves. Missing everywhere else.
    public var disablesDialogs: Bool?

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
    /// Made with the realm and never given to another.
    public var id: String
    public var name: String
    /// `Sandbox` or `Production`: the environment of what it signs.
    public var environment: String
    /// Raised when the realm was restored from a copy: devices drop their caches.
    public var generation: Int64

    public init(id: String, name: String, environment: String, generation: Int64) {
        self.id = id
        self.name = name
        self.environment = environment
        self.generation = generation
    }
}

public struct StorefrontDescription: Hashable, Sendable, Codable {
    /// Alpha-3.
    public var countryCode: String
    /// Alpha-2.
    public var region: String
    public var id: String?
    public var currency: String
    /// The locale in which words are chosen.
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
