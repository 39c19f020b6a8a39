// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire
import StrictJSON

extension Merchant {
    /// Returns the status of all of a customer's subscriptions in the app, by group:
    /// `GET /inApps/v1/subscriptions/{transactionId}`. `statuses`: only those.
    /// Throws ``AppleRefusal``, in order: 4000031, 4000006, 4040010.
    public func statuses(of id: String, only statuses: [String]) async throws -> StatusResponse {
        let wanted = try statuses.map { text in
            guard let number = Edge.number(text),
                let status = SubscriptionStatus(rawValue: Int(number))
            else { throw AppleRefusal(.invalidStatus) }
            return status
        }
        let (shown, now) = try await subscriptions(ofCustomerOf: id) { subscription, now in
            wanted.isEmpty || wanted.contains(subscription.status(at: now))
        }
        var groups: [String] = []
        var items: [String: [LastTransactionsItem]] = [:]
        for (row, facts) in shown {
            let group = row.subscription.groupID
            if items[group] == nil { groups.append(group) }
            items[group, default: []].append(try await item(of: row, facts, at: now))
        }
        return StatusResponse(
            environment: realm.description.environment.rawValue, bundleId: bundleID.value,
            appAppleId: try await officialID,
            data: groups.map { group in
                SubscriptionGroupIdentifierItem(
                    subscriptionGroupIdentifier: group, lastTransactions: items[group] ?? [])
            })
    }

    /// Reads a customer's subscriptions in the app, each with the transaction to show, and
    /// the time at which all of them are shown. One read, because each costs a wait.
    private func subscriptions(
        ofCustomerOf id: String,
        where isWanted: @escaping @Sendable (Subscription, _ now: Timestamp) -> Bool
    ) async throws -> (shown: [(SubscriptionRow, TransactionFacts)], now: Timestamp) {
        let wall = realm.ports.wall.now
        return try await lookUp(ofCustomerOf: id) { [bundleID, now] customer, reading in
            let now = try Realm.now(of: customer, wall: wall, reading) ?? now
            let rows = try SubscriptionRow.ownAndShared(
                of: customer, bundleID, at: now, reading)
            let shown = try rows.filter { isWanted($0.subscription, now) }.map { row in
                (row, try Self.shownTransaction(of: row, at: now, reading))
            }
            return (shown, now)
        }
    }

    private static func shownTransaction(
        of row: SubscriptionRow, at now: Timestamp, _ reading: any Reading
    ) throws -> TransactionFacts {
        let shown = row.subscription.shownTransaction(at: now)
        let key: [SQLValue] = [.integer(row.customer.value), .integer(shown.value)]
        guard let found = try reading.first(Statement.Transactions.one, key) else {
            throw StorageFault(.malformedRow, "a subscription whose transaction is gone")
        }
        return try TransactionFacts(row: found)
    }

    private func item(
        of row: SubscriptionRow, _ facts: TransactionFacts, at now: Timestamp
    ) async throws -> LastTransactionsItem {
        LastTransactionsItem(
            originalTransactionId: row.subscription.originalID.description,
            status: row.subscription.status(at: now).rawValue,
            signedTransactionInfo: try realm.sign(facts, at: now),
            signedRenewalInfo: try realm.sign(
                row,
                winBackOffers: row.isShared
                    ? [] : try await realm.winBackOffers(for: row, at: now), at: now))
    }

    /// Extends the renewal date of one subscription: `PUT
    /// /inApps/v1/subscriptions/extend/{originalTransactionId}`. `body` is the JSON
    /// of an ``ExtendRenewalDateRequest``. The same request under the same identifier has
    /// no further effect, and the answer of the first one.
    ///
    /// Throws ``AppleRefusal``, in order: 4000009, 4000010, 4000011, 4000008,
    /// 4040005, 4030007, 4000011 for an identifier under which the subscription was
    /// extended by another length or for another reason, 4030004, 4030005.
    public func extend(
        _ id: String, _ body: [UInt8], _ context: RequestContext
    ) async throws -> ExtendRenewalDateResponse {
        let request = try ExtensionRules.read(ExtendRenewalDateRequest.self, body)
        let (days, reason) = try ExtensionRules.extent(
            request.extendByDays, request.extendReasonCode)
        guard let name = request.requestIdentifier, (1...128).contains(name.utf8.count),
            !name.utf8.contains(0)
        else { throw AppleRefusal(.invalidRequestIdentifier) }
        let facts = try await transaction(
            id, invalid: .invalidOriginalTransactionId, unknown: .originalTransactionIdNotFound)
        guard facts.type == .autoRenewable else {
            throw AppleRefusal(.originalTransactionIdNotFound)
        }
        guard facts.ownership == .purchased else {
            throw AppleRefusal(.familySharedSubscriptionExtensionIneligible)
        }
        let answer = try await realm.subscriptions.extend(
            facts.originalID, of: facts.customer,
            MerchantExtension(days: days, reason: reason, identifier: name), context)
        return ExtendRenewalDateResponse(
            originalTransactionId: facts.originalID.description,
            webOrderLineItemId: answer.webOrderLineItemID, success: true,
            effectiveDate: answer.end)
    }

