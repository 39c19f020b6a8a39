// SPDX-License-Identifier: Apache-2.0

import Commerce
import Storage
public import StoreWire

/// Granting what was booked before its product was configured.
extension Ledger {
    /// How many purchases are granted between two reads.
    private static let applyPage = 100

    /// Whether no product is configured to grant anything.
    public var grantsNothing: Bool { configuration.grants.products.isEmpty }

    /// Grants what the purchases of configured products give that have granted nothing
    /// yet. A repeat, also beside other servers, grants nothing twice. A purchase that has
    /// granted something keeps the terms of that time, whatever its product grants now.
    ///
    /// Each purchase is a commit of its own. It reads all purchases of each
    /// configured product.
    @discardableResult
    public func applyGrants(requestID: String = "") async throws -> GrantsApplied {
        var (granted, left) = (0, 0)
        for product in configuration.grants.products.keys.map(\.value).sorted() {
            let applied = try await applyGrants(of: product)
            granted += applied.granted
            left += applied.left
        }
        ports.log(
            "applied the rules of grants",
            ["requestId": requestID, "granted": "\(granted)", "left": "\(left)"])
        return GrantsApplied(granted: granted, left: left)
    }

    private func applyGrants(of product: String) async throws -> GrantsApplied {
        var (granted, left) = (0, 0)
        var last: [SQLValue] = Array(repeating: .text(""), count: 4)
        while true {
            try Task.checkCancellation()
            let values: [SQLValue] =
                [.text(product)] + last + [.integer(Int64(Self.applyPage))]
            let keys = try await storage.read { reading in
                try reading.query(Statement.Grants.lacking, values).map { try PurchaseKey($0) }
            }
            for key in keys {
                let count = try await settle(key)
                granted += count
                if count == 0 { left += 1 }
            }
            guard let end = keys.last, keys.count == Self.applyPage else { break }
            last = [
                .text(end.transactionID), .text(end.root), .text(end.environment.rawValue),
                .text(end.bundleID),
            ]
        }
        return GrantsApplied(granted: granted, left: left)
    }

    /// Grants what one purchase gives. Returns the number of new grants.
    private func settle(_ key: PurchaseKey) async throws -> Int {
        let writer = GrantWriter(rules: configuration.grants, now: ports.wall.now)
        let note = note(.granted, key.transactionID)
        let (granted, account) = try await storage.write { writing -> (Int, String?) in
            guard let purchase = try Self.locked(key, at: writer.now, writing) else {
                return (0, nil)
            }
            let granted = try writer.settle(purchase, hasNewFate: false, writing)
            if granted > 0 {
                try note?.write(writing)
                try Original(purchase.key, purchase.facts).touch(writing)
            }
            return (granted, purchase.account)
        }
        if granted > 0 { news.tell(account, storage) }
        return granted
    }

    /// Locks the line of the account that has a purchase, and returns the purchase. It may
    /// be moved, or its account erased, before the line is locked. Nil if no account has it.
    private static func locked(
        _ key: PurchaseKey, at now: Timestamp, _ writing: any Writing
    ) throws -> BookedPurchase? {
        var owner = try Booking.find(key, writing, at: now)?.account
        for _ in 0..<3 {
            guard let account = owner else { return nil }
            _ = try writing.first(Statement.Accounts.takeKnownLine, [.text(account)])
            let purchase = try Booking.find(key, writing, at: now)
            let holder = purchase?.account
            guard !holder.isSame(as: owner) else { return purchase }
            owner = holder
        }
        throw StorageFault(.busy, "a purchase changed hands while it was granted")
    }

    /// Returns the products in the books, also those that grant nothing. It reads
    /// all purchases.
    public func products() async throws -> LedgerProducts {
        let rows = try await storage.read { try $0.query(Statement.Grants.products, []) }
        return LedgerProducts(
            products: try rows.map { row in
                let product = try row.text("product_id")
                return LedgerProduct(
                    productId: product, environment: try row.text("environment"),
                    purchases: try row.integer("purchases"),
                    claimed: try row.integer("claimed"), granted: try row.integer("granted"),
                    isConfigured: !configuration.grants.grants(of: product).isEmpty)
            })
    }
}
