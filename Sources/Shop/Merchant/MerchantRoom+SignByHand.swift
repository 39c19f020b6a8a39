// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
public import StoreWire

extension MerchantRoom {
    /// Signs a notification of any type, about a transaction or an invented one, for a
    /// test of a merchant's server. It is not sent. If the realm has the app, it is kept,
    /// and the history has it once ``recordAttempt(_:of:ofApp:_:)`` says what sending it
    /// came to. Refusals, in order: `sandboxOnly`, `bundleIdInvalid`, `productIdInvalid`,
    /// `notificationTypeUnknown`, `transactionUnused`, `transactionNotFound`,
    /// `transactionOfOtherType`.
    public func signNotification(
        _ request: SignNotificationRequest, _ context: RequestContext
    ) async throws -> SignedNotification {
        try check(request)
        let (type, subtype) = (request.notificationType, request.subtype)
        let now = try await realm.clock().now
        var payload = ResponseBodyV2DecodedPayload()
        payload.notificationType = type
        payload.subtype = subtype
        payload.notificationUUID = realm.ports.randomness.uuid()
        payload.version = ResponseBodyV2DecodedPayload.currentVersion
        payload.signedDate = now
        switch (type, subtype) {
        case ("EXTERNAL_PURCHASE_TOKEN", _):
            payload.externalPurchaseToken = purchaseToken(request, at: now)
        case ("RESCIND_CONSENT", _):
            payload.appData = try appData(request, at: now)
        case (NotificationKind.renewalExtension, "SUMMARY"):
            payload.summary = summary(request)
        default: payload.data = try await data(request, at: now)
        }
        let signed = SignedNotification(
            notificationUUID: payload.notificationUUID ?? "",
            signedPayload: try realm.authority.transactions.sign(payload))
        try await keep(signed, request, at: now, context)
        return signed
    }

    private func keep(
        _ signed: SignedNotification, _ request: SignNotificationRequest, at now: Timestamp,
        _ context: RequestContext
    ) async throws {
        let uuid = signed.notificationUUID
        let values = RealmSchema.notifications.row([
            "customer_id": .integer(OwedNotification.nobody.value),
            "cause": .text("\(Self.handPrefix)/\(uuid)"), "notification_uuid": .text(uuid),
            "notification_type": .text(request.notificationType),
            "subtype": .optional(request.subtype), "bundle_id": .text(request.bundleId),
            "signed_payload": .text(signed.signedPayload),
            "signed_at": .integer(now.milliseconds),
        ])
        let isOfApp = try await realm.loadShelf().apps[BundleID(request.bundleId)] != nil
        try await realm.house(.rows, context) { house -> Ending<Void> in
            if isOfApp { _ = try house.writing.first(Statement.Notifications.keep, values) }
            try house.audit(
                "notification.sign", request.bundleId, before: nil,
                after: [
                    "type": request.notificationType, "subtype": request.subtype,
                    "transactionId": request.transactionId, "notificationUUID": uuid,
                ])
            return .commit(())
        }
    }

    /// Begins the cause of a notification by hand. Its UUID follows.
    static let handPrefix = "HAND"

    private func check(_ request: SignNotificationRequest) throws {
        guard !realm.isProduction else {
            throw Refusal(
                .forbidden, code: "sandboxOnly", "A production realm signs nothing invented.",
                field: "realm", rule: "notifications by hand are for sandboxes",
                remedy: "name a sandbox")
        }
        try Edge.text(request.bundleId, "bundleId")
        guard BundleID.isValid(request.bundleId) else {
            throw Refusal(
                .badRequest, code: "bundleIdInvalid", "This is not a bundle id.",
                field: "bundleId", rule: "1 to 155 letters, digits, `-` and `.`",
                remedy: "give one such as `com.example.app`")
        }
        if let product = request.productId {
            try CatalogueRules.check(productID: product, "productId")
        }
        try checkKind(request.notificationType, request.subtype)
        guard request.transactionId == nil || request.isAboutTransaction else {
            throw Refusal(
                .badRequest, code: "transactionUnused",
                "A notification of this type is about no transaction.", field: "transactionId",
                rule: "a type whose `data` has a transaction",
                remedy: "leave the transaction out, or name another type")
        }
    }

    private func checkKind(_ type: String, _ subtype: String?) throws {
        guard NotificationKind.types.contains(type) else {
            throw Refusal(
                .badRequest, code: "notificationTypeUnknown",
                "There is no such type of notification.", field: "notificationType",
                rule: NotificationKind.types.joined(separator: ", "),
                remedy: "name one of them")
        }
        let subtypes = NotificationKind.subtypes(of: type)
        let isMissing = subtype == nil && NotificationKind.needsSubtype(type)
        guard !isMissing, NotificationKind.isKnown(type, subtype: subtype) else {
            throw Refusal(
                .badRequest, code: "notificationTypeUnknown",
                isMissing
                    ? "A notification of this type always has a subtype."
                    : "The type has no such subtype.",
                field: "subtype",
                rule: subtypes.isEmpty ? "no subtype" : subtypes.joined(separator: ", "),
                remedy: subtypes.isEmpty ? "leave the subtype out" : "name one of them")
        }
    }