    /// Extends the renewal dates of all subscribers to a product: `POST
    /// /inApps/v1/subscriptions/extend/mass`. The same request under the same identifier
    /// has no further effect. Throws ``AppleRefusal``, in order: 4000009, 4000010, 4000011,
    /// 4000027, 4000028, 4000023, and 4000011 for an identifier that has another request.
    public func extendAll(
        _ body: [UInt8], _ context: RequestContext
    ) async throws -> MassExtendRenewalDateResponse {
        let request = try ExtensionRules.read(MassExtendRenewalDateRequest.self, body)
        let (days, _) = try ExtensionRules.extent(
            request.extendByDays, request.extendReasonCode)
        guard let id = request.requestIdentifier.flatMap({ UUIDText($0) }) else {
            throw AppleRefusal(.invalidRequestIdentifier)
        }
        if let codes = request.storefrontCountryCodes {
            guard !codes.isEmpty else {
                throw AppleRefusal(.invalidEmptyStorefrontCountryCodeList)
            }
            guard codes.allSatisfy({ Storefront.named($0) != nil }) else {
                throw AppleRefusal(.invalidStorefrontCountryCode)
            }
        }
        do {
            _ = try await realm.subscriptions.changeAll(
                BulkChangeRequest(
                    requestId: id.text, productId: request.productId ?? "",
                    storefronts: request.storefrontCountryCodes, extendByDays: days),
                bundleID: bundleID.value, isAudited: false, context)
        } catch let refusal as Refusal {
            switch refusal.error.code {
            case "productIdUnknown", "bundleIdUnknown": throw AppleRefusal(.invalidProductId)
            // The same request may come again. Another one would never run.
            case "bulkChangeExists": throw AppleRefusal(.invalidRequestIdentifier)
            case "storefrontsInvalid": throw AppleRefusal(.invalidStorefrontCountryCode)
            default: throw refusal
            }
        }
        return MassExtendRenewalDateResponse(
            requestIdentifier: request.requestIdentifier ?? id.text)
    }

    /// Returns how far such a request has come: `GET
    /// /inApps/v1/subscriptions/extend/mass/{productId}/{requestIdentifier}`. Throws
    /// ``AppleRefusal``, in order: 4000023, 4000011, 4040009.
    public func extensionStatus(
        _ requestID: String, product: String
    ) async throws -> MassExtendRenewalDateStatusResponse {
        guard IDText.isID(product) else { throw AppleRefusal(.invalidProductId) }
        guard let id = UUIDText(requestID) else { throw AppleRefusal(.invalidRequestIdentifier) }
        let record: BulkChangeRecord
        do {
            record = try await realm.subscriptions.bulkChange(id.text, bundleID: bundleID.value)
        } catch is Refusal { throw AppleRefusal(.statusRequestNotFound) }
        guard record.productId == product, record.extendByDays != nil else {
            throw AppleRefusal(.statusRequestNotFound)
        }
        let isComplete = record.completeDate != nil
        return MassExtendRenewalDateStatusResponse(
            requestIdentifier: requestID, complete: isComplete, completeDate: record.completeDate,
            succeededCount: isComplete ? record.succeededCount : nil,
            failedCount: isComplete ? record.failedCount : nil)
    }
}

/// What Apple's extension requests have in common.
private enum ExtensionRules {
    static func read<Request: Decodable>(_ type: Request.Type, _ body: [UInt8]) throws -> Request {
        do { return try StrictJSON.decode(type, from: body) } catch let error as DecodingError {
            switch error.firstField {
            case "extendByDays": throw AppleRefusal(.invalidExtendByDays)
            case "extendReasonCode": throw AppleRefusal(.invalidExtendReasonCode)
            case "requestIdentifier": throw AppleRefusal(.invalidRequestIdentifier)
            case "storefrontCountryCodes": throw AppleRefusal(.invalidStorefrontCountryCode)
            case "productId": throw AppleRefusal(.invalidProductId)
            default: throw AppleRefusal(.generalBadRequest)
            }
        } catch { throw AppleRefusal(.generalBadRequest) }
    }

    static func extent(_ days: Int?, _ reason: Int?) throws -> (days: Int, reason: Int) {
        guard let days, (1...Subscription.extensionDaysMax).contains(days) else {
            throw AppleRefusal(.invalidExtendByDays)
        }
        guard let reason, (0...3).contains(reason) else {
            throw AppleRefusal(.invalidExtendReasonCode)
        }
        return (days, reason)
    }
}
