// SPDX-License-Identifier: Apache-2.0

import Commerce
import Crypto
import Foundation
import SignedData
import Storage
import StoreWire
import StrictJSON
import Work

/// A notification that is ready to be sent: signed, stored and addressed.
struct ReadyNotification: Sendable {
    let customer: CustomerID
    let cause: String
    let uuid: String
    let url: String
    let signedPayload: String
    /// What an app with version 1 is sent, in this order: nothing, if the version has no
    /// such type. Nil for an app with version 2.
    let old: [[UInt8]]?
    /// The number of recorded attempts before this one.
    let attemptsBefore: Int
    /// The customer's commercial time at this attempt, and its clock.
    let now: Timestamp
    let clock: ClockID

    func bodies() throws -> [[UInt8]] {
        try old ?? [StrictJSON.encode(ResponseBodyV2(signedPayload: signedPayload))]
    }

    /// Records that it is not attempted.
    func recordUnsent(_ writing: any Writing) throws {
        try writing.execute(
            Statement.Notifications.setUnsent,
            [.integer(customer.value), .text(cause), .integer(now.milliseconds)])
    }

    /// Records the result of this attempt.
    func record(_ delivery: Delivery, _ writing: any Writing) throws {
        let key: [SQLValue] = [.integer(customer.value), .text(cause)]
        try writing.execute(
            Statement.Notifications.insertAttempt,
            RealmSchema.notificationAttempts.row([
                "customer_id": .integer(customer.value), "cause": .text(cause),
                "attempt": .integer(Int64(attemptsBefore + 1)),
                "attempted_at": .integer(now.milliseconds),
                "result": .text(delivery.result.rawValue),
                "status": .optional(delivery.status.map(Int64.init)),
            ]))
        guard delivery.result == .success else { return }
        try writing.execute(
            Statement.Notifications.setDelivered, key + [.integer(now.milliseconds)])
    }
}

/// The result of one attempt.
struct NotificationAttempt: Sendable {
    let outcome: ErrandOutcome
    /// Nil if there was nothing to send.
    var ready: ReadyNotification?
    /// Nil if it was not sent.
    var delivery: Delivery?

    /// Records the result.
    func record(_ writing: any Writing) throws {
        guard let ready else { return }
        guard let delivery else { return try ready.recordUnsent(writing) }
        try ready.record(delivery, writing)
    }
}

extension MerchantRoom {
    /// Sends a notification once. The result must still be recorded, in the
    /// commit that settles the errand.
    func attemptNotification(
        _ cause: String, of customer: CustomerID, in lane: String, by courier: any Courier,
        twice: Bool = false
    ) async throws -> NotificationAttempt {
        guard let ready = try await readyNotification(cause, of: customer) else {
            return NotificationAttempt(outcome: .done)
        }
        let bodies = try ready.bodies()
        if bodies.isEmpty { return NotificationAttempt(outcome: .done, ready: ready) }
        let delivery = await deliver(bodies, of: ready, by: courier, twice: twice)
        var facts = [
            "notification": ready.uuid, "attempt": "\(ready.attemptsBefore + 1)",
            "result": delivery.result.rawValue,
        ]
        if let status = delivery.status { facts["status"] = "\(status)" }
        let isDelivered = delivery.result == .success
        // The attempt ended because this process is stopping. It does not count
        // as an attempt.
        if !isDelivered { try Task.checkCancellation() }
        realm.ports.log(isDelivered ? .info : .warning, "notification", nil, facts)
        let clock = Errands.clock(ofLane: lane)
        let now =
            isDelivered || clock == ready.clock
            ? ready.now : try await realm.now(for: customer, by: clock)
        let next = try await retriesNow(isOld: ready.old != nil).next(
            afterAttempts: ready.attemptsBefore + 1, at: now)
        return NotificationAttempt(
            outcome: isDelivered ? .done : next.map { .again(at: $0) } ?? .givenUp,
            ready: ready, delivery: delivery)
    }

    /// The pauses before further attempts, also if a failure is simulated.
    private func retriesNow(isOld: Bool) async throws -> RetryTimetable {
        let all: RetryTimetable = isOld ? .productionNotificationsV1 : .productionNotifications
        if realm.isProduction { return all }
        guard
            case .notificationAttempts(let number) = try await realm.faults.current(
                .notificationAttempts)
        else { return .sandboxNotifications }
        return all.first(number)
    }

