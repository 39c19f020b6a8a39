// SPDX-License-Identifier: Apache-2.0

import Commerce
import Foundation
import Live
import SignedData
import StoreWire

/// What a store signs of its sales, without a store.
struct SignedSale: Sendable {
    private let authority: CertificateAuthority
    let now = Live.wallClock.now
    static let period: Int64 = 30 * 86_400

    init() throws { authority = try CertificateAuthority.make(.sandbox) }

    var setup: BenchLedger.Setup { BenchLedger.Setup(root: Data(authority.root)) }

    static func id(_ number: Int) -> String { "\(2_000_000_000_000_000 + number)" }

    func transaction(
        _ number: Int, product: String = "com.example.coins", type: String = "Consumable",
        quantity: Int = 1, _ change: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) throws -> String {
        var payload = JWSTransactionDecodedPayload()
        payload.transactionId = Self.id(number)
        payload.originalTransactionId = payload.transactionId
        payload.bundleId = BenchLedger.bundleID.value
        payload.productId = product
        payload.purchaseDate = now
        payload.quantity = quantity
        payload.type = type
        payload.signedDate = now
        payload.environment = "Sandbox"
        payload.price = 990
        payload.currency = "USD"
        change(&payload)
        return try authority.transactions.sign(payload)
    }

    /// A subscriber's n-th period, with the news of it.
    func renewal(of subscriber: Int, _ period: Int, account: String) throws -> ResponseBodyV2 {
        let start = now.adding(seconds: Int64(period) * Self.period)
        let end = start.adding(seconds: Self.period)
        let original = Self.id(subscriber * 1000)
        let transaction = try transaction(
            subscriber * 1000 + period, product: "com.example.monthly",
            type: "Auto-Renewable Subscription"
        ) {
            $0.originalTransactionId = original
            $0.appAccountToken = account
            $0.originalPurchaseDate = now
            $0.subscriptionGroupIdentifier = "g"
            ($0.purchaseDate, $0.expiresDate, $0.signedDate) = (start, end, start)
        }
        var renewal = JWSRenewalInfoDecodedPayload()
        renewal.originalTransactionId = original
        renewal.productId = "com.example.monthly"
        renewal.autoRenewProductId = renewal.productId
        renewal.autoRenewStatus = 1
        renewal.environment = "Sandbox"
        (renewal.signedDate, renewal.renewalDate) = (start, end)
        return try notification(
            period == 0 ? "SUBSCRIBED" : "DID_RENEW", at: start, transaction,
            try authority.transactions.sign(renewal))
    }

    func notification(
        _ type: String, at signed: Timestamp, _ transaction: String, _ renewal: String? = nil
    ) throws -> ResponseBodyV2 {
        var data = NotificationData()
        data.bundleId = BenchLedger.bundleID.value
        data.environment = "Sandbox"
        data.signedTransactionInfo = transaction
        data.signedRenewalInfo = renewal
        var payload = ResponseBodyV2DecodedPayload()
        payload.notificationType = type
        payload.notificationUUID = UUID().uuidString.lowercased()
        payload.version = "2.0"
        payload.signedDate = signed
        payload.data = data
        return ResponseBodyV2(signedPayload: try authority.transactions.sign(payload))
    }
}

/// Makes values on both cores, in the order of their numbers.
func made<Value: Sendable>(
    _ numbers: Range<Int>, _ make: @escaping @Sendable (Int) throws -> Value
) async throws -> [Value] {
    let parts = 4
    return try await withThrowingTaskGroup(of: (Int, [Value]).self) { group in
        let size = (numbers.count + parts - 1) / parts
        for part in 0..<parts {
            let from = min(numbers.lowerBound + part * size, numbers.upperBound)
            let to = min(from + size, numbers.upperBound)
            group.addTask { (part, try (from..<to).map(make)) }
        }
        var found: [Int: [Value]] = [:]
        for try await (part, values) in group { found[part] = values }
        return (0..<parts).flatMap { found[$0] ?? [] }
    }
}
