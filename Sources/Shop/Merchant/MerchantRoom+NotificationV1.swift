// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire
import StrictJSON

extension MerchantRoom {
    /// Makes the bodies of version 1 for an owed notification, with what is true now, in
    /// the order in which they are sent. Empty if version 1 has none. `row` is one of ``Statement/Notifications/facts``.
    func old(
        _ row: Row, of customer: CustomerID, at now: Timestamp
    ) async throws -> [[UInt8]] {
        let bundleID = BundleID(try row.text("bundle_id"))
        let facts = try await sold(row, to: customer)
        let types = NotificationKind.versionOne(
            try row.text("notification_type"), subtype: try row.optionalText("subtype"),
            isSubscription: facts?.type == .autoRenewable)
        guard let first = types.first, let facts else { return [] }
        let holdings = try await holdings(of: customer, bundleID, at: now)
        let environment = realm.description.environment
        let pending = holdings.pending(environment: environment, at: now)
        let device = try await lastDevice(of: customer, bundleID)
        var body = ResponseBodyV1(
            notificationType: first, isProduction: realm.isProduction, bundleID: bundleID.value,
            unifiedReceipt: UnifiedReceipt(
                environment: environment.rawValue,
                latestReceipt: try device.map { device in
                    let receipt = try realm.authority.receipts.sign(
                        try header(device, bundleID, row, at: now), records: holdings.records)
                    return Base64.encode(receipt)
                },
                latestReceiptInfo: Array(
                    holdings.transactions(isShort: false, at: now)
                        .prefix(UnifiedReceipt.transactionsMax)),
                pendingRenewalInfo: pending))
        body.appVersion = try device?.optionalText("app_version")
        body.password = try await realm.readHouse {
            try $0.first(Statement.Catalogues.sharedSecret, [.text(bundleID.value)])
        }?.optionalText("shared_secret")
        if facts.type == .autoRenewable {
            let renewal = holdings.renewal(
                of: facts.originalID, environment: environment, at: now)
            body.originalTransactionID = facts.originalID.value
            body.autoRenewProductID = renewal?.autoRenewProductID
            body.isRenewing = renewal?.isOn ?? false
            body.expirationIntent = renewal?.expirationIntent
            if first == "DID_CHANGE_RENEWAL_STATUS" {
                body.statusChangeDate = Timestamp(milliseconds: try row.integer("created_at"))
            }
        }
        return try types.map { type in
            body.notificationType = type
            return try StrictJSON.encode(body)
        }
    }

    /// The transaction that a notification is about. Nil if it is about none.
    private func sold(_ row: Row, to customer: CustomerID) async throws -> TransactionFacts? {
        guard let number = try row.optionalInteger("transaction_id") else { return nil }
        return try await realm.read(of: customer) {
            try $0.first(
                Statement.Transactions.one, [.integer(customer.value), .integer(number)])
        }.map(TransactionFacts.init(row:))
    }

    /// The customer's last device in an app: a row of
    /// ``Statement/Merchants/appTransaction``.
    func lastDevice(of customer: CustomerID, _ bundleID: BundleID) async throws -> Row? {
        let row = try await realm.read(of: customer) {
            try $0.first(
                Statement.Merchants.appTransaction,
                [.integer(customer.value), .text(bundleID.value)])
        }
        return try row?.optionalText("device_uuid") == nil ? nil : row
    }

    /// The receipt is for the customer's last device.
    private func header(
        _ device: Row, _ bundleID: BundleID, _ row: Row, at now: Timestamp
    ) throws -> ReceiptHeader {
        let original = try device.text("original_version")
        let uuid = try device.text("device_uuid")
        var header = ReceiptHeader(
            environment: realm.description.environment.receiptType, bundleID: bundleID,
            appVersion: try device.optionalText("app_version") ?? original,
            device: bytes(hexadecimal: uuid.filter { $0 != "-" }) ?? [],
            opaque: realm.opaque(for: "\(uuid)/\(bundleID)/\(now.milliseconds)"),
            creationDate: now)
        header.originalPurchaseDate = Timestamp(
            milliseconds: try device.integer("original_purchased_at"))
        header.originalAppVersion = original
        header.appItemID = realm.isProduction ? try row.optionalInteger("app_id") ?? 0 : 0
        return header
    }
}
