// SPDX-License-Identifier: Apache-2.0

/// The calls of the device protocol, version 1, with their addresses. The
/// device formats a route and the store parses it with the same type, so they
/// cannot disagree.
public enum DeviceRoute: Hashable, Sendable {
    /// `POST /device/v1/sessions`
    case signIn
    /// `POST /device/v1/products`
    case products
    /// `POST /device/v1/offers`: what a payment with an offer would charge.
    case offer
    /// `PUT /device/v1/purchases/{purchaseId}`
    case purchase(id: String)
    /// `GET /device/v1/transactions?since=REVISION&after=TRANSACTION&wait=SECONDS`.
    /// `after` is sent only where a page ended between two transactions of
    /// the revision `since`.
    case transactions(since: Int64, after: Int64? = nil, waitSeconds: Int)
    /// `POST /device/v1/transactions/{transactionId}/finish`
    case finish(transactionID: String)
    /// `POST /device/v1/transactions/{transactionId}/refund-request`
    case requestRefund(transactionID: String)
    /// `POST /device/v1/transactions/{transactionId}/content`: a link to the content of
    /// the transaction's product.
    case content(transactionID: String)
    /// `GET /device/v1/receipt`
    case receipt
    /// `GET /device/v1/price-increases`: the higher prices that wait for the
    /// customer's consent.
    case priceIncreases
    /// `PUT /device/v1/subscriptions/{subscriptionId}/price-consent`
    case consent(subscriptionID: String)
    /// `GET /device/v1/promotion-overrides`: what the app has changed on this device
    /// about its promoted products.
    case promotionOverrides
    /// `PUT /device/v1/promotion-order`
    case orderPromotions
    /// `PUT /device/v1/promotion-visibility`
    case showPromotion
    /// `POST /device/v1/reviews/requests`: whether the customer is asked for a review of
    /// the app now. A yes is counted.
    case reviewRequest
    /// `PUT /device/v1/review`: the customer's review of the app.
    case review
    /// `POST /device/v1/purchase-intents`: takes up what the customer has chosen outside
    /// of the app.
    case claimIntents
    /// `PUT /device/v1/purchase-intents/{intentId}`
    case decideIntent(id: String)

    /// The longest time for which a request for transactions may wait.
    public static let waitSecondsMax = 50
    public static let prefix = "/device/v1"

    public var method: String {
        switch self {
        case .signIn, .products, .offer, .finish, .requestRefund, .content, .reviewRequest,
            .claimIntents:
            "POST"
        case .purchase, .consent, .orderPromotions, .showPromotion, .review, .decideIntent: "PUT"
        case .transactions, .receipt, .priceIncreases, .promotionOverrides: "GET"
        }
    }

    /// Whether a call of this route has a body, which is JSON.
    public var hasBody: Bool {
        switch self {
        case .signIn, .products, .offer, .purchase, .requestRefund, .content, .consent,
            .orderPromotions, .showPromotion, .reviewRequest, .review, .decideIntent:
            true
        case .transactions, .finish, .receipt, .priceIncreases, .promotionOverrides,
            .claimIntents:
            false
        }
    }

    /// Whether a call of this route needs a session's token.
    public var needsSession: Bool { self != .signIn }

    /// The path without its variable parts, for logs and lists of routes.
    public var pattern: String {
        switch self {
        case .purchase: "\(Self.prefix)/purchases/{}"
        case .finish: "\(Self.prefix)/transactions/{}/finish"
        case .requestRefund: "\(Self.prefix)/transactions/{}/refund-request"
        case .content: "\(Self.prefix)/transactions/{}/content"
        case .consent: "\(Self.prefix)/subscriptions/{}/price-consent"
        case .transactions: "\(Self.prefix)/transactions"
        case .decideIntent: "\(Self.prefix)/purchase-intents/{}"
        case .signIn, .products, .offer, .receipt, .priceIncreases, .promotionOverrides,
            .orderPromotions, .showPromotion, .reviewRequest, .review, .claimIntents:
            path
        }
    }

    /// Path and query, to be appended to the realm's URL.
    public var path: String {
        switch self {
        case .signIn: "\(Self.prefix)/sessions"
        case .products: "\(Self.prefix)/products"
        case .offer: "\(Self.prefix)/offers"
        case .purchase(let id): "\(Self.prefix)/purchases/\(id)"
        case .transactions(let since, let after, let wait):
            "\(Self.prefix)/transactions?since=\(since)"
                + (after.map { "&after=\($0)" } ?? "") + "&wait=\(wait)"
        case .finish(let id): "\(Self.prefix)/transactions/\(id)/finish"
        case .requestRefund(let id): "\(Self.prefix)/transactions/\(id)/refund-request"
        case .content(let id): "\(Self.prefix)/transactions/\(id)/content"
        case .receipt: "\(Self.prefix)/receipt"
        case .priceIncreases: "\(Self.prefix)/price-increases"
        case .promotionOverrides: "\(Self.prefix)/promotion-overrides"
        case .orderPromotions: "\(Self.prefix)/promotion-order"
        case .showPromotion: "\(Self.prefix)/promotion-visibility"
        case .claimIntents: "\(Self.prefix)/purchase-intents"
        case .decideIntent(let id): "\(Self.prefix)/purchase-intents/\(id)"
        case .consent(let id): "\(Self.prefix)/subscriptions/\(id)/price-consent"
        case .reviewRequest: "\(Self.prefix)/reviews/requests"
        case .review: "\(Self.prefix)/review"
        }
    }
}
