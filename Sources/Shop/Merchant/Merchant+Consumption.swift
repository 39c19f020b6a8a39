// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
import StoreWire
import StrictJSON

extension Merchant {
    /// Accepts what the merchant reports about a purchase whose money the customer
    /// asked for: `PUT /inApps/v2/transactions/consumption/{transactionId}`. `body`
    /// is the JSON of a ``ConsumptionRequest``. The report is kept with the request
    /// for the refund and decides it by ``Commerce/RefundAdvice``. A report without
    /// such a request is accepted and not kept.
    ///
    /// Throws ``AppleRefusal``, in order: 4000035, 4000041, 4000036, 4000044,
    /// 4000000, 4000006, 4040010, 4000185.
    public func reportConsumption(
        of id: String, _ body: [UInt8], _ context: RequestContext
    ) async throws {
        let request = try ConsumptionRules.read(ConsumptionRequest.self, body)
        let report = try ConsumptionRules.report(request)
        let facts = try await transaction(id)
        try await keep(report, about: facts, context)
    }

    /// The same in the earlier form, for consumables and auto-renewable subscriptions:
    /// `PUT /inApps/v1/transactions/consumption/{transactionId}`. `body` is the JSON of
    /// a ``ConsumptionRequestV1``.
    ///
    /// Throws ``AppleRefusal``, in order: 4000035, 4000034, 4000039, 4000041, 4000036,
    /// 4000033, 4000032, 4000040, 4000038, 4000037, 4000042, 4000044, 4000006, 4040010,
    /// 4000185, 4000047.
    public func reportConsumptionV1(
        of id: String, _ body: [UInt8], _ context: RequestContext
    ) async throws {
        let request = try ConsumptionRules.read(ConsumptionRequestV1.self, body)
        let report = try ConsumptionRules.report(request)
        let facts = try await transaction(id)
        guard
            facts.ownership == .familyShared || [.consumable, .autoRenewable].contains(facts.type)
        else { throw AppleRefusal(.invalidTransactionTypeNotSupported) }
        try await keep(report, about: facts, context)
    }

    private func keep(
        _ report: ConsumptionReport, about facts: TransactionFacts, _ context: RequestContext
    ) async throws {
        guard facts.ownership == .purchased else {
            throw AppleRefusal(.familyTransactionNotSupported)
        }
        // A percentage of a subscription is its time, which the store knows.
        let used = facts.type == .autoRenewable ? nil : report.used
        try await realm.refunds.inform(
            facts.id, of: facts.customer,
            ConsumptionReport(
                version: report.version, delivery: report.delivery,
                isSampleProvided: report.isSampleProvided, used: used,
                preference: report.preference, account: report.account), context)
    }
}

/// Apple's rules for the two forms of a report.
private enum ConsumptionRules {
    static func read<Request: Decodable>(_ type: Request.Type, _ body: [UInt8]) throws -> Request {
        do { return try StrictJSON.decode(type, from: body) } catch let error as DecodingError {
            throw AppleRefusal(error.firstField.flatMap { errors[$0] } ?? .generalBadRequest)
        } catch { throw AppleRefusal(.generalBadRequest) }
    }

    static func report(_ request: ConsumptionRequest) throws -> ConsumptionReport {
        guard request.customerConsented == true else {
            throw AppleRefusal(.invalidCustomerConsented)
        }
        guard let isSampleProvided = request.sampleContentProvided else {
            throw AppleRefusal(.invalidSampleContentProvided)
        }
        guard
            let delivery = request.deliveryStatus.flatMap(
                ConsumptionReport.Delivery.init(rawValue:))
        else { throw AppleRefusal(.invalidDeliveryStatus) }
        let preference = try request.refundPreference.map { word in
            guard let known = ConsumptionReport.Preference(rawValue: word) else {
                throw AppleRefusal(.invalidRefundPreference)
            }
            return known
        }
        if let used = request.consumptionPercentage {
            guard (0...ConsumptionReport.whole).contains(used) else {
                throw AppleRefusal(.generalBadRequest)
            }
        }
        return ConsumptionReport(
            version: 2, delivery: delivery, isSampleProvided: isSampleProvided,
            used: request.consumptionPercentage, preference: preference)
    }

