// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// What an account may use in one environment:
/// `GET /ledger/v1/accounts/{account}/entitlements`.
public struct AccountEntitlements: Hashable, Sendable, Codable {
    public let account: String
    public let environment: String
    /// In the order of their names.
    public let entitlements: [LedgerEntitlement]

    public init(account: String, environment: String, entitlements: [LedgerEntitlement]) {
        self.account = account
        self.environment = environment
        self.entitlements = entitlements
    }
}

/// An entitlement that an account has, had, or will have.
public struct LedgerEntitlement: Hashable, Sendable, Codable {
    /// The name in `ledger.yaml`.
    public let name: String
    public let isActive: Bool
    /// When the present time without a gap began. If it is not active: when the
    /// last one began, or the first one will begin.
    public let startDate: Timestamp
    /// When it ends, or has ended. Absent if it lasts for ever.
    public let endDate: Timestamp?
    /// The product and transaction that grant it at present, or granted it last.
    public let productId: String
    public let transactionId: String
    /// Why it is active or not, in a sentence.
    public let why: String

    public init(
        name: String, isActive: Bool, startDate: Timestamp, endDate: Timestamp?,
        productId: String, transactionId: String, why: String
    ) {
        self.name = name
        self.isActive = isActive
        self.startDate = startDate
        self.endDate = endDate
        self.productId = productId
        self.transactionId = transactionId
        self.why = why
    }
}

/// Why an account may use something or not:
/// `GET /ledger/v1/accounts/{account}/entitlements/{name}`.
public struct EntitlementReason: Hashable, Sendable, Codable {
    public let account: String
    public let environment: String
    public let name: String
    public let isActive: Bool
    /// A sentence that names the transaction, or what is missing.
    public let why: String
    /// Every purchase that has granted it, in the order of their starts.
    public let purchases: [EntitlingPurchase]
    /// The products that grant it by the present rules.
    public let grantedBy: [String]

    public init(
        account: String, environment: String, name: String, isActive: Bool, why: String,
        purchases: [EntitlingPurchase], grantedBy: [String]
    ) {
        self.account = account
        self.environment = environment
        self.name = name
        self.isActive = isActive
        self.why = why
        self.purchases = purchases
        self.grantedBy = grantedBy
    }
}

/// The time for which one purchase grants an entitlement.
public struct EntitlingPurchase: Hashable, Sendable, Codable {
    public let transactionId: String
    public let productId: String
    public let startDate: Timestamp
    /// Absent if it lasts for ever. The start, if the purchase grants nothing.
    public let endDate: Timestamp?
    /// Why it ends: `never`, `expired`, `graceEnded`, `revoked`, `upgraded` or
    /// `noExpiry`.
    public let end: String

    public init(
        transactionId: String, productId: String, startDate: Timestamp, endDate: Timestamp?,
        end: String
    ) {
        self.transactionId = transactionId
        self.productId = productId
        self.startDate = startDate
        self.endDate = endDate
        self.end = end
    }
}

/// The entitlements of an account, signed for use without a connection:
/// `GET /ledger/v1/accounts/{account}/signed-entitlements`.
public struct SignedEntitlements: Hashable, Sendable, Codable {
    /// A compact JWS (ES256) of ``EntitlementClaims``, by the key that
    /// `GET /ledger/v1/keys` returns.
    public let signedEntitlements: String
    public let expiresDate: Timestamp

    public init(signedEntitlements: String, expiresDate: Timestamp) {
        self.signedEntitlements = signedEntitlements
        self.expiresDate = expiresDate
    }
}

/// The payload of ``SignedEntitlements``. Dates are in seconds, as in JWT.
public struct EntitlementClaims: Hashable, Sendable, Codable {
    /// One entitlement that is active when it is signed.
    public struct Active: Hashable, Sendable, Codable {
        public let name: String
        /// When it ends. Absent if it lasts for ever.
        public let until: Int64?

        public init(name: String, until: Int64?) {
            self.name = name
            self.until = until
        }
    }

    /// The account.
    public let sub: String
    public let environment: String
    public let iat: Int64
    /// Nothing in it counts from then on.
    public let exp: Int64
    public let entitlements: [Active]

    public init(
        sub: String, environment: String, iat: Int64, exp: Int64, entitlements: [Active]
    ) {
        self.sub = sub
        self.environment = environment
        self.iat = iat
        self.exp = exp
        self.entitlements = entitlements
    }
}

/// The public keys of a ledger (RFC 7517): `GET /ledger/v1/keys`.
public struct LedgerPublicKeys: Hashable, Sendable, Codable {
    public struct Key: Hashable, Sendable, Codable {
        public let kty: String
        public let crv: String
        public let alg: String
        public let use: String
        public let kid: String
        public let x: String
        public let y: String

        public init(
            kty: String, crv: String, alg: String, use: String, kid: String, x: String, y: String
        ) {
            self.kty = kty
            self.crv = crv
            self.alg = alg
            self.use = use
            self.kid = kid
            self.x = x
            self.y = y
        }
    }

    public let keys: [Key]

    public init(keys: [Key]) { self.keys = keys }
}
