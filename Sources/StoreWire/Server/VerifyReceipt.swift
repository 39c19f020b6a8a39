// SPDX-License-Identifier: Apache-2.0

public import Commerce

/// The body of `POST /verifyReceipt`.
/// [Apple's page](https://developer.apple.com/documentation/appstorereceipts/requestbody)
public struct VerifyReceiptRequest: Hashable, Sendable, Codable {
    /// The receipt in Base64.
    public var receiptData: String?
    /// The app's shared secret. Required for receipts with subscriptions.
    public var password: String?
    /// Whether to return only the last transaction of each subscription. Read also as the
    /// text `true` or `false` and the number 1 or 0, which old servers send.
    public var excludesOldTransactions: Bool?

    private enum CodingKeys: String, CodingKey {
        case receiptData = "receipt-data"
        case password
        case excludesOldTransactions = "exclude-old-transactions"
    }

    public init(
        receiptData: String?, password: String? = nil, excludesOldTransactions: Bool? = nil
    ) {
        self.receiptData = receiptData
        self.password = password
        self.excludesOldTransactions = excludesOldTransactions
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        receiptData = try fields.decodeIfPresent(String.self, forKey: .receiptData)
        password = try fields.decodeIfPresent(String.self, forKey: .password)
        excludesOldTransactions = try fields.decodeIfPresent(
            LenientFlag.self, forKey: .excludesOldTransactions)?.isSet
    }

    /// A flag in one of the forms that clients write it in.
    private struct LenientFlag: Decodable {
        let isSet: Bool

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let flag = try? value.decode(Bool.self) {
                isSet = flag
            } else if let number = try? value.decode(Int.self), (0...1).contains(number) {
                isSet = number == 1
            } else {
                switch try value.decode(String.self) {
                case "true", "1": isSet = true
                case "false", "0": isSet = false
                default:
                    throw DecodingError.dataCorruptedError(
                        in: value, debugDescription: "true or false is expected")
                }
            }
        }
    }
}

/// The answer of verifyReceipt. Its HTTP status is always 200.
/// [Apple's page](https://developer.apple.com/documentation/appstorereceipts/responsebody)
public struct VerifyReceiptResponse: Hashable, Sendable, Encodable {
    public let status: ReceiptStatus
    /// `Sandbox` or `Production`.
    public var environment: String?
    /// The receipt that was sent.
    public var receipt: VerifiedReceipt?
    /// The answer about a single transaction, in the place of all others.
    public var transaction: TransactionReceipt?
    /// The following are for receipts with auto-renewable subscriptions only. The newest
    /// receipt, in Base64.
    public var latestReceipt: String?
    /// All transactions but finished consumables, the newest first.
    public var latestReceiptInfo: [ReceiptTransaction]?
    /// A subscription each.
    public var pendingRenewalInfo: [PendingRenewal]?

    public init(_ status: ReceiptStatus) { self.status = status }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: ReceiptKey.self)
        try fields.encode(status.rawValue, forKey: "status")
        if status.isRetryable {
            // The documentation spelt it differently at different times.
            for key: ReceiptKey in ["is_retryable", "is-retryable"] {
                try fields.encode(true, forKey: key)
            }
        }
        try fields.encodeIfPresent(environment, forKey: "environment")
        if let transaction { return try transaction.encode(into: &fields) }
        try fields.encodeIfPresent(receipt, forKey: "receipt")
        try fields.encodeIfPresent(latestReceipt, forKey: "latest_receipt")
        try fields.encodeIfPresent(latestReceiptInfo, forKey: "latest_receipt_info")
        try fields.encodeIfPresent(pendingRenewalInfo, forKey: "pending_renewal_info")
    }
}