    static func report(_ request: ConsumptionRequestV1) throws -> ConsumptionReport {
        guard request.customerConsented == true else {
            throw AppleRefusal(.invalidCustomerConsented)
        }
        let status = try number(request.consumptionStatus, "consumptionStatus", 0...3)
        let platform = try number(request.platform, "platform", 0...2)
        guard let isSampleProvided = request.sampleContentProvided else {
            throw AppleRefusal(.invalidSampleContentProvided)
        }
        let delivery = try number(request.deliveryStatus, "deliveryStatus", 0...5)
        guard let token = request.appAccountToken, token.isEmpty || UUIDText(token) != nil else {
            throw AppleRefusal(.invalidAppAccountToken)
        }
        var account = ["consumptionStatus": status, "platform": platform]
        for (name, value, range) in [
            ("accountTenure", request.accountTenure, 0...7), ("playTime", request.playTime, 0...7),
            ("lifetimeDollarsRefunded", request.lifetimeDollarsRefunded, 0...7),
            ("lifetimeDollarsPurchased", request.lifetimeDollarsPurchased, 0...7),
            ("userStatus", request.userStatus, 0...4),
        ] { account[name] = try number(value, name, range) }
        let preference = try number(request.refundPreference, "refundPreference", 0...3)
        return ConsumptionReport(
            version: 1, delivery: deliveries[delivery], isSampleProvided: isSampleProvided,
            used: [1: 0, 3: ConsumptionReport.whole][status],
            preference: [1: .full, 2: .decline][preference], account: account)
    }

    private static func number(
        _ value: Int?, _ name: String, _ range: ClosedRange<Int>
    ) throws -> Int {
        guard let value, range.contains(value) else {
            throw AppleRefusal(errors[name] ?? .generalBadRequest)
        }
        return value
    }

    /// By the number of version 1.
    private static let deliveries: [ConsumptionReport.Delivery] = [
        .delivered, .poorQuality, .wrongItem, .serverOutage, .other, .other,
    ]

    private static let errors: [String: AppleErrorResponse] = [
        "customerConsented": .invalidCustomerConsented,
        "consumptionStatus": .invalidConsumptionStatus, "platform": .invalidPlatform,
        "sampleContentProvided": .invalidSampleContentProvided,
        "deliveryStatus": .invalidDeliveryStatus, "appAccountToken": .invalidAppAccountToken,
        "accountTenure": .invalidAccountTenure, "playTime": .invalidPlayTime,
        "lifetimeDollarsRefunded": .invalidLifetimeDollarsRefunded,
        "lifetimeDollarsPurchased": .invalidLifetimeDollarsPurchased,
        "userStatus": .invalidUserStatus, "refundPreference": .invalidRefundPreference,
    ]
}

extension RefundRoom {
    /// Keeps a report with the refund that its customer waits for. Without one it is
    /// not kept.
    func inform(
        _ id: TransactionID, of customer: CustomerID, _ report: ConsumptionReport,
        _ context: RequestContext
    ) async throws {
        let shelf = try await realm.loadShelf(for: customer)
        let commit = RefundCommit(subscriptions: realm.subscriptions.commit, shelf: shelf)
        let realmID = realm.description.id
        let ending = try await realm.lineOrLeave(of: customer) { line -> Ending<Void> in
            guard let sale = try RefundSale(id, in: realmID, line),
                let step = sale.refundable(at: line.now).informing(
                    report, at: line.now, cause: .merchant)
            else { return .leave(()) }
            _ = try commit.write(step, sale, line)
            return .commit(())
        }
        guard case .commit = ending else { return }
        realm.wake(customer)
        realm.ports.log(.info, "consumption reported", context, ["transaction": "\(id)"])
    }
}