    /// Checks that the store would send a notification of the type about the product.
    private func check(_ type: String, about product: ProductType) throws {
        let isAutoRenewable = product == .autoRenewable
        guard !NotificationKind.isAbout(type, isAutoRenewable: isAutoRenewable) else { return }
        throw Refusal(
            .badRequest, code: "transactionOfOtherType",
            "A notification of this type is not about a product of this type.",
            field: "transactionId",
            rule: isAutoRenewable
                ? "\(type) is about a product that does not renew itself"
                : "\(type) is about an auto-renewable subscription",
            remedy: "name a transaction of such a product, or leave it out")
    }

    private func data(
        _ request: SignNotificationRequest, at now: Timestamp
    ) async throws -> NotificationData {
        var data = NotificationData()
        data.bundleId = request.bundleId
        data.environment = realm.description.environment.rawValue
        guard request.notificationType != NotificationKind.test else { return data }
        if request.notificationType == NotificationKind.consumptionRequest {
            data.consumptionRequestReason = RefundWish.unintended.rawValue
        }
        if let id = request.transactionId {
            try await describe(id, request, at: now, in: &data)
        } else {
            try invent(request, at: now, in: &data)
        }
        return data
    }

    /// Describes an existing transaction as it is now, and as the event would have left
    /// it.
    private func describe(
        _ id: String, _ request: SignNotificationRequest, at now: Timestamp,
        in data: inout NotificationData
    ) async throws {
        guard let number = Edge.number(id) else { throw PurchaseRoom.transactionNotFound }
        let row = try await realm.read(ofNumber: number) {
            try $0.first(Statement.Transactions.byID, [.integer(number)])
        }
        guard let row, try row.text("bundle_id") == request.bundleId else {
            throw PurchaseRoom.transactionNotFound
        }
        var facts = try TransactionFacts(row: row)
        try check(request.notificationType, about: facts.type)
        let own = max(now, facts.changedAt)
        let event = NotifiedEvent(request, at: own)
        var told: ToldSubscription?
        if let row = try await subscription(of: facts, at: own) {
            told = ToldSubscription(row: row, plans: try await plans(of: row, facts, at: own))
        }
        if var changed = told {
            event.change(&changed, &facts)
            told = changed
        }
        var sale = facts.payload(environment: realm.description.environment, signedAt: own)
        event.mark(&sale)
        data.signedTransactionInfo = try realm.sign(sale)
        guard let row = told?.row else { return }
        var renewal = try await renewal(row, at: own)
        var status = row.subscription.status(at: own).rawValue
        event.mark(&renewal, &status, sale: sale)
        data.signedRenewalInfo = try realm.sign(renewal)
        data.status = status
    }

    /// The products of a subscription's group as they are sold to the customer now.
    private func plans(
        of row: SubscriptionRow, _ facts: TransactionFacts, at now: Timestamp
    ) async throws -> [SubscriptionPlan] {
        let shelf = try await realm.loadShelf(for: row.customer)
        guard let storefront = Storefront.named(facts.storefront),
            let products = shelf.apps[row.bundleID]?.products
        else { return [] }
        return products.compactMap {
            shelf.plan($0.id, of: row.bundleID, in: storefront, at: now)
        }.filter { $0.groupID == row.subscription.groupID }
    }

    /// Invents a transaction that the type can be about.
    private func invent(
        _ request: SignNotificationRequest, at now: Timestamp, in data: inout NotificationData
    ) throws {
        let invented = InventedTransaction(request, at: now)
        let environment = realm.description.environment
        data.signedTransactionInfo = try realm.sign(invented.payload(environment))
        guard let (renewal, status) = invented.renewal(environment) else { return }
        data.signedRenewalInfo = try realm.sign(renewal)
        data.status = status
    }

    private func purchaseToken(
        _ request: SignNotificationRequest, at now: Timestamp
    ) -> NotificationPurchaseToken {
        var token = NotificationPurchaseToken()
        token.externalPurchaseId = "SANDBOX_" + realm.ports.randomness.uuid()
        token.tokenCreationDate = now
        token.bundleId = request.bundleId
        return token
    }

    private func appData(
        _ request: SignNotificationRequest, at now: Timestamp
    ) throws -> NotificationAppData {
        var app = JWSAppTransactionDecodedPayload()
        app.receiptType = realm.description.environment.rawValue
        app.bundleId = request.bundleId
        app.applicationVersion = "1.0"
        app.receiptCreationDate = now
        app.originalPurchaseDate = now
        app.originalApplicationVersion = "1.0"
        app.appTransactionId = InventedTransaction.appTransactionID
        var data = NotificationAppData()
        data.bundleId = request.bundleId
        data.environment = realm.description.environment.rawValue
        data.signedAppTransactionInfo = try realm.authority.transactions.sign(app)
        return data
    }

    private func summary(_ request: SignNotificationRequest) -> NotificationSummary {
        var summary = NotificationSummary()
        summary.requestIdentifier = realm.ports.randomness.uuid()
        summary.environment = realm.description.environment.rawValue
        summary.bundleId = request.bundleId
        summary.productId = request.productId ?? InventedTransaction.productID
        summary.succeededCount = 1
        summary.failedCount = 0
        return summary
    }
}

extension SignNotificationRequest {
    fileprivate var isAboutTransaction: Bool {
        let others = [NotificationKind.test, "EXTERNAL_PURCHASE_TOKEN", "RESCIND_CONSENT"]
        return !others.contains(notificationType)
            && (notificationType, subtype) != (NotificationKind.renewalExtension, "SUMMARY")
    }
}