/// What a receipt came to. An open set, because Apple reserves a range.
/// [Apple's page](https://developer.apple.com/documentation/appstorereceipts/status)
public struct ReceiptStatus: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let valid = ReceiptStatus(rawValue: 0)
    /// The request was not a POST.
    public static let notPost = ReceiptStatus(rawValue: 21_000)
    /// `receipt-data` is missing or is no receipt.
    public static let malformed = ReceiptStatus(rawValue: 21_002)
    /// The receipt is not one of this store's.
    public static let notAuthenticated = ReceiptStatus(rawValue: 21_003)
    public static let secretMismatch = ReceiptStatus(rawValue: 21_004)
    public static let unavailable = ReceiptStatus(rawValue: 21_005)
    /// The subscription of a single transaction has expired.
    public static let expired = ReceiptStatus(rawValue: 21_006)
    public static let sandboxAtProduction = ReceiptStatus(rawValue: 21_007)
    public static let productionAtSandbox = ReceiptStatus(rawValue: 21_008)
    public static let internalError = ReceiptStatus(rawValue: 21_009)
    /// The customer's history was cleared, or the account is gone.
    public static let accountNotFound = ReceiptStatus(rawValue: 21_010)

    /// Whether the response says that the request may be repeated.
    public var isRetryable: Bool { (21_100...21_199).contains(rawValue) }
}

/// The contents of a receipt.
/// [Apple's page](https://developer.apple.com/documentation/appstorereceipts/responsebody/receipt)
public struct VerifiedReceipt: Hashable, Sendable, Encodable {
    /// `Production` or `ProductionSandbox`.
    public var receiptType: String
    /// The app's number. 0 in a sandbox.
    public var appID: Int64
    public var bundleID: String
    public var applicationVersion: String
    public var originalApplicationVersion: String
    public var creationDate: Timestamp
    public var requestDate: Timestamp
    public var originalPurchaseDate: Timestamp?
    public var expirationDate: Timestamp?
    /// In the order of the receipt.
    public var purchases: [ReceiptTransaction]

    public init(
        receiptType: String, appID: Int64, bundleID: String, applicationVersion: String,
        originalApplicationVersion: String, creationDate: Timestamp, requestDate: Timestamp,
        originalPurchaseDate: Timestamp?, expirationDate: Timestamp?,
        purchases: [ReceiptTransaction]
    ) {
        self.receiptType = receiptType
        self.appID = appID
        self.bundleID = bundleID
        self.applicationVersion = applicationVersion
        self.originalApplicationVersion = originalApplicationVersion
        self.creationDate = creationDate
        self.requestDate = requestDate
        self.originalPurchaseDate = originalPurchaseDate
        self.expirationDate = expirationDate
        self.purchases = purchases
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: ReceiptKey.self)
        try fields.encode(receiptType, forKey: "receipt_type")
        try fields.encode(appID, forKey: "adam_id")
        try fields.encode(appID, forKey: "app_item_id")
        try fields.encode(bundleID, forKey: "bundle_id")
        try fields.encode(applicationVersion, forKey: "application_version")
        try fields.encode(originalApplicationVersion, forKey: "original_application_version")
        try fields.encode(0, forKey: "download_id")
        try fields.encode(0, forKey: "version_external_identifier")
        try fields.encode(date: creationDate, "receipt_creation_date")
        try fields.encode(date: requestDate, "request_date")
        try fields.encode(date: originalPurchaseDate, "original_purchase_date")
        try fields.encode(date: expirationDate, "expiration_date")
        try fields.encode(purchases, forKey: "in_app")
    }
}

/// A purchase in an answer of verifyReceipt. All values are texts.
/// [Apple's page](https://developer.apple.com/documentation/appstorereceipts/responsebody/latest_receipt_info)
public struct ReceiptTransaction: Hashable, Sendable, Encodable {
    public var quantity: Int64
    public var productID: String
    public var transactionID: String
    public var originalTransactionID: String
    public var purchaseDate: Timestamp?
    public var originalPurchaseDate: Timestamp?
    public var expiresDate: Timestamp?
    public var webOrderLineItemID: Int64?
    public var isTrialPeriod = false
    /// Only for subscriptions.
    public var isInIntroOfferPeriod: Bool?
    public var cancellationDate: Timestamp?
    public var cancellationReason: Int64?
    public var promotionalOfferID: String?
    /// The following are in `latest_receipt_info` only.
    public var appAccountToken: String?
    /// `PURCHASED` or `FAMILY_SHARED`.
    public var ownershipType: String?
    public var isUpgraded = false
    public var offerCodeName: String?
    public var groupID: String?

