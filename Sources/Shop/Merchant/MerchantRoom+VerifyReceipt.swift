// SPDX-License-Identifier: Apache-2.0

import Commerce
import SignedData
import Storage
import StoreWire

extension MerchantRoom {
    /// Answers about a receipt that this store has signed. `environment`: the one of the
    /// address; nil for the realm's. Throws a ``BrokenReceipt`` for what is wrong first:
    /// the environment (21007, 21008), the app (21003), the shared secret (21004), and
    /// the customer (21010). A sandbox may simulate any other answer to a receipt that
    /// passes them.
    func answer(
        _ request: VerifyReceiptRequest, about receipt: AuthenticReceipt,
        at environment: Environment?
    ) async throws -> VerifyReceiptResponse {
        let environment = environment ?? realm.description.environment
        let isOfProduction = receipt.isOfProduction
        guard isOfProduction == (environment == .production) else {
            throw BrokenReceipt(isOfProduction ? .productionAtSandbox : .sandboxAtProduction)
        }
        guard isOfProduction == realm.isProduction, let bundleID = receipt.bundleID,
            try await realm.loadShelf().apps[bundleID] != nil
        else { throw BrokenReceipt(.notAuthenticated) }
        return switch receipt {
        case .app(let receipt): try await answer(request, about: receipt, bundleID)
        case .transaction(let payload): try await answer(request, about: payload, bundleID)
        }
    }

    private func answer(
        _ request: VerifyReceiptRequest, about receipt: AppReceipt, _ bundleID: BundleID
    ) async throws -> VerifyReceiptResponse {
        let customer = try await customer(of: receipt, bundleID)
        let now = try await self.now(for: customer)
        var found: ReceiptHoldings?
        if let customer { found = try await self.holdings(of: customer, bundleID, at: now) }
        let hasSubscriptions =
            receipt.purchases.contains { $0.type == .autoRenewable }
            || found?.hasSubscriptions == true
        try await checkSecret(request.password, of: bundleID, isNeeded: hasSubscriptions)
        try await simulate()
        guard let holdings = found else {
            guard receipt.purchases.isEmpty else { throw BrokenReceipt(.accountNotFound) }
            return response(to: receipt, at: now)
        }
        var answer = response(to: receipt, at: now)
        guard hasSubscriptions else { return answer }
        let isShort = request.excludesOldTransactions == true
        answer.latestReceiptInfo = holdings.transactions(isShort: isShort, at: now)
        answer.pendingRenewalInfo = holdings.pending(
            environment: realm.description.environment, at: now)
        let newest = try realm.authority.receipts.sign(
            ReceiptHeader(after: receipt, creationDate: now), records: holdings.records)
        answer.latestReceipt = Base64.encode(newest)
        return answer
    }

    /// The customer of the first purchase that this realm knows.
    private func customer(
        of receipt: AppReceipt, _ bundleID: BundleID
    ) async throws -> CustomerID? {
        for purchase in receipt.purchases {
            guard let number = Edge.number(purchase.transactionID) else { continue }
            let row = try await realm.read(ofNumber: number) {
                try $0.first(
                    Statement.Merchants.customer, [.integer(number), .text(bundleID.value)])
            }
            if let row { return CustomerID(try row.integer("customer_id")) }
        }
        return nil
    }

    /// Whether the realm has the first purchase of a receipt.
    func knows(_ receipt: AuthenticReceipt) async throws -> Bool {
        guard let bundleID = receipt.bundleID, let number = receipt.firstTransaction else {
            return false
        }
        return try await realm.read(ofNumber: number) {
            try $0.first(
                Statement.Merchants.customer, [.integer(number), .text(bundleID.value)])
        } != nil
    }

    /// Throws the status that a sandbox simulates.
    func simulate() async throws {
        if case .verifyReceipt(let status) = try await realm.faults.current(.verifyReceipt) {
            throw BrokenReceipt(ReceiptStatus(rawValue: status))
        }
    }

    func checkSecret(
        _ password: String?, of bundleID: BundleID, isNeeded: Bool
    ) async throws {
        guard isNeeded || password != nil else { return }
        let row = try await realm.readHouse {
            try $0.first(Statement.Catalogues.sharedSecret, [.text(bundleID.value)])
        }
        guard let secret = try row?.optionalText("shared_secret"), let password,
            constantTimeEqual(Array(password.utf8), Array(secret.utf8))
        else { throw BrokenReceipt(.secretMismatch) }
    }

    func now(for customer: CustomerID?) async throws -> Timestamp {
        let wall = realm.ports.wall.now
        if let customer {
            let own = try await realm.read(of: customer) {
                try Realm.now(of: customer, wall: wall, $0)
            }
            if let own { return own }
        }
        return try await realm.readHouse { try Realm.now($0, wall: wall) }
    }

    func holdings(
        of customer: CustomerID, _ bundleID: BundleID, at now: Timestamp
    ) async throws -> ReceiptHoldings {
        try await realm.read(of: customer) {
            try ReceiptHoldings(of: customer, bundleID, at: now, $0)
        }
    }

    private func response(to receipt: AppReceipt, at now: Timestamp) -> VerifyReceiptResponse {
        var answer = VerifyReceiptResponse(.valid)
        answer.environment = realm.description.environment.rawValue
        answer.receipt = VerifiedReceipt(
            receiptType: receipt.environment ?? "", appID: receipt.appItemID ?? 0,
            bundleID: receipt.bundleID?.value ?? "",
            applicationVersion: receipt.appVersion ?? "",
            originalApplicationVersion: receipt.originalAppVersion ?? "",
            creationDate: receipt.creationDate, requestDate: now,
            originalPurchaseDate: receipt.originalPurchaseDate,
            expirationDate: receipt.expirationDate,
            purchases: receipt.purchases.map(ReceiptTransaction.init))
        return answer
    }
}

/// A receipt that is not valid.
struct BrokenReceipt: Error {
    let status: ReceiptStatus

    init(_ status: ReceiptStatus) { self.status = status }
}