    /// What happens to notifications on their way.
    func notificationFault() async throws -> NotificationFault? {
        guard case .notifications(let fault) = try await realm.faults.current(.notifications)
        else { return nil }
        return fault
    }

    /// Keeps a notification back before its first attempt. Nil if it is to be sent now.
    /// What a jump causes is sent in order and is not kept back.
    func hold(_ errand: Errand, by fault: NotificationFault?) async throws -> RealmReport? {
        guard let fault, errand.attempt == 1, !Errands.isInOrder(errand.lane) else { return nil }
        let digest = SHA256.hash(data: Data(errand.subject.utf8))
        let pause = fault.hold(digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        guard pause > 0 else { return nil }
        let now = try await realm.now(for: errand.customer)
        return ErrandReport(.again(at: now.adding(milliseconds: pause)))
    }

    /// Delivers the bodies of a notification one after the other, up to the first that
    /// fails. A later attempt delivers all of them again.
    private func deliver(
        _ bodies: [[UInt8]], of ready: ReadyNotification, by courier: any Courier, twice: Bool
    ) async -> Delivery {
        var delivery = Delivery(status: 200)
        for body in bodies where delivery.result == .success {
            let parcel = Parcel(
                url: ready.url, body: body, id: ready.uuid, isProduction: realm.isProduction)
            if twice { _ = await courier.deliver(parcel) }
            delivery = await courier.deliver(parcel)
        }
        return delivery
    }

    /// The pauses before further attempts of this realm's notifications.
    var notificationRetries: RetryTimetable {
        realm.isProduction ? .productionNotifications : .sandboxNotifications
    }

    /// Signs a notification at its first attempt and stores it. Later attempts
    /// get the same bytes. Nil if there is nothing to send, because it was
    /// delivered, or its app no longer receives notifications.
    func readyNotification(
        _ cause: String, of customer: CustomerID
    ) async throws -> ReadyNotification? {
        let key: [SQLValue] = [.integer(customer.value), .text(cause)]
        let row = try await realm.read(of: customer) {
            try $0.first(Statement.Notifications.facts, key)
        }
        guard let row, let url = try row.optionalText("notification_url"),
            try row.optionalInteger("delivered_at") == nil
        else { return nil }
        let clock = try ClockRow(row)
        let now = clock.now(wall: realm.ports.wall.now)
        await realm.authorities.lookIfDue(realm.ports.wall.now, realm.ports.log)
        var signed = try row.optionalText("signed_payload")
        if signed == nil { signed = try await signNotification(row, cause, customer, at: now) }
        guard let signed else { return nil }
        let isOld = try row.optionalInteger("notification_version") == 1
        return ReadyNotification(
            customer: customer, cause: cause, uuid: try row.text("notification_uuid"), url: url,
            signedPayload: signed,
            old: isOld ? try await old(row, of: customer, at: now) : nil,
            attemptsBefore: Int(try row.integer("attempts")), now: now,
            clock: clock.id)
    }

    private func signNotification(
        _ row: Row, _ cause: String, _ customer: CustomerID, at now: Timestamp
    ) async throws -> String? {
        var payload = ResponseBodyV2DecodedPayload()
        payload.notificationType = try row.text("notification_type")
        payload.subtype = try row.optionalText("subtype")
        payload.notificationUUID = try row.text("notification_uuid")
        payload.version = ResponseBodyV2DecodedPayload.currentVersion
        payload.signedDate = now
        if let key = BulkCause.key(of: cause), customer == OwedNotification.nobody {
            payload.summary = try await summary(of: key, row)
        } else {
            payload.data = try await notificationData(row, customer, at: now)
        }
        if payload.notificationType == NotificationKind.consumptionRequest {
            payload.data?.consumptionRequestReason = try await wish(cause, customer)
        }
        let signed = try realm.authority.transactions.sign(payload)
        realm.ports.log(.debug, "notification signed")
        let values = RealmSchema.notifications.row([
            "customer_id": .integer(customer.value), "cause": .text(cause),
            "notification_uuid": try row.value("notification_uuid"),
            "notification_type": try row.value("notification_type"),
            "subtype": try row.value("subtype"),
            "bundle_id": try row.value("bundle_id"), "signed_payload": .text(signed),
            "signed_at": .integer(now.milliseconds),
        ])
        let key: [SQLValue] = [.integer(customer.value), .text(cause)]
        return try await realm.bookkeeping(of: customer) { writing in
            if try writing.first(Statement.Notifications.keep, values) != nil { return signed }
            return try writing.first(Statement.Notifications.facts, key)?
                .optionalText("signed_payload")
        }
    }

    /// What a change of many subscriptions that is complete came to.
    private func summary(of key: BulkChangeKey, _ row: Row) async throws -> NotificationSummary {
        let bulk = try await realm.readHouse { try BulkChangeRow.find(key, $0) }
        guard let bulk else {
            throw StorageFault(.malformedRow, "a notification whose change is gone")
        }
        var summary = NotificationSummary()
        summary.requestIdentifier = key.request.text
        summary.environment = realm.description.environment.rawValue
        summary.appAppleId = realm.isProduction ? try row.optionalInteger("app_id") : nil
        summary.bundleId = key.bundleID.value
        summary.productId = bulk.change.productID.value
        summary.storefrontCountryCodes = bulk.change.storefronts
        summary.succeededCount = bulk.succeeded
        summary.failedCount = bulk.failed
        return summary
    }

    private func notificationData(
        _ row: Row, _ customer: CustomerID, at now: Timestamp
    ) async throws -> NotificationData {
        var data = NotificationData()
        data.bundleId = try row.text("bundle_id")
        data.environment = realm.description.environment.rawValue
        data.appAppleId = realm.isProduction ? try row.optionalInteger("app_id") : nil
        if let transaction = try row.optionalInteger("transaction_id") {
            let key: [SQLValue] = [.integer(customer.value), .integer(transaction)]
            // One read, so that the transaction and its renewal are of one moment.
            let (facts, renewing) = try await realm.read(of: customer) { reading in
                guard let sold = try reading.first(Statement.Transactions.one, key) else {
                    throw StorageFault(.malformedRow, "a notification whose transaction is gone")
                }
                let facts = try TransactionFacts(row: sold)
                return (facts, try Self.subscription(of: facts, at: now, reading))
            }
            data.signedTransactionInfo = try realm.sign(facts, at: now)
            if let renewing {
                data.signedRenewalInfo = try realm.sign(try await renewal(renewing, at: now))
                data.status = renewing.subscription.status(at: now).rawValue
            }
        }
        return data
    }

    /// Why the customer asked for a refund.
    private func wish(_ cause: String, _ customer: CustomerID) async throws -> String? {
        guard let parts = RefundCause.parts(of: cause) else { return nil }
        let refunds = try await realm.read(of: customer) {
            try RefundRow.all(of: parts.transaction, customer, $0)
        }
        return refunds.first { $0.number == parts.number }?.refund.wish?.rawValue
    }

    /// The subscription that a transaction belongs to. Nil for other products. That of a
    /// member is what a status shows.
    func subscription(
        of facts: TransactionFacts, at now: Timestamp
    ) async throws -> SubscriptionRow? {
        guard facts.type == .autoRenewable else { return nil }
        return try await realm.read(of: facts.customer) {
            try Self.subscription(of: facts, at: now, $0)
        }
    }

    private static func subscription(
        of facts: TransactionFacts, at now: Timestamp, _ reading: any Reading
    ) throws -> SubscriptionRow? {
        guard facts.type == .autoRenewable else { return nil }
        let row =
            facts.ownership == .familyShared
            ? try SubscriptionRow.ownAndShared(
                of: facts.customer, facts.bundleID, at: now, reading
            ).first { $0.subscription.originalID == facts.originalID }
            : try SubscriptionRow.find(facts.originalID, of: facts.customer, reading)
        guard let row else {
            throw StorageFault(.malformedRow, "a notification whose subscription is gone")
        }
        return row
    }

    /// What is true of a subscription's renewal now.
    func renewal(
        _ row: SubscriptionRow, at now: Timestamp
    ) async throws -> JWSRenewalInfoDecodedPayload {
        let offers = row.isShared ? [] : try await realm.winBackOffers(for: row, at: now)
        return realm.payload(row, winBackOffers: offers, at: now)
    }
}