    public init(
        quantity: Int64, productID: String, transactionID: String, originalTransactionID: String
    ) {
        self.quantity = quantity
        self.productID = productID
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: ReceiptKey.self)
        try fields.encode(String(quantity), forKey: "quantity")
        try fields.encode(productID, forKey: "product_id")
        try fields.encode(transactionID, forKey: "transaction_id")
        try fields.encode(originalTransactionID, forKey: "original_transaction_id")
        try fields.encode(date: purchaseDate, "purchase_date")
        try fields.encode(date: originalPurchaseDate, "original_purchase_date")
        try fields.encode(date: expiresDate, "expires_date")
        try fields.encodeIfPresent(
            webOrderLineItemID.map(String.init), forKey: "web_order_line_item_id")
        try fields.encode("\(isTrialPeriod)", forKey: "is_trial_period")
        try fields.encodeIfPresent(
            isInIntroOfferPeriod.map { "\($0)" }, forKey: "is_in_intro_offer_period")
        try fields.encode(date: cancellationDate, "cancellation_date")
        try fields.encodeIfPresent(
            cancellationReason.map(String.init), forKey: "cancellation_reason")
        try fields.encodeIfPresent(promotionalOfferID, forKey: "promotional_offer_id")
        try fields.encodeIfPresent(appAccountToken, forKey: "app_account_token")
        try fields.encodeIfPresent(ownershipType, forKey: "in_app_ownership_type")
        if isUpgraded { try fields.encode("true", forKey: "is_upgraded") }
        try fields.encodeIfPresent(offerCodeName, forKey: "offer_code_ref_name")
        try fields.encodeIfPresent(groupID, forKey: "subscription_group_identifier")
    }
}

/// The next renewal of a subscription in an answer of verifyReceipt. All values are
/// texts.
/// [Apple's page](https://developer.apple.com/documentation/appstorereceipts/responsebody/pending_renewal_info)
public struct PendingRenewal: Hashable, Sendable, Encodable {
    public var autoRenewProductID: String
    public var productID: String
    public var originalTransactionID: String
    public var isOn: Bool
    public var expirationIntent: Int?
    public var isInBillingRetryPeriod: Bool?
    public var gracePeriodExpiresDate: Timestamp?
    /// Whether the customer agreed to a higher price. Nil if none was announced.
    public var priceIncreaseStatus: Int?
    public var offerCodeName: String?
    public var promotionalOfferID: String?

    public init(
        autoRenewProductID: String, productID: String, originalTransactionID: String, isOn: Bool
    ) {
        self.autoRenewProductID = autoRenewProductID
        self.productID = productID
        self.originalTransactionID = originalTransactionID
        self.isOn = isOn
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: ReceiptKey.self)
        try fields.encode(autoRenewProductID, forKey: "auto_renew_product_id")
        try fields.encode(productID, forKey: "product_id")
        try fields.encode(originalTransactionID, forKey: "original_transaction_id")
        try fields.encode(isOn ? "1" : "0", forKey: "auto_renew_status")
        try fields.encodeIfPresent(
            expirationIntent.map(String.init), forKey: "expiration_intent")
        try fields.encodeIfPresent(
            isInBillingRetryPeriod.map { $0 ? "1" : "0" }, forKey: "is_in_billing_retry_period")
        try fields.encode(date: gracePeriodExpiresDate, "grace_period_expires_date")
        // The second name is the later one.
        for key: ReceiptKey in ["price_consent_status", "price_increase_status"] {
            try fields.encodeIfPresent(priceIncreaseStatus.map(String.init), forKey: key)
        }
        try fields.encodeIfPresent(offerCodeName, forKey: "offer_code_ref_name")
        try fields.encodeIfPresent(promotionalOfferID, forKey: "promotional_offer_id")
    }
}

/// A name in an answer of verifyReceipt, and in notifications of version 1.
struct ReceiptKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init(stringLiteral value: String) { stringValue = value }
    init?(intValue: Int) { nil }
}

extension KeyedEncodingContainer where Key == ReceiptKey {
    /// Encodes a date three times: in UTC, in milliseconds, and in Pacific time.
    mutating func encode(date: Timestamp?, _ name: String) throws {
        guard let date else { return }
        try encode(
            date.receiptText(inPacificTime: false), forKey: ReceiptKey(stringValue: name))
        try encode(String(date.milliseconds), forKey: ReceiptKey(stringValue: name + "_ms"))
        try encode(
            date.receiptText(inPacificTime: true), forKey: ReceiptKey(stringValue: name + "_pst"))
    }
}
