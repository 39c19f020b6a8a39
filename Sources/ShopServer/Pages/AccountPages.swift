// SPDX-License-Identifier: Apache-2.0

import Commerce
import HTTPShell
import Hummingbird
import PriceText
import Shop
import StoreWire

/// The pages of a customer who is signed in.
struct AccountPages: Sendable {
    private let visit: PageVisit
    private let visitor: Visitor

    /// The most purchases of one page.
    private static let purchasesMax = 50

    /// Refusal: `sessionUnknown`, for one who is not signed in.
    init(_ visit: PageVisit) throws {
        guard let visitor = visit.visitor else { throw PageForm.foreign }
        (self.visit, self.visitor) = (visit, visitor)
    }

    func account() async throws -> Response {
        let realm = visit.realm
        let window = try await realm.catalogue.window(
            in: visit.storefront, locale: visit.locale)
        let text = AccountText(window, visit.formToken)
        let customer = visitor.customerID
        let approvals = try await realm.visitors.approvals(visitor)
        let subscriptions = try await realm.subscriptions.list(customer: customer)
        let pending = try await pendingProducts(subscriptions.subscriptions)
        let purchases = try await realm.purchases.listTransactions(
            customer: customer, after: visit.call.query("after"), limit: Self.purchasesMax)
        let refunds = try await realm.refunds.list(customer: customer)
        let states = Dictionary(refunds.refunds.map { ($0.transactionId, $0.state) }) { $1 }
        var facts: [String: Any] = [
            "hasChildren": !approvals.isEmpty, "approvals": approvals.map(text.approval),
            "subscriptions": subscriptions.subscriptions.map {
                text.subscription($0, next: pending[$0.subscriptionId])
            },
            "purchases": purchases.transactions.map { text.purchase($0, states) },
            "isFurther": visit.call.query("after") != nil,
            "isAsked": try await realm.visitors.isAskedForReviews(visitor),
        ]
        facts["next"] = purchases.next
        return try visit.page("account", title: "\(visitor.name.isolated)’s account", facts)
    }

    /// The products of the next periods of the subscriptions whose renewal is off, by the
    /// subscription's number: what each would be resumed as.
    private func pendingProducts(_ all: [SubscriptionRecord]) async throws -> [String: String] {
        var products: [String: String] = [:]
        for one in all where one.status == "active" && !one.isRenewing {
            products[one.subscriptionId] = try await visit.realm.visitors.nextProduct(
                of: one.subscriptionId, visitor)
        }
        return products
    }

    func switchRenewal() async throws -> Response {
        let form = try await visit.form()
        guard let isOn = ["true": true, "false": false][form["on"]] else {
            throw PageForm.invalid
        }
        let (visitors, id) = (visit.realm.visitors, visit.parts[0])
        if isOn {
            try await visitors.resumeRenewal(
                of: id, as: form["next"], visitor, visit.call.context)
        } else {
            try await visitors.cancelRenewal(of: id, visitor, visit.call.context)
        }
        return done
    }

    func chooseProduct() async throws -> Response {
        let form = try await visit.form()
        try await visit.realm.visitors.choose(
            form["product"], insteadOf: form["next"], for: visit.parts[0], visitor,
            visit.call.context)
        return done
    }

    func requestRefund() async throws -> Response {
        let form = try await visit.form()
        try await visit.realm.visitors.requestRefund(
            visit.parts[0], RefundRequest(reason: form["reason"]), visitor, visit.call.context)
        return done
    }

    func answerApproval() async throws -> Response {
        let form = try await visit.form()
        try await visit.realm.visitors.answer(
            visit.parts[0], of: visit.parts[1], form["answer"], visitor, visit.call.context)
        return done
    }

    func switchReviewRequests() async throws -> Response {
        let form = try await visit.form()
        guard let isOn = ["true": true, "false": false][form["on"]] else {
            throw PageForm.invalid
        }
        try await visit.realm.visitors.switchReviewRequests(on: isOn, visitor)
        return done
    }

    /// Asks the app for a promoted product.
    func choose() async throws -> Response {
        _ = try await visit.form()
        let (app, product) = (visit.parts[0], visit.parts[1])
        let shown = try await visit.realm.visitors.promoted(in: app, visitor)
        guard shown.contains(product) else { throw ShopPages.noPromotion }
        let choice = try await visit.realm.visitors.choose(
            product, in: app, visitor, visit.call.context)
        return visit.redirect("/store/choices/\(choice.intentId)")
    }

    /// What has become of a choice. To load it again chooses nothing.
    func choice() async throws -> Response {
        let choice = try await visit.realm.visitors.choice(visit.parts[0], visitor)
        var facts: [String: Any] = [
            "text": choice.message, "back": "/store/apps/\(choice.bundleId.pathEncoded)",
            "backLabel": "Back to the app's page",
        ]
        if PurchaseIntentState(rawValue: choice.state)?.isOpen == true {
            facts["again"] = "/store/choices/\(choice.intentId)"
        }
        if choice.state == PurchaseIntentState.waiting.rawValue {
            let page = try await visit.realm.catalogue.appPage(choice.bundleId)
            facts["ownPrice"] = page.price
            facts["url"] = page.url
        }
        return try visit.page("message", title: "Your choice", facts)
    }

    private var done: Response { visit.redirect("/store/account") }
}

/// The sentences of an account's page.
private struct AccountText {
    private let window: ShopWindow
    private let formToken: String

    init(_ window: ShopWindow, _ formToken: String) {
        (self.window, self.formToken) = (window, formToken)
    }

    func approval(_ waiting: WaitingChild) -> [String: Any] {
        let purchase = waiting.purchase
        var facts: [String: Any] = [
            "child": waiting.name, "childID": purchase.customerId,
            "purchaseID": purchase.purchaseId, "app": app(purchase.bundleId),
            "product": product(purchase.productId, purchase.bundleId),
            "price": price(
                purchase.unitPrice * Int64(purchase.quantity), purchase.currency,
                purchase.bundleId),
        ]
        if purchase.quantity > 1 { facts["count"] = "\(purchase.quantity)" }
        return facts
    }

    /// `pending`: the product of the next period if the renewal is off. The forms carry what
    /// the customer was shown, because another browser may change it meanwhile.
    func subscription(_ one: SubscriptionRecord, next pending: String?) -> [String: Any] {
        var facts: [String: Any] = [
            "id": one.subscriptionId, "product": product(one.productId, one.bundleId),
            "app": app(one.bundleId),
        ]
        facts.merge(sentence(one)) { first, _ in first }
        guard ["active", "grace", "retry"].contains(one.status) else { return facts }
        let next = pending ?? one.nextProductId ?? one.productId
        facts["nextID"] = next
        facts["switch"] = one.isRenewing ? "false" : "true"
        facts["switchLabel"] = one.isRenewing ? "Cancel the renewal" : "Resume the renewal"
        if !one.isRenewing, next != one.productId {
            facts["switchProduct"] = product(next, one.bundleId)
        }
        let group = window.app(one.bundleId)?.products.filter { $0.groupID == one.groupId } ?? []
        if one.status == "active", one.isRenewing, group.count > 1,
            let app = window.app(one.bundleId)
        {
            facts["hasOthers"] = true
            facts["others"] = group.map { product in
                [
                    "id": product.id, "isChosen": product.id == next,
                    "label": "\(product.name.isolated), \(product.priceText(in: app))",
                ] as [String: Any]
            }
        }
        return facts
    }

    /// What becomes of it. The name and the sum stay apart, so that a page can isolate them.
    private func sentence(_ one: SubscriptionRecord) -> [String: Any] {
        guard one.status == "active", let charge = one.nextCharge else {
            return ["sentence": sentenceWithoutCharge(one)]
        }
        var facts: [String: Any] = [
            "sentence": "Renews on \(day(charge.date))",
            "sum": price(charge.price, charge.currency, one.bundleId),
        ]
        facts["nextProduct"] = one.nextProductId.map { product($0, one.bundleId) }
        return facts
    }

    private func sentenceWithoutCharge(_ one: SubscriptionRecord) -> String {
        let end = day(one.usableUntil ?? one.endDate)
        switch one.status {
        case "active": return "Ends on \(end)."
        case "grace":
            return "The renewal could not be charged. You can use it until \(end)."
        case "retry": return "The renewal could not be charged. It is tried again."
        case "revoked": return "Was refunded, and has ended."
        default: return "Ended on \(day(one.endDate))."
        }
    }

    func purchase(_ one: TransactionRecord, _ refunds: [String: String]) -> [String: Any] {
        let sold = one.payload
        let (bundleID, id) = (sold.bundleId ?? "", sold.transactionId ?? "")
        let isShared = sold.inAppOwnershipType == "FAMILY_SHARED"
        let isRevoked = sold.revocationDate != nil
        let state = refunds[id]
        var facts: [String: Any] = [
            "id": id, "product": product(sold.productId ?? "", bundleID), "app": app(bundleID),
            "isRefundable": !isShared && !isRevoked && (sold.price ?? 0) > 0
                && state != "requested",
        ]
        facts["order"] = one.orderId
        if let date = sold.purchaseDate {
            facts["date"] = date.description
            facts["day"] = day(date)
        }
        if !isShared, let sum = sold.price, let currency = sold.currency {
            facts["price"] = price(sum, currency, bundleID)
        }
        facts["state"] =
            isRevoked
            ? "Refunded"
            : isShared
                ? "Shared by your family"
                : state.flatMap { Self.refundWords[$0] }
        return facts
    }

    private static let refundWords = [
        "requested": "A refund is asked for", "declined": "The refund was declined",
    ]

    private func app(_ bundleID: String) -> String {
        (window.app(bundleID)?.name ?? bundleID).shown
    }

    private func product(_ id: String, _ bundleID: String) -> String {
        (window.app(bundleID)?.names[id] ?? id).shown
    }

    private func price(_ milliunits: Int64, _ currency: String, _ bundleID: String) -> String {
        guard let known = Currency(code: currency) else { return currency }
        let app = window.app(bundleID)
        let place = app?.storefront.priceLocale(ofWords: app?.locale ?? "en_US")
        return Money(Amount(milliunits: milliunits), known)
            .formatted(in: place ?? "en_US@currency=\(currency)")
    }

    /// `2026-11-25`.
    private func day(_ date: Timestamp) -> String { String(date.description.prefix(10)) }
}
